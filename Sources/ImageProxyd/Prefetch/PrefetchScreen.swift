// SPDX-License-Identifier: Apache-2.0

import Primitives
import Synchronization

/// Shows the progress of an order: a bar on a terminal, elsewhere a line every few seconds. Safe from any thread.
final class PrefetchScreen: Sendable {
    private let isJSON: Bool
    private let shownAt = Mutex<ContinuousClock.Instant?>(nil)
    private let start = ContinuousClock.now

    /// How often a line is printed where there is no terminal.
    private static let interval = Duration.seconds(5)

    init(isJSON: Bool) {
        self.isJSON = isJSON
    }

    /// Shows how far an order is.
    /// - Parameter isComplete: whether its total will not grow any more.
    func show(_ progress: PrefetchProgress, isComplete: Bool) {
        let size = isJSON ? nil : Terminal.size
        let interval = size == nil ? Self.interval : .milliseconds(200)
        let isDue = shownAt.withLock { shownAt in
            let now = ContinuousClock.now
            // The first line comes after a while: a short order has only the last one.
            if size == nil, shownAt == nil { shownAt = start }
            if let last = shownAt, now - last < interval { return false }
            shownAt = now
            return true
        }
        guard isDue else { return }
        if let size {
            let line = Self.bar(
                progress, isComplete: isComplete, took: ContinuousClock.now - start, width: size.width - 1)
            Terminal.write("\r\(line)\u{1B}[K")
        } else {
            Terminal.write(isJSON ? progress.json.compact + "\n" : Self.line(progress, isComplete) + "\n")
        }
    }

    /// Shows how an order has ended.
    func finish(_ progress: PrefetchProgress) {
        end()
        let time = (ContinuousClock.now - start).seconds
        Terminal.write(
            isJSON
                ? progress.json.compact + "\n"
                : "\(progress.state == .done ? "" : "\(progress.state.rawValue): ")"
                    + Self.line(progress, true) + " in \(Self.text(time))\n")
    }

    /// Ends the line of the bar.
    func end() {
        if !isJSON, Terminal.size != nil { Terminal.write("\r\u{1B}[K") }
    }

    // MARK: - Texts

    /// The counts of an order.
    static func line(_ progress: PrefetchProgress, _ isComplete: Bool) -> String {
        let done = progress.finished + progress.skipped + progress.failed
        return "\(done) of \(progress.total)\(isComplete ? "" : "+") images: \(progress.finished) made "
            + "(\(ByteCount(progress.bytes).rounded)), \(progress.skipped) stored already, \(progress.failed) failed"
    }

    /// A bar and the counts, at most so many columns.
    static func bar(_ progress: PrefetchProgress, isComplete: Bool, took: Duration, width: Int) -> String {
        let done = progress.finished + progress.skipped + progress.failed
        let share = progress.total == 0 ? 0 : Double(done) / Double(progress.total)
        var text = " \(done)/\(progress.total)\(isComplete ? "" : "+") \(ByteCount(progress.bytes).rounded)"
        if progress.failed > 0 { text += " \(progress.failed) failed" }
        if isComplete, done > 0, done < progress.total {
            text += " \(Self.text(took.seconds / Double(done) * Double(progress.total - done))) left"
        }
        let columns = min(40, width - text.utf8.count - 2)
        guard columns >= 5 else { return String(text.dropFirst().prefix(max(0, width))) }
        let filled = Int(share * Double(columns))
        return "[" + String(repeating: "#", count: filled)
            + String(repeating: ".", count: columns - filled) + "]" + text
    }

    private static func text(_ seconds: Double) -> String {
        let seconds = Int(min(seconds, 1e9).rounded())
        guard seconds >= 60 else { return "\(seconds) s" }
        guard seconds >= 3_600 else { return "\(seconds / 60) min \(seconds % 60) s" }
        return "\(seconds / 3_600) h \(seconds / 60 % 60) min"
    }
}

extension Duration {
    fileprivate var seconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}
