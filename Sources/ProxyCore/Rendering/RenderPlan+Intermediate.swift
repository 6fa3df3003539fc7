// SPDX-License-Identifier: Apache-2.0

extension RenderPlan {
    /// The header of an intermediate's original, upright; nil if the source is the original.
    var original: ImageHeader? {
        guard case .read(let original) = intermediate else { return nil }
        return original.header
    }
}

extension ImageHeader {
    /// The facts about a rendition's source.
    var facts: Rendition.SourceFacts {
        .init(
            format: format, width: size.width, height: size.height, frames: frames, hasAlpha: hasAlpha,
            orientation: orientation)
    }
}
