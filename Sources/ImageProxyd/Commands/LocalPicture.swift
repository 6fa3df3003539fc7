// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Bodies
internal import CLinux
import Freshness
internal import Glibc
import Imaging
import Loading
import Pipeline
import Primitives
import Rendering
import Request
import URLs

/// Renders pictures that are files, by the daemon's settings, in one worker.
struct LocalPicture {
    private let configuration: ProxyConfiguration
    private let parser: ImageRequestParser

    init(_ settings: SettingsOptions) throws {
        let files: NamedFiles
        (configuration, files, _) = try settings.loadAll(skipsCredentials: true)
        // It stands for the file: no URL is named.
        parser = try Components.parser(configuration, files).taking(try .upload([]), isOperator: true)
    }

    /// Whether parameters name a format, or their preset does.
    func namesFormat(_ items: [QueryItem]) -> Bool {
        items.contains { item in
            item.name == "format"
                || item.name == "preset" && parser.policy.presets[item.value]?.parameters["format"] != nil
        }
    }

    /// The plan that parameters of `/img` make; nil if there is nothing to do.
    func plan(_ items: [QueryItem]) throws -> RenderPlan? {
        let request = try reading {
            () throws(ImageRequestError) in
            try parser.parse(
                translated: QueryString(items: items), isSigned: true, at: SystemTime.coarseSeconds()
            ) { AcceptClass() }
        }
        var plan = request.plan
        plan?.effort = .full
        return plan
    }

    /// The plan of `/info`.
    func informationPlan() throws -> RenderPlan {
        let request = try reading {
            () throws(ImageRequestError) in
            try parser.parseInformation(
                translated: QueryString(items: []), isSigned: true, at: SystemTime.coarseSeconds())
        }
        guard let plan = request.plan else { throw ExitCode.failure }
        return plan
    }

    private func reading(
        _ read: () throws(ImageRequestError) -> ImageRequest
    ) throws -> ImageRequest {
        do throws(ImageRequestError) {
            return try read()
        } catch {
            throw ValidationError(PipelineError(error).explanation)
        }
    }

    /// The bytes of a file, or of the standard input; at most `fetch.maxBytes`.
    func read(_ path: String) throws -> StoredBody {
        do throws(FileIO.ReadError) {
            return .bytes(
                try FileIO.contents(
                    of: path == "-" ? "/dev/stdin" : path, atMost: configuration.fetch.maxBytes))
        } catch {
            let hint = if case .larger = error { ": fetch.maxBytes allows no more" } else { "" }
            throw HostProcess.reported("\(path): \(error)\(hint)")
        }
    }

    /// Renders in a worker of its own, which ends with that.
    func renderInWorker(
        _ plan: RenderPlan, from source: StoredBody, into output: OwnedDescriptor
    ) async throws -> Rendition {
        var transform = configuration.transform
        transform.workers = 1
        let workers = WorkerPool(configuration: transform, executable: "/proc/self/exe")
        let result: Result<Rendition, RenderError>
        do throws(RenderError) {
            if transform.isolation == .process { try await workers.start() }
            let renderer: any ImageRendering = transform.isolation == .process ? workers : InProcessRenderer()
            result = .success(try await renderer.render(plan, from: source, into: output, at: 0))
        } catch {
            result = .failure(error)
        }
        await workers.stop()
        switch result {
        case .success(let rendition): return rendition
        case .failure(.notWritten(let reason)):
            throw HostProcess.reported("the result can't be written: \(reason)")
        case .failure(let error):
            let failure = PipelineError(error)
            let detail = failure.detail.map { ": \($0)" } ?? ""
            throw HostProcess.reported(failure.row.title + detail)
        }
    }
}
