// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc
import ProxyCore

/// Compares the memory of jobs with their estimates: `bench-memory DAEMON PICTURE…`.
///
/// The first picture is used by all jobs, the others by those that compare decoders. Each job has a worker of
/// its own, whose peaks (proc(5), VmHWM and VmPeak) count from the moment when it was ready.
@main
enum Memory {
    private struct Job {
        let transform: String
        let format: RenderPlan.FormatChoice
        var isTelling = false

        var name: String {
            guard case .explicit(let format) = format else { return "information" }
            return "\(transform.isEmpty ? "–" : transform) → \(format.rawValue)"
        }
    }

    private static let jobs = [
        Job(transform: "resize:800x", format: .explicit(.jpeg), isTelling: true),
        Job(transform: "", format: .explicit(.jpeg), isTelling: true),
        Job(transform: "flip:v", format: .explicit(.jpeg), isTelling: true),
        Job(transform: "", format: .information, isTelling: true),
        Job(transform: "resize:800x", format: .explicit(.webp)),
        Job(transform: "resize:800x", format: .explicit(.avif)),
        Job(transform: "", format: .explicit(.png)),
        Job(transform: "", format: .explicit(.webp)),
        Job(transform: "", format: .explicit(.avif)),
        Job(transform: "", format: .explicit(.tiff)),
        Job(transform: "", format: .explicit(.gif)),
        Job(transform: "rotate:30", format: .explicit(.jpeg)),
        Job(transform: "blur:20", format: .explicit(.jpeg)),
        Job(transform: "resize:1600x,blur:20,round:40", format: .explicit(.png)),
        Job(transform: "extend:5000x5000:fill=blur", format: .explicit(.jpeg)),
        Job(transform: "trim", format: .explicit(.jpeg)),
        Job(transform: "pixelate:20", format: .explicit(.jpeg)),
        Job(transform: "tint:f00:overlay", format: .explicit(.jpeg)),
        Job(transform: "crop:2000x2000", format: .explicit(.jpeg)),
    ]

    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count >= 3 else {
            print("usage: bench-memory DAEMON PICTURE…")
            exit(64)
        }
        print("| source | job | estimate MiB | resident MiB | address space MiB |\n|---|---|---|---|---|")
        for path in arguments.dropFirst(2) {
            guard let source = read(path) else { continue }
            for job in jobs where path == arguments[2] || path.contains("anim") || job.isTelling {
                var plan = RenderPlan(
                    pipeline: job.transform.isEmpty
                        ? TransformPipeline() : try TransformPipeline(parsing: job.transform),
                    format: job.format)
                plan.decodableFormats = ImageFormat.allCases
                let name = path.split(separator: "/").last.map(String.init) ?? path
                print("| \(name) | \(job.name) | \(try await row(plan, source, daemon: arguments[1])) |")
            }
        }
    }

    private static func row(_ plan: RenderPlan, _ source: StoredBody, daemon: String) async throws -> String {
        var configuration = TransformConfiguration()
        configuration.workers = 1
        configuration.memoryPerWorker = ByteCount(0)
        configuration.headerMemory = .gibibytes(1)
        configuration.timeout = .minutes(5)
        let pool = WorkerPool(configuration: configuration, executable: daemon)
        try await pool.start()
        let pid = pool.statistics.processIdentifiers.first ?? 0
        let before = peaks(pid)
        let outcome: String
        do {
            let target = OwnedDescriptor(owning: unsafe linux_memfd_create("bench"))
            let rendition = try await pool.render(plan, from: source, into: target, at: 0)
            let after = peaks(pid)
            outcome = [rendition.memory, after.resident - before.resident, after.space - before.space]
                .map { "\(($0 + (1 << 19)) >> 20)" }.joined(separator: " | ")
        } catch {
            outcome = "\(error) | – | –"
        }
        await pool.stop()
        return outcome
    }

    /// The peak memory and address space of a process, in bytes.
    private static func peaks(_ pid: Int32) -> (resident: Int, space: Int) {
        let file = unsafe linux_open("/proc/\(pid)/status", O_RDONLY | O_CLOEXEC, 0)
        guard file >= 0 else { return (0, 0) }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 4_096)
        let count = unsafe Glibc.read(file, &bytes, bytes.count)
        let lines = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).split(separator: "\n")
        func value(_ name: String) -> Int {
            let line = lines.first { $0.hasPrefix(name) }
            return (line.flatMap { Int($0.filter(\.isNumber)) } ?? 0) << 10
        }
        return (value("VmHWM"), value("VmPeak"))
    }

    private static func read(_ path: String) -> StoredBody? {
        let raw = unsafe linux_open(path, O_RDONLY | O_CLOEXEC, 0)
        guard raw >= 0 else { return nil }
        let length = lseek(raw, 0, SEEK_END)
        return .file(OwnedDescriptor(owning: raw), offset: 0, length: Int64(length))
    }
}
