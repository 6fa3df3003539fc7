// SPDX-License-Identifier: Apache-2.0

package import Freshness
package import Imaging
package import Origins
package import URLs

/// The rules of a fetch's redirect targets: their restrictions apply in addition to the rule of the requested
/// URL.
///
/// Otherwise a client could avoid a restriction by requesting another allowed URL that redirects. The
/// additions of a rule, above all credentials, apply only to the requested URL. Pure.
package struct HopRules: Sendable {
    private let all: OriginRules
    /// The rules of the hops so far; the loader bounds their number.
    private var rules: [OriginRule] = []
    private var isAmbiguous = false

    /// Creates the state before the first redirect.
    package init(_ all: OriginRules = .none) {
        self.all = all
    }

    /// Adds the rule for a redirect's target, if there is one.
    package mutating func follow(_ target: SourceURL) {
        do throws(AmbiguousURLError) {
            if let rule = try all.rule(for: target) { rules.append(rule) }
        } catch {
            isAmbiguous = true
        }
    }

    /// Whether originals must not be sent as they came.
    var reencodes: Bool { rules.contains(where: \.reencodes) }

    /// The format that originals are converted to; the last hop's rule decides.
    package var storeAs: ImageFormat? { rules.last { $0.storeAs != nil }?.storeAs }

    /// Whether the bytes that are sent may differ from the origin's.
    package var changesBytes: Bool { reencodes || storeAs != nil }

    /// Why the final response is refused.
    package enum Refusal: Error {
        /// Which rule holds for a redirect's target is ambiguous.
        case ambiguous
        /// A rule does not accept its status.
        case status
        /// A rule does not accept its media type.
        case mediaType
    }

    /// Checks the head of the final response.
    package func check(_ head: OriginHead) throws(Refusal) {
        guard !isAmbiguous else { throw .ambiguous }
        guard head.status != 304 else { return }
        for rule in rules {
            guard rule.permits(status: head.status) else { throw .status }
            guard rule.accepts(contentType: head.values(of: "content-type").first) else { throw .mediaType }
        }
    }

    /// Bounds a source's lifetime, and marks a source that must not be sent as it came.
    package func apply(to record: inout SourceRecord) {
        for rule in rules { rule.restrict(&record) }
        record.reuse.directives.remove(.reencoded)
        if reencodes { record.reuse.directives.insert(.reencoded) }
    }
}
