// SPDX-License-Identifier: Apache-2.0

import Bodies
import CLinux
import Glibc
import Imaging

/// The descriptors that a worker gets for a job, with no more rights than the job needs.
struct JobDescriptors {
    /// The source, for reading only.
    let source: OwnedDescriptor
    /// Where the source begins in it.
    let sourceOffset: Int64
    /// The destination, for writing only.
    let destination: OwnedDescriptor
    /// The watermarks, in the order of the plan, for reading only.
    let watermarks: [OwnedDescriptor]

    /// Where an intermediate is written, for writing only.
    let intermediate: OwnedDescriptor?

    /// All of them, in the order in which a worker expects them.
    var all: [CInt] { ([source, destination] + watermarks + [intermediate].compactMap { $0 }).map(\.raw) }

    private static let memoryName = "imageproxyd-source"

    /// Opens source and destination anew; bytes in memory go through a sealed memfd.
    init(for job: RenderJob) throws(RenderError) {
        switch job.source {
        case .file(let file, let offset, _):
            source = try Self.reopened(file, O_RDONLY)
            sourceOffset = offset
        case .bytes(let bytes):
            source = try Self.reopened(Self.sealed(bytes), O_RDONLY)
            sourceOffset = 0
        }
        destination = try Self.reopened(job.destination, O_WRONLY)
        var watermarks: [OwnedDescriptor] = []
        for image in job.plan.watermarks {
            watermarks.append(try Self.reopened(Self.sealed(image.bytes), O_RDONLY))
        }
        self.watermarks = watermarks
        if let output = job.intermediateTarget {
            intermediate = try Self.reopened(output.file, O_WRONLY)
        } else {
            intermediate = nil
        }
    }

    private static func reopened(
        _ file: OwnedDescriptor, _ flags: CInt
    ) throws(RenderError) -> OwnedDescriptor {
        let raw = linux_reopen(file.raw, flags)
        guard raw >= 0 else { throw failure("open of /proc/self/fd", errno) }
        return OwnedDescriptor(owning: raw)
    }

    private static func sealed(_ bytes: [UInt8]) throws(RenderError) -> OwnedDescriptor {
        let raw = unsafe linux_memfd_create(memoryName)
        guard raw >= 0 else { throw failure("memfd_create", errno) }
        let memory = OwnedDescriptor(owning: raw)
        try DescriptorBytes.write(bytes, to: raw)
        guard linux_seal(raw) == 0 else { throw .systemFailure("fcntl F_ADD_SEALS: errno \(errno)") }
        return memory
    }

    /// If no descriptor is left too much is in progress, which is temporary, and the picture is not at fault.
    private static func failure(_ call: String, _ code: CInt) -> RenderError {
        code == EMFILE || code == ENFILE ? .queueFull : .systemFailure("\(call): errno \(code)")
    }
}
