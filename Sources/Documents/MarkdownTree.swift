// SPDX-License-Identifier: Apache-2.0

import CMarkdown
import Glibc

/// A parsed Markdown document: the tree of cmark-gfm, with tables, strikethrough and autolinks.
///
/// Only texts of the repository are parsed, none of a client or an origin. Raw HTML is omitted.
struct MarkdownTree: ~Copyable {
    /// The document; it and what is in it are valid as long as the tree.
    let root: MarkdownNode

    /// Parses a text.
    init(_ text: [UInt8]) {
        cmark_gfm_core_extensions_ensure_registered()
        // Safe because the parser lives until it is freed below, and the extensions as long as the process.
        guard let parser = unsafe cmark_parser_new(CMARK_OPT_DEFAULT) else { fatalError("no memory") }
        for name in ["table", "strikethrough", "autolink"] {
            guard let found = unsafe cmark_find_syntax_extension(name) else {
                fatalError("cmark-gfm lacks \(name)")
            }
            _ = unsafe cmark_parser_attach_syntax_extension(parser, found)
        }
        unsafe text.withUnsafeBytes { bytes in
            let start = unsafe bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
            unsafe cmark_parser_feed(parser, start, bytes.count)
        }
        guard let root = unsafe cmark_parser_finish(parser) else { fatalError("no memory") }
        self.root = unsafe MarkdownNode(root)
        unsafe cmark_parser_free(parser)
    }

    deinit { root.free() }
}

/// A node of a tree: a block, a link, a text.
@safe
struct MarkdownNode {
    private let raw: OpaquePointer

    @unsafe
    fileprivate init(_ raw: OpaquePointer) { unsafe self.raw = raw }

    /// The type as cmark names it, such as `heading` or `table`.
    var type: String { unsafe String(cString: cmark_node_get_type_string(raw)) }

    /// The nodes directly in this one.
    var children: [MarkdownNode] {
        var children: [MarkdownNode] = []
        var next = unsafe cmark_node_first_child(raw)
        while let child = unsafe next {
            unsafe children.append(MarkdownNode(child))
            unsafe next = cmark_node_next(child)
        }
        return children
    }

    /// Every node of these types in this one, itself included, in the order of the text.
    func nodes(_ types: Set<String>) -> [MarkdownNode] {
        (types.contains(type) ? [self] : []) + children.flatMap { $0.nodes(types) }
    }

    var level: Int { Int(unsafe cmark_node_get_heading_level(raw)) }

    /// The text in it, without marks; line ends are spaces.
    var text: String {
        switch type {
        case "softbreak", "linebreak": " "
        case "text", "code", "code_block": unsafe Self.string(cmark_node_get_literal(raw))
        case "table_cell": " " + children.map(\.text).joined()
        default: children.map(\.text).joined()
        }
    }

    /// The URL of a link or an image.
    var url: String { unsafe Self.string(cmark_node_get_url(raw)) }

    func setURL(_ url: String) { _ = unsafe cmark_node_set_url(raw, url) }

    /// Replaces what is in a node that has a single text, such as a link, by another text.
    func setText(_ text: String) {
        guard let child = children.first, children.count == 1 else { return }
        _ = unsafe cmark_node_set_literal(child.raw, text)
    }

    /// Replaces a link by what is in it. The node must not be used again.
    func unwrap() {
        while let child = unsafe cmark_node_first_child(raw) {
            _ = unsafe cmark_node_insert_before(raw, child)
        }
        free()
    }

    fileprivate func free() { unsafe cmark_node_free(raw) }

    var html: String {
        guard let html = unsafe cmark_render_html(raw, CMARK_OPT_DEFAULT, nil) else { return "" }
        defer { unsafe Glibc.free(html) }
        return unsafe String(cString: html)
    }

    private static func string(_ text: UnsafePointer<CChar>?) -> String {
        unsafe text.map { unsafe String(cString: $0) } ?? ""
    }
}
