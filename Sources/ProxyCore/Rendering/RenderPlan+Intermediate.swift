// SPDX-License-Identifier: Apache-2.0

extension RenderPlan {
    /// The header of the original that an intermediate stands for, upright; nil where the source is the original.
    var original: ImageHeader? {
        guard case .read(let original) = intermediate else { return nil }
        return original.header
    }
}

extension ImageHeader {
    /// What a rendition tells of its source.
    var facts: Rendition.SourceFacts {
        .init(
            format: format, width: size.width, height: size.height, frames: frames, hasAlpha: hasAlpha,
            orientation: orientation)
    }
}
