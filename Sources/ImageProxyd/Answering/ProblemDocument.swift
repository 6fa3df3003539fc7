// SPDX-License-Identifier: Apache-2.0

import HTTPServer
package import Observability
package import Pipeline
import Primitives

/// An error as a client receives it: `application/problem+json` (RFC 9457).
package struct ProblemDocument {
    package var status: Int
    package var code: String
    package var title: String
    package var detail: String?
    package var parameter: String?
    package var position: Int?
    var upstreamStatus: Int?
    /// Where the fault lies, for the metrics alone; nil where the status says it.
    package private(set) var cause: Metric.FailureCause?

    /// The document for a failure of the pipeline.
    package init(_ error: PipelineError) {
        let row = error.row
        status = row.status
        code = row.code
        title = row.title
        detail = error.detail
        parameter = error.parameter?.name
        position = error.parameter?.position
        upstreamStatus = error.upstreamStatus
        cause = row.failureCause
    }

    /// Creates a document from its members.
    package init(status: Int, code: String, title: String, detail: String? = nil) {
        self.status = status
        self.code = code
        self.title = title
        self.detail = detail
    }

    /// The document's bytes, members in a fixed order.
    package var json: [UInt8] {
        var members = [
            #""type":"about:blank""#, #""title":\#(title.quotedJSON)"#, #""status":\#(status)"#,
            #""code":\#(code.quotedJSON)"#,
        ]
        if let detail { members.append(#""detail":\#(detail.quotedJSON)"#) }
        if let parameter { members.append(#""parameter":\#(parameter.quotedJSON)"#) }
        if let position { members.append(#""position":\#(position)"#) }
        if let upstreamStatus { members.append(#""upstream_status":\#(upstreamStatus)"#) }
        return Array("{\(members.joined(separator: ","))}\n".utf8)
    }
}
