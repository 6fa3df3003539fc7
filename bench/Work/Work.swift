// SPDX-License-Identifier: Apache-2.0

import Bodies
import CLinux
import Glibc
import Imaging
import Rendering

/// Compares the processor time of jobs with their estimated work: `bench-work PICTURE…`.
///
/// The first picture is rendered by all jobs, the others by those that compare decoders; in this process, one
/// at a time.
@main
enum Work {
    private struct Job {
        let transform: String
        let format: RenderPlan.FormatChoice
        var isTelling = false
        var isLossless = false
        var isProgressive: Bool?
        var maxBytes: Int?
        var isLinear = false

        func plan() throws -> RenderPlan {
            var plan = RenderPlan(
                pipeline: transform.isEmpty ? TransformPipeline() : try TransformPipeline(parsing: transform),
                format: format)
            plan.decodableFormats = ImageFormat.allCases
            plan.isLossless = isLossless
            plan.isProgressive = isProgressive
            plan.maxBytes = maxBytes
            plan.isLinear = isLinear
            return plan
        }

        var name: String {
            let name = format == .information ? "information" : "\(format)"
            return [
                transform.isEmpty ? "–" : transform, "→", name, isLossless ? "lossless" : "",
                isProgressive.map { "progressive \($0)" } ?? "", maxBytes.map { "\($0) bytes" } ?? "",
                isLinear ? "linear" : "",
            ].filter { !$0.isEmpty }.joined(separator: " ")
        }
    }

    private static let jobs =
        [
            Job(transform: "resize:16x", format: .explicit(.jpeg), isTelling: true),
            Job(transform: "", format: .explicit(.jpeg), isTelling: true),
            Job(transform: "", format: .explicit(.jpeg), isProgressive: false),
            Job(transform: "", format: .explicit(.png)),
            Job(transform: "", format: .explicit(.png), isProgressive: true),
            Job(transform: "", format: .explicit(.webp), isTelling: true),
            Job(transform: "", format: .explicit(.webp), isLossless: true),
            Job(transform: "resize:1600x", format: .explicit(.avif)),
            Job(transform: "resize:1600x", format: .explicit(.avif), isLossless: true),
            Job(transform: "resize:1600x", format: .explicit(.gif)),
            Job(transform: "resize:1600x", format: .explicit(.jxl)),
            Job(transform: "resize:1600x", format: .explicit(.jxl), isLossless: true),
            Job(transform: "", format: .explicit(.tiff)),
            Job(transform: "", format: .information),
            Job(transform: "resize:1600x", format: .explicit(.jpeg)),
            Job(transform: "resize:1600x", format: .explicit(.jpeg), isLinear: true),
            Job(transform: "resize:5000x5000:fill:enlarge=1", format: .explicit(.jpeg)),
            Job(transform: "resize:5000x5000:fill:enlarge=1", format: .explicit(.jpeg), isLinear: true),
            Job(transform: "resize:1600x", format: .explicit(.webp), maxBytes: 60_000),
            Job(transform: "resize:1600x", format: .explicit(.jpeg), maxBytes: 60_000),
            Job(transform: "resize:1600x", format: .explicit(.png), maxBytes: 100_000),
        ]
        + [
            "crop:3600x2700", "crop:3600x2700:smart", "crop:3600x2700:entropy", "trim", "pad:10:10:10:10",
            "extend:4400x3400",
            "extend:4400x3400:fill=blur", "extend:4400x3400:fill=mirror", "rotate:30", "rotate:90", "flip:h",
            "flip:v", "orient:6", "round:200", "round:200:border=20", "round:1500:border=20",
            "mask:circle", "mask:squircle", "mask:star", "mask:heart", "tint:f00",
            "tint:f00:overlay", "blur:0.3", "blur:1",
            "blur:2.9", "blur:3", "blur:20", "blur:250", "sharpen", "sharpen:2.9", "sharpen:250",
            "pixelate:20", "pixelate:1",
            "brightness:0.2", "contrast:1.2", "saturation:1.5", "gamma:1.5", "exposure:1", "hue:90",
            "grayscale", "invert",
            "sepia", "duotone:f00:00f", "opacity:0.5", "background:fff", "text:Hello:200", "text:Hello:2000",
            "text:text=.:size=1:tile=1",
        ].map { Job(transform: $0, format: .explicit(.jpeg)) }

    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count >= 2 else {
            print("usage: bench-work PICTURE…")
            exit(64)
        }
        let renderer = InProcessRenderer()
        print(
            "| source | job | processor ms | result | ms a megapixel of the result |\n|---|---|---|---|---|")
        for path in arguments.dropFirst() {
            guard let source = read(path) else { continue }
            let name = path.split(separator: "/").last.map(String.init) ?? path
            for job in jobs where path == arguments[1] || path.contains("anim") || job.isTelling {
                do {
                    let plan = try job.plan()
                    let target = OwnedDescriptor(owning: unsafe linux_memfd_create("bench"))
                    let start = processorTime()
                    let rendition = try await renderer.render(plan, from: source, into: target, at: 0)
                    let time = processorTime() - start
                    let pixels = Double(rendition.width * rendition.height * rendition.frames) / 1e6
                    print(
                        "| \(name) | \(job.name) | \(Int(time)) | \(rendition.width) × \(rendition.height) × \(rendition.frames) | \(Int(time / pixels)) |"
                    )
                } catch {
                    print("| \(name) | \(job.name) | \(error) | | |")
                }
            }
        }
    }

    /// The processor time of this process in milliseconds.
    private static func processorTime() -> Double {
        var time = timespec()
        unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1_000 + Double(time.tv_nsec) / 1_000_000
    }

    private static func read(_ path: String) -> StoredBody? {
        let raw = unsafe linux_open(path, O_RDONLY | O_CLOEXEC, 0)
        guard raw >= 0 else { return nil }
        let length = lseek(raw, 0, SEEK_END)
        return .file(OwnedDescriptor(owning: raw), offset: 0, length: Int64(length))
    }
}
