// SPDX-License-Identifier: Apache-2.0

/// The rules for where redirects have led a fetch: what they restrict holds beside the rule for the URL that was asked for.
///
/// Else a restriction could be avoided by asking for another allowed URL that redirects. What a rule grants, credentials
/// above all, stays with the URL that was asked for. Pure.
struct HopRules: Sendable {
    private let all: OriginRules
    /// Those of the hops so far; the loader bounds how many.
    private var rules: [OriginRule] = []
    private var isAmbiguous = false

    /// No hop yet.
    init(_ all: OriginRules = .none) {
        self.all = all
    }

    /// Adds the rule for a redirect's target, if there is one.
    mutating func follow(_ target: SourceURL) {
        do throws(PipelineError) {
            if let rule = try all.rule(for: target) { rules.append(rule) }
        } catch {
            isAmbiguous = true
        }
    }

    /// Whether originals must not go out as they came.
    var reencodes: Bool { rules.contains(where: \.reencodes) }

    /// The format that originals are converted to; the last hop's word.
    var storeAs: ImageFormat? { rules.last { $0.storeAs != nil }?.storeAs }

    /// Whether what goes out may be other bytes than what comes.
    var changesBytes: Bool { reencodes || storeAs != nil }

    /// Checks the head of the final response.
    func check(_ head: OriginHead) throws(LoadError) {
        guard !isAmbiguous else { throw .redirectForbidden("no telling which rule is about it") }
        guard head.status != 304 else { return }
        for rule in rules {
            guard rule.permits(status: head.status) else {
                throw .status(head.status, retryAfter: nil)
            }
            guard rule.accepts(contentType: head.values(of: "content-type").first) else { throw .notAnImage }
        }
    }

    /// Bounds a source's lifetime, and marks a source that must not go out as it came.
    func apply(to record: inout SourceRecord) {
        for rule in rules { rule.restrict(&record) }
        record.directives.remove(.reencoded)
        if reencodes { record.directives.insert(.reencoded) }
    }
}
