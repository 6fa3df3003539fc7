// SPDX-License-Identifier: Apache-2.0

internal import HTTPServer
import Primitives
import Request

/// Answers `POST /sign?target=…`: the target with a signature of the first key, as `imageproxyd sign` prints it.
struct SignHandler: Sendable {
    /// The key that URLs are signed with; nil if there is none.
    let key: [UInt8]?

    func sign(_ query: [UInt8]) throws(AdminFailure) -> HTTPResponse {
        let query = try AdminQuery(query, names: ["target"])
        guard let target = query["target"] else { throw .request(.missingParameter("target")) }
        guard let key else { throw .noKey }
        guard target.hasPrefix("/"), target.utf8.allSatisfy({ 0x21...0x7E ~= $0 }), !target.contains("#")
        else {
            throw AdminQuery.invalid("target", "must be path and query as in a request, such as /img?url=…")
        }
        guard !target.contains("&sig=") else {
            throw AdminQuery.invalid("target", "has a signature already")
        }
        do throws(ImageRequestError) {
            return AdminAnswer.json(["target": .string(try PathForm.sign(target, with: key))])
        } catch {
            throw .request(error)
        }
    }
}
