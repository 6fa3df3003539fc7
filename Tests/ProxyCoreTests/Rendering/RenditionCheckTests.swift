// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Testing

@testable import Bodies
@testable import ImageTestSupport
@testable import Imaging
@testable import Rendering

@Suite("The check of a worker's reply")
struct RenditionCheckTests {
    private static func rendition() async throws -> (
        rendition: Rendition, plan: RenderPlan, target: RenderTarget
    ) {
        let plan = RenderPlan(pipeline: try TransformPipeline(parsing: "resize:8x"), format: .explicit(.png))
        let target = try RenderTarget()
        let source = try TestPicture.quarters(20, 10).encoded(as: .png)
        let rendition = try await InProcessRenderer().render(
            plan, from: .bytes(source), into: target.file, at: 0)
        return (rendition, plan, target)
    }

    @Test("A correct reply is accepted")
    func truth() async throws {
        let (rendition, plan, target) = try await Self.rendition()
        let check = RenditionCheck(plan: plan, rendition: rendition, sniffed: .png)

        #expect(check.isPlausible && check.matchesFile(target.file, from: 0))
    }

    @Test("Sizes, times and counts that no picture has are refused")
    func numbers() async throws {
        let (rendition, plan, target) = try await Self.rendition()
        let numbers: [WritableKeyPath<Rendition, Int>] = [
            \.width, \.height, \.frames, \.source.width, \.source.height, \.source.frames, \.timings.queue,
            \.timings.decode, \.timings.transform, \.timings.encode, \.source.orientation,
        ]
        for number in numbers {
            for value in [Int.min, -1, Int.max] {
                var lie = rendition
                lie[keyPath: number] = value
                #expect(!RenditionCheck(plan: plan, rendition: lie, sniffed: .png).isPlausible)
            }
        }
        for count in [Int.min, -1, 0, rendition.byteCount + 1, .max] {
            var lie = rendition
            lie.byteCount = count
            #expect(
                !RenditionCheck(plan: plan, rendition: lie, sniffed: .png).matchesFile(target.file, from: 0))
            #expect(
                !RenditionCheck(plan: plan, rendition: lie, sniffed: .png).matchesFile(
                    target.file, from: .max))
        }
    }

    @Test(
        "Another format than the requested one, or than that of the bytes, is refused",
        arguments: ImageFormat.allCases)
    func formats(format: ImageFormat) async throws {
        let (rendition, explicit, target) = try await Self.rendition()
        var lie = rendition
        lie.format = format
        var automatic = explicit
        automatic.format = .automatic([.webp])

        #expect(RenditionCheck(plan: explicit, rendition: lie, sniffed: .png).isPlausible == (format == .png))
        #expect(
            RenditionCheck(plan: automatic, rendition: lie, sniffed: .png).isPlausible
                == [.webp, .png, .jpeg].contains(format))
        #expect(
            RenditionCheck(plan: automatic, rendition: lie, sniffed: .png).matchesFile(target.file, from: 0)
                == (format == .png))
    }

    @Test(
        "An automatic choice accepts the preferred format, the source's, or one that holds what others can't"
    )
    func choices() async throws {
        let (rendition, explicit, _) = try await Self.rendition()
        let choices: [(RenderPlan.FormatChoice, Set<ImageFormat>)] = [
            (.automatic([.avif]), [.avif, .webp, .png, .jpeg]), (.automatic([.jxl]), [.webp, .png, .jpeg]),
            (.source, [.webp, .png, .jpeg]), (.information, [.webp]),
        ]
        for (choice, possible) in choices {
            var plan = explicit
            plan.format = choice
            for format in ImageFormat.allCases {
                var reply = rendition
                reply.source.format = .webp
                reply.format = format
                #expect(
                    RenditionCheck(plan: plan, rendition: reply, sniffed: .webp).isPlausible
                        == possible.contains(format), "\(choice) \(format)")
            }
            var animated = rendition
            animated.source.format = .webp
            animated.format = .gif
            animated.frames = 3
            let isFallback = choice != .information
            #expect(RenditionCheck(plan: plan, rendition: animated, sniffed: .webp).isPlausible == isFallback)
        }
    }

    @Test("An animation of which nothing may be lost is WebP whatever was preferred, and only then")
    func losslessAnimations() async throws {
        let (rendition, explicit, _) = try await Self.rendition()
        var animated = rendition
        (animated.source.format, animated.format, animated.frames) = (.gif, .webp, 3)
        for choice in [RenderPlan.FormatChoice.automatic([]), .automatic([.avif]), .source] {
            var plan = explicit
            plan.format = choice
            #expect(!RenditionCheck(plan: plan, rendition: animated, sniffed: .gif).isPlausible)
            plan.isLossless = true
            #expect(RenditionCheck(plan: plan, rendition: animated, sniffed: .gif).isPlausible, "\(choice)")
            var still = animated
            still.frames = 1
            #expect(!RenditionCheck(plan: plan, rendition: still, sniffed: .gif).isPlausible)
        }
    }

    @Test(
        "The source matches its bytes, or what the intermediate stands for; the result is within the limits"
    )
    func sources() async throws {
        let (rendition, plan, _) = try await Self.rendition()
        var other = rendition
        other.source.format = .webp
        var derived = plan
        derived.intermediate = .read(rendition.source)
        var larger = rendition
        larger.source.width += 1
        var tight = [plan, plan, plan]
        tight[0].limits.side = rendition.width - 1
        tight[1].limits.outputPixels = rendition.width * rendition.height - 1
        tight[2].limits.frames = 0

        #expect(!RenditionCheck(plan: plan, rendition: other, sniffed: .png).isPlausible)
        #expect(!RenditionCheck(plan: plan, rendition: rendition, sniffed: nil).isPlausible)
        #expect(RenditionCheck(plan: derived, rendition: rendition, sniffed: .jpeg).isPlausible)
        #expect(!RenditionCheck(plan: derived, rendition: larger, sniffed: .jpeg).isPlausible)
        for plan in tight {
            #expect(!RenditionCheck(plan: plan, rendition: rendition, sniffed: .png).isPlausible)
        }
    }

    @Test("Any message is parsed as one of the replies or refused as malformed")
    func damaged() async throws {
        let (rendition, plan, target) = try await Self.rendition()
        let replies: [WorkerProtocol.Reply] = [
            .finished(rendition), .measured(bytes: 1 << 20, work: 7), .failed(.badImageData("x")),
            .unfit("y"), .exhausted(.outOfMemory),
        ]
        var random = SystemRandomNumberGenerator()
        let pieces = [
            "9223372036854775807", "-9223372036854775808", "1e999", "null", "[", "{", "\"", "\\u0000",
        ]
        for reply in replies {
            let whole = Array(try JSONEncoder().encode(reply))
            for _ in 0..<400 {
                var bytes = whole
                for _ in 0..<Int.random(in: 1...4, using: &random) {
                    let place = Int.random(in: 0..<bytes.count, using: &random)
                    if Bool.random(using: &random) {
                        bytes[place] = UInt8.random(in: 0...255, using: &random)
                    } else {
                        let end = min(bytes.count, place + Int.random(in: 0...4, using: &random))
                        bytes.replaceSubrange(place..<end, with: pieces.randomElement(using: &random)!.utf8)
                    }
                }
                let read = try? JSONDecoder().decode(WorkerProtocol.Reply.self, from: Data(bytes))
                guard case .finished(let finished)? = read else { continue }
                let check = RenditionCheck(plan: plan, rendition: finished, sniffed: .png)
                guard check.isPlausible, check.matchesFile(target.file, from: 0) else { continue }
                #expect(finished.format == .png && finished.source.upright.area > 0)
                #expect(finished.byteCount <= rendition.byteCount)
            }
        }
    }

    @Test("Memory is counted without overflow, whatever was requested")
    func memory() {
        var budget = MemoryBudget(total: 1 << 30)

        let first = budget.grant(.max, to: 0)
        let second = budget.grant(.max, to: 1)
        let next = budget.release(0)
        let again = budget.grant(.max, to: 1)

        #expect(first && !second && next == 1 && again)
    }

    @Test("The number of a JPEG's scans is limited: encoders stay below the limit, a bomb exceeds it")
    func scans() async throws {
        let plain = try TestPicture.ramps(64, 64).encoded(as: .jpeg)
        let once = plain.withUnsafeBytes { JPEGScans(of: $0).count }
        // Default coding is progressive: the last scan again and again.
        let start = try #require(
            plain.indices.dropLast().last { plain[$0] == 0xFF && plain[$0 + 1] == 0xDA })
        let scan = Array(plain[start..<plain.count - 2])
        var bomb = Array(plain[..<(plain.count - 2)])
        for _ in 0..<200 { bomb += scan }
        bomb += [0xFF, 0xD9]
        let file = bomb

        #expect((1...12).contains(once))
        let many = file.withUnsafeBytes { JPEGScans(of: $0).count }
        #expect(many == JPEGScans.limit + 1)
        await #expect(throws: RenderError.badImageData("too many scans")) { () async throws -> Void in
            _ = try await rendered(file)
        }
        for end in stride(from: 0, to: plain.count, by: 5) {
            let fewer = Array(plain[..<end]).withUnsafeBytes { JPEGScans(of: $0).count }
            #expect(fewer <= once)
        }
    }
}
