// SPDX-License-Identifier: Apache-2.0

import Glibc
import Observability

/// The standard output of a command.
enum Terminal {
    /// Columns and rows of the terminal; nil if the output is none.
    static var size: (width: Int, height: Int)? {
        guard isatty(STDOUT_FILENO) == 1 else { return nil }
        var size = winsize()
        guard unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 1
        else { return (80, 24) }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    static func write(_ text: String) {
        // Lost when standard output is closed: a signal ends the command then.
        _ = LogSink(descriptor: STDOUT_FILENO).write(Array(text.utf8))
    }
}
