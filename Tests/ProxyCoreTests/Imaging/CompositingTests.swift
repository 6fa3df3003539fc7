// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing

@testable import ImageTestSupport
@testable import ProxyCore

@Suite("Blend modes, against the formulas (W3C Compositing and Blending Level 1)")
struct CompositingTests {
    /// B(cb, cs) of §10.1 and §9.1.4, in the notation of the specification.
    private func blend(_ mode: BlendMode, _ cb: Double, _ cs: Double) -> Double {
        switch mode {
        case .sourceIn, .sourceAtop: return cs
        case .multiply: return cb * cs
        case .screen: return 1 - (1 - cb) * (1 - cs)
        case .overlay: return blend(.hardLight, cs, cb)
        case .darken: return min(cb, cs)
        case .lighten: return max(cb, cs)
        case .colorDodge: return cb == 0 ? 0 : cs == 1 ? 1 : min(1, cb / (1 - cs))
        case .colorBurn: return cb == 1 ? 1 : cs == 0 ? 0 : 1 - min(1, (1 - cb) / cs)
        case .hardLight: return cs <= 0.5 ? 2 * cb * cs : blend(.screen, cb, 2 * cs - 1)
        case .softLight:
            let d = cb <= 0.25 ? ((16 * cb - 12) * cb + 4) * cb : sqrt(cb)
            return cs <= 0.5 ? cb - (1 - 2 * cs) * cb * (1 - cb) : cb + (2 * cs - 1) * (d - cb)
        case .difference: return abs(cb - cs)
        case .exclusion: return cb + cs - 2 * cb * cs
        }
    }

    /// The resulting colour and alpha, 0–255.
    private func composited(_ mode: BlendMode, backdrop: [UInt8], source: [UInt8]) -> [Double] {
        let ab = Double(backdrop[3]) / 255
        let alpha = Double(source[3]) / 255
        let out: Double
        switch mode {
        case .sourceIn: out = alpha * ab
        case .sourceAtop: out = ab
        default: out = alpha + ab * (1 - alpha)
        }
        guard out > 0 else { return [0, 0, 0, 0] }
        let colors = (0..<3).map { band -> Double in
            let cb = Double(backdrop[band]) / 255
            let cs = Double(source[band]) / 255
            let premultiplied: Double
            switch mode {
            case .sourceIn: premultiplied = alpha * ab * cs
            case .sourceAtop: premultiplied = alpha * ab * cs + ab * cb * (1 - alpha)
            default:
                let mixed = (1 - ab) * cs + ab * blend(mode, cb, cs)
                premultiplied = alpha * mixed + (1 - alpha) * ab * cb
            }
            return premultiplied / out * 255
        }
        return colors + [out * 255]
    }

    @Test("Every mode gives the formula's colour, for every alpha", arguments: BlendMode.allCases)
    func everyMode(mode: BlendMode) async throws {
        let picture = TestPicture(16, 8, bands: 4) { x, y in
            [UInt8(x * 17), UInt8(255 - x * 9), UInt8((x * 53 + y * 29) % 256), UInt8(y * 36)]
        }
        let bytes = try picture.encoded(as: .png)
        for source in [[255, 128, 0, 255], [30, 200, 90, 153], [0, 0, 255, 1], [9, 9, 9, 0]] as [[UInt8]] {
            let hex = source.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()

            let found = try await rendered(bytes, "tint:\(hex):\(mode.rawValue)").picture

            for y in 0..<8 {
                for x in 0..<16 {
                    let wanted = composited(mode, backdrop: picture[x, y], source: source)
                    let pixel = found[x, y]
                    #expect(abs(Double(pixel[3]) - wanted[3]) <= 1.01, "alpha of \(hex) at \(x),\(y)")
                    // The lower the alpha, the less exactly eight bits represent the colour.
                    let tolerance = 2 + 255 / max(1, wanted[3])
                    guard wanted[3] > 8 else { continue }
                    #expect(
                        zip(pixel, wanted).prefix(3).allSatisfy { abs(Double($0) - $1) <= tolerance },
                        "\(hex) at \(x),\(y): \(pixel) is not \(wanted)")
                }
            }
        }
    }

    @Test("An opaque picture stays opaque, and needs no alpha")
    func opaque() async throws {
        let bytes = try TestPicture.ramps(8, 8).encoded(as: .png)

        #expect(try await rendered(bytes, "tint:ff8000:multiply").picture.bands == 3)
        #expect(try await rendered(bytes, "tint:ff800080:source-atop").picture.bands == 3)
    }

    @Test("Rounded corners stay empty under source-atop, and take the colour under the others")
    func afterRound() async throws {
        let bytes = try TestPicture.plain(40, 40, [200, 100, 50]).encoded(as: .png)

        let atop = try await rendered(bytes, "round:15,tint:00f:source-atop").picture
        let multiply = try await rendered(bytes, "round:15,tint:0000ff80:multiply").picture

        #expect(atop[0, 0][3] == 0)
        #expect(multiply[0, 0] == [0, 0, 255, 128])
        #expect(zip(multiply[20, 20], [100, 50, 50, 255]).allSatisfy { abs(Int($0) - $1) <= 2 })
    }
}
