// SPDX-License-Identifier: Apache-2.0

/// The entry that libFuzzer calls with each input; compiled into the module under test by `scripts/fuzz`.
///
/// Every dialect gets every input as a target, and so does our own path form: they are cheap, and the corpus needs no
/// marks.
@_cdecl("LLVMFuzzerTestOneInput")
func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = unsafe Array(UnsafeBufferPointer(start: start, count: count))
    guard let text = String(validating: input, as: UTF8.self) else { return 0 }
    let target = DialectTarget(text.hasPrefix("/") ? text : "/" + text, now: 1_700_000_000)
    for dialect in dialects.open { check(dialect, target, isSigned: false) }
    for dialect in dialects.signed { check(dialect, target, isSigned: true) }
    for dialect in dialects.based { checkBase(dialect, target) }
    checkPath(Array(text.utf8))
    return 0
}

private let key = Array("imageproxyd-fuzz-key".utf8)
private let signatures = SignaturePolicy(keys: [key], isRequired: true)

/// A path below `/img` is a query with one source, behind every option; signed, it is accepted, and without its
/// last byte it is not, unless that is the slash that proxies remove.
private func checkPath(_ text: [UInt8]) {
    let path = PathForm.prefix + text
    guard let query = try? PathForm.query(of: path) else { return }
    precondition(query.starts(with: "/img?".utf8), "no query")
    let count = query.count { $0 == UInt8(ascii: "&") }
    precondition(
        count <= path.count { $0 == UInt8(ascii: "/") } + 1, "more parameters than the path has parts")
    let pieces = query.dropFirst(5).split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
    let last = pieces.last { !$0.starts(with: "sig=".utf8) || pieces.count == 1 }
    precondition(
        last.map { $0.starts(with: "url=".utf8) || $0.starts(with: "url64=".utf8) } ?? false, "no source")

    guard let target = String(validating: path, as: UTF8.self),
        let signed = (try? PathForm.sign(target, with: key)).map({ Array($0.utf8) })
    else { return }
    precondition(accepts(signed), "refused with its signature")
    let cut = Array(signed.dropLast())
    precondition(
        !accepts(cut) || (try? PathForm.query(of: cut)) == (try? PathForm.query(of: signed)),
        "accepted when cut")
}

private func accepts(_ path: [UInt8]) -> Bool {
    (try? signatures.check(try PathForm.query(of: path)))?.isSigned ?? false
}

private let dialects = FuzzedDialects()

/// The dialects with settings under which a promise can be checked.
private struct FuzzedDialects {
    /// With defaults, and lenient.
    let open: [any Dialect]
    /// With a key, so that nothing is understood without a signature.
    let signed: [any Dialect]
    /// With a base, and no absolute URLs.
    let based: [any Dialect]

    init() {
        var weserv = Weserv.Settings()
        weserv.lenient = true
        var imgix = Imgix.Settings()
        imgix.lenient = true
        var thumbor = Thumbor.Settings()
        thumbor.allowsUnsafe = true
        let others = [
            Self.made(Weserv.self, weserv), Self.made(Imgix.self, imgix), Self.made(Thumbor.self, thumbor),
        ]
        open = DialectRegistry.all.map { Self.usual($0) } + others

        var key = Imgix.Settings()
        key.keys = ["key"]
        signed = [Self.made(Imgix.self, key, keys: [Array("fuzzed token".utf8)])]

        imgix.base = Self.base
        var cloudflare = Cloudflare.Settings()
        cloudflare.base = Self.base
        cloudflare.allowedHosts = []
        var next = NextJS.Settings()
        next.base = Self.base
        based = [
            Self.made(Imgix.self, imgix), Self.made(Cloudflare.self, cloudflare),
            Self.made(NextJS.self, next),
        ]
    }

    static let base = "https://base.test/pictures/"

    /// A dialect with its defaults.
    private static func usual<Parser: Dialect>(_ type: Parser.Type) -> any Dialect { made(type) }

    private static func made<Parser: Dialect>(
        _ type: Parser.Type, _ settings: Parser.Settings = Parser.Settings(), keys: [[UInt8]] = []
    ) -> any Dialect {
        do {
            return try Parser(settings, keys: keys)
        } catch {
            preconditionFailure("\(error)")
        }
    }
}

/// What is understood must be parameters that our own parser can read, and twice the same.
private func check(_ dialect: some Dialect, _ target: DialectTarget, isSigned: Bool) {
    let translation: Translation
    do throws(TranslationError) {
        translation = try dialect.translate(target)
    } catch {
        return
    }
    let again = try? dialect.translate(target)
    precondition(again == translation, "not the same twice")
    precondition(!isSigned || translation.isSigned, "understood without a signature")
    let names = translation.parameters.map(\.name)
    precondition(Set(names).count == names.count, "a parameter twice: \(names)")
    precondition(translation.parameters.allSatisfy { !$0.value.isEmpty }, "an empty value: \(translation)")
    guard let transform = translation["transform"] else { return }
    precondition(transform.utf8.allSatisfy(isTransformByte), "not of the grammar: \(transform)")
    precondition(!transform.contains("nan") && !transform.contains("inf"), "no number: \(transform)")
}

/// A source that is named by its path lies below the base.
private func checkBase(_ dialect: some Dialect, _ target: DialectTarget) {
    guard let url = (try? dialect.translate(target))?["url"] else { return }
    precondition(url.hasPrefix(FuzzedDialects.base), "beside the base: \(url)")
    // As bytes: a combining mark makes one character of itself and what is before it.
    let path = url.utf8.dropFirst(FuzzedDialects.base.utf8.count).prefix {
        $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#")
    }
    let segments = path.split(separator: UInt8(ascii: "/")).map {
        String(decoding: $0, as: UTF8.self).lowercased().replacing("%2e", with: ".")
    }
    precondition(!segments.contains("..") && !segments.contains("."), "out of the base: \(url)")
}

private func isTransformByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
    default: "_.+-:,=".utf8.contains(byte)
    }
}
