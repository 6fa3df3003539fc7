// SPDX-License-Identifier: Apache-2.0

/// The entry that libFuzzer calls with each input; compiled into the module under test by `scripts/fuzz`.
///
/// Every grammar gets every input: they are cheap, and the corpus needs no marks.
@_cdecl("LLVMFuzzerTestOneInput")
func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = unsafe Array(UnsafeBufferPointer(start: start, count: count))
    fuzzRequests(input)
    fuzzRequests(Array("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n".utf8) + input)
    fuzzRanges(input)
    fuzzTags(input)
    return 0
}

private let limits = RequestLimits(
    headBytes: 1_024, targetBytes: 256, fieldLines: 16, contentBytes: 64, extensionBytes: 32, trailerBytes: 64
)

/// The result must not depend on how the bytes are split, and what is accepted must be what it says it is.
private func fuzzRequests(_ input: [UInt8]) {
    let whole = RequestStream.read(input, limits, cutAt: [])
    // Two places that depend on the input alone, so that a finding can be repeated.
    let mixed = input.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    let places = UInt64(input.count + 1)
    let cuts = [Int(mixed % places), Int((mixed >> 32) % places)].sorted()
    precondition(whole.events == RequestStream.read(input, limits, cutAt: cuts).events, "cut at \(cuts)")
    for request in whole.requests {
        if let flaw = RequestFlaw.first(in: request, limits) { preconditionFailure(flaw) }
    }
}

private func fuzzRanges(_ input: [UInt8]) {
    guard let request = unsafe input.withUnsafeBytes({ unsafe RangeRequest($0) }) else { return }
    let length = Int64(input.count * 10)
    switch request.selection(of: length) {
    case .whole, .unsatisfiable: return
    case .part(let part): precondition(isWithin(part, length))
    case .parts(let parts): precondition(parts.allSatisfy { isWithin($0, length) })
    }
}

private func isWithin(_ part: Range<Int64>, _ length: Int64) -> Bool {
    !part.isEmpty && part.lowerBound >= 0 && part.upperBound <= length
}

private func fuzzTags(_ input: [UInt8]) {
    if let tag = EntityTag(opaque: input) {
        precondition(tag.fieldValue.bytes == [UInt8(ascii: "\"")] + input + [UInt8(ascii: "\"")])
    }
    guard let wanted = EntityTag(opaque: "xyzzy".utf8) else { return }
    let strong = EntityTagList.line(input.span, names: wanted, by: .strong)
    let weak = EntityTagList.line(input.span, names: wanted, by: .weak)
    precondition(weak || !strong)
}
