// SPDX-License-Identifier: Apache-2.0

/// The phases of a connection.
enum ConnectionPhase {
    case readingHead, readingContent
    /// A task makes the response.
    case awaitingAnswer
    /// The head of a response is queued, and its body is still being received.
    case streaming
    /// The last response is queued; further input is dropped.
    case closing
    case closed
}
