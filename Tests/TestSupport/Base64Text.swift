// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Base64 by another implementation than the daemon's.
public enum Base64Text {
    /// The URL-safe spelling without padding.
    public static func url(_ text: String) -> String {
        Data(text.utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
            .replacing("=", with: "")
    }
}
