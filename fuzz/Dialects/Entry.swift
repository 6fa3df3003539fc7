// SPDX-License-Identifier: Apache-2.0

/// The entry that libFuzzer calls with each input; compiled into the module under test by `scripts/fuzz`.
///
/// Every dialect gets every input as a target: they are cheap, and the corpus needs no marks.
@_cdecl("LLVMFuzzerTestOneInput")
func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = unsafe Array(UnsafeBufferPointer(start: start, count: count))
    guard let text = String(validating: input, as: UTF8.self) else { return 0 }
    let target = ForeignTarget(text.hasPrefix("/") ? text : "/" + text, now: 1_700_000_000)
    for dialect in dialects.open { check(dialect, target, isSigned: false) }
    for dialect in dialects.signed { check(dialect, target, isSigned: true) }
    for dialect in dialects.based { checkBase(dialect, target) }
    return 0
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
        open = [
            Self.made(Weserv.self), Self.made(Weserv.self, weserv), Self.made(Imgix.self),
            Self.made(Imgix.self, imgix), Self.made(Cloudflare.self), Self.made(NextJS.self),
            Self.made(Thumbor.self, thumbor), Self.made(Imaginary.self), Self.made(ImgproxyDialect.self),
        ]

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

    private static func made<Foreign: Dialect>(
        _ type: Foreign.Type, _ settings: Foreign.Settings = Foreign.Settings(), keys: [[UInt8]] = []
    ) -> any Dialect {
        do {
            return try Foreign(settings, keys: keys)
        } catch {
            preconditionFailure("\(error)")
        }
    }
}

/// What is understood must be parameters that our own parser can read, and twice the same.
private func check(_ dialect: some Dialect, _ target: ForeignTarget, isSigned: Bool) {
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
private func checkBase(_ dialect: some Dialect, _ target: ForeignTarget) {
    guard let url = (try? dialect.translate(target))?["url"] else { return }
    precondition(url.hasPrefix(FuzzedDialects.base), "beside the base: \(url)")
    let path = url.dropFirst(FuzzedDialects.base.count).prefix { $0 != "?" && $0 != "#" }
    let segments = path.lowercased().replacing("%2e", with: ".").split(separator: "/")
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
