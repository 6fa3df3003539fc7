// SPDX-License-Identifier: Apache-2.0

import Glibc

/// How a source colour is combined with the backdrop below it (W3C Compositing and Blending Level 1).
enum BlendMode: String, CaseIterable, Sendable {
    case sourceIn = "source-in"
    case sourceAtop = "source-atop"
    case multiply
    case screen
    case overlay
    case darken
    case lighten
    case colorDodge = "color-dodge"
    case colorBurn = "color-burn"
    case hardLight = "hard-light"
    case softLight = "soft-light"
    case difference
    case exclusion

    /// B(cb, cs) of §10: the colour of one channel if both are opaque, all values 0–1.
    func blended(backdrop: Double, source: Double) -> Double {
        switch self {
        case .sourceIn, .sourceAtop: source
        case .multiply: backdrop * source
        case .screen: Self.screen(backdrop, source)
        case .overlay: Self.hardLight(source, backdrop)
        case .darken: min(backdrop, source)
        case .lighten: max(backdrop, source)
        case .colorDodge: backdrop == 0 ? 0 : source == 1 ? 1 : min(1, backdrop / (1 - source))
        case .colorBurn: backdrop == 1 ? 1 : source == 0 ? 0 : 1 - min(1, (1 - backdrop) / source)
        case .hardLight: Self.hardLight(backdrop, source)
        case .softLight: Self.softLight(backdrop, source)
        case .difference: abs(backdrop - source)
        case .exclusion: backdrop + source - 2 * backdrop * source
        }
    }

    private static func screen(_ backdrop: Double, _ source: Double) -> Double {
        backdrop + source - backdrop * source
    }

    private static func hardLight(_ backdrop: Double, _ source: Double) -> Double {
        source <= 0.5 ? backdrop * 2 * source : screen(backdrop, 2 * source - 1)
    }

    private static func softLight(_ backdrop: Double, _ source: Double) -> Double {
        guard source > 0.5 else { return backdrop - (1 - 2 * source) * backdrop * (1 - backdrop) }
        let bent =
            backdrop <= 0.25
            ? ((16 * backdrop - 12) * backdrop + 4) * backdrop : backdrop.squareRoot()
        return backdrop + (2 * source - 1) * (bent - backdrop)
    }

    /// Whether the source is drawn only where the backdrop is; the other modes draw it elsewhere, too (§5.1,
    /// source-over).
    var keepsShape: Bool { self == .sourceIn || self == .sourceAtop }
}
