// SPDX-License-Identifier: Apache-2.0

import CVips

/// How an overlay's colour meets the image below (W3C Compositing and Blending Level 1).
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
    /// Plain covering; not offered to clients as a tint.
    case over

    /// The modes that `tint` offers.
    static let tints = allCases.filter { $0 != .over }

    /// libvips' name.
    var vips: VipsBlendMode {
        switch self {
        case .sourceIn: VIPS_BLEND_MODE_IN
        case .sourceAtop: VIPS_BLEND_MODE_ATOP
        case .multiply: VIPS_BLEND_MODE_MULTIPLY
        case .screen: VIPS_BLEND_MODE_SCREEN
        case .overlay: VIPS_BLEND_MODE_OVERLAY
        case .darken: VIPS_BLEND_MODE_DARKEN
        case .lighten: VIPS_BLEND_MODE_LIGHTEN
        case .colorDodge: VIPS_BLEND_MODE_COLOUR_DODGE
        case .colorBurn: VIPS_BLEND_MODE_COLOUR_BURN
        case .hardLight: VIPS_BLEND_MODE_HARD_LIGHT
        case .softLight: VIPS_BLEND_MODE_SOFT_LIGHT
        case .difference: VIPS_BLEND_MODE_DIFFERENCE
        case .exclusion: VIPS_BLEND_MODE_EXCLUSION
        case .over: VIPS_BLEND_MODE_OVER
        }
    }
}
