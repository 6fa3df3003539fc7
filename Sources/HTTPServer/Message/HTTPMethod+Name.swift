// SPDX-License-Identifier: Apache-2.0

extension HTTPMethod {
    /// Hot path: the name, without the allocation that a string may cost.
    public var name: StaticString {
        switch self {
        case .get: "GET"
        case .head: "HEAD"
        case .post: "POST"
        case .put: "PUT"
        case .delete: "DELETE"
        case .options: "OPTIONS"
        case .trace: "TRACE"
        case .connect: "CONNECT"
        case .patch: "PATCH"
        case .purge: "PURGE"
        }
    }
}
