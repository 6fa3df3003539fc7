// SPDX-License-Identifier: Apache-2.0

import Answering
import Dialects
import Glibc
import Imaging
import Origins
import Primitives
import Request
import Sharing

/// The contents of the files that the settings name: secrets and pictures. Read at the start, and at each
/// reload.
struct NamedFiles: Sendable {
    /// Which requests must be signed, and with which keys.
    let signatures: SignaturePolicy
    /// The key that new URLs are signed with.
    let firstKey: [UInt8]?
    /// The bearer token of the admin listener; nil if none is required.
    let adminToken: [UInt8]?
    /// Placeholders of failed sources, by name.
    let placeholders: [String: Placeholder]
    /// Images that may be drawn over others, by name.
    let watermarks: [String: WatermarkImage]
    /// The rules for origins, with the secrets that they name.
    let origins: OriginRules
    /// Where the shared tier's bucket is; nil without one.
    let store: StorePlace?
    /// The key that nodes sign requests to each other with; nil without one.
    let clusterKey: [UInt8]?
    /// The dialects, by their paths.
    let dialects: [DialectRoute]

    /// The minimum number of bytes of a token, so that it can't be guessed.
    private static let minTokenBytes = 16

    /// Reads all files.
    /// - Parameter skipsCredentials: whether credentials are left out where there is no
    ///   `CREDENTIALS_DIRECTORY`.
    /// - Throws: every file that is missing or invalid.
    init(
        _ configuration: ProxyConfiguration, environment: [String: String] = HostProcess.environment,
        skipsCredentials: Bool = false
    ) throws(ConfigurationError) {
        var reader = Reader(
            environment: environment,
            skipsCredentials: skipsCredentials && environment["CREDENTIALS_DIRECTORY"] == nil)
        let security = configuration.security
        var keys: [[UInt8]] = []
        for (index, place) in security.keys.enumerated() {
            if let key = reader.key("security.keys.\(index)", place) { keys.append(key) }
        }
        firstKey = keys.first
        signatures = SignaturePolicy(keys: keys, isRequired: security.requireSignature ?? true)
        let token = configuration.admin.token
        adminToken = token.isEmpty ? nil : reader.secret("admin.token", token, least: Self.minTokenBytes)
        var placeholders: [String: Placeholder] = [:]
        for (name, path) in configuration.placeholders.sorted(by: { $0.key < $1.key }) {
            placeholders[name] = reader.placeholder("placeholders.\(name)", path)
        }
        self.placeholders = placeholders
        var watermarks: [String: WatermarkImage] = [:]
        for (name, path) in configuration.watermarks.sorted(by: { $0.key < $1.key }) {
            watermarks[name] = reader.watermark(name, path)
        }
        self.watermarks = watermarks
        origins = reader.rules(configuration.origins)
        store = reader.store(configuration.shared)
        let clusterPlace = configuration.cluster.key
        clusterKey = clusterPlace.isEmpty ? nil : reader.key("cluster.key", clusterPlace)
        if let clusterKey, clusterKey.count < ClusterKey.minBytes {
            reader.report(
                "cluster.key",
                "\(clusterPlace) holds a key of \(clusterKey.count) bytes, expected at least \(ClusterKey.minBytes)"
            )
        }
        var dialects: [DialectRoute] = []
        for (index, dialect) in configuration.dialects.enumerated() {
            if let route = reader.route(dialect, at: index) { dialects.append(route) }
        }
        self.dialects = dialects
        guard reader.issues.isEmpty else { throw ConfigurationError(issues: reader.issues) }
    }

    /// Reads a signing key.
    static func key(at path: String) throws(ConfigurationError) -> [UInt8] {
        var reader = Reader(environment: HostProcess.environment)
        guard let key = reader.key("", path) else { throw ConfigurationError(issues: reader.issues) }
        return key
    }

    /// Reads an admin token.
    static func token(at path: String) throws(ConfigurationError) -> [UInt8] {
        var reader = Reader(environment: HostProcess.environment)
        guard let token = reader.secret("", path, least: minTokenBytes) else {
            throw ConfigurationError(issues: reader.issues)
        }
        return token
    }
}

/// Reads files, and collects the problems.
private struct Reader {
    let environment: [String: String]
    /// Whether what is in the service manager's credentials is left out.
    let skipsCredentials: Bool
    var issues: [ConfigurationIssue] = []

    init(environment: [String: String], skipsCredentials: Bool = false) {
        self.environment = environment
        self.skipsCredentials = skipsCredentials
    }

    /// A file's bytes without one final newline.
    mutating func secret(_ key: String, _ place: String, least: Int) -> [UInt8]? {
        guard var bytes = contents(key, place) else { return nil }
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        guard bytes.count >= least else {
            return refuse(key, "\(place) holds \(bytes.count) bytes, expected at least \(least)")
        }
        return bytes
    }

    /// A signing key: raw bytes, or text after `hex:` or `base64:`.
    mutating func key(_ key: String, _ place: String) -> [UInt8]? {
        guard let bytes = secret(key, place, least: 1) else { return nil }
        guard let decoded = KeyText.decode(bytes) else {
            return refuse(key, "\(place): \(KeyText.fault(in: bytes))")
        }
        guard decoded.count >= SignaturePolicy.minKeyBytes else {
            return refuse(
                key,
                "\(place) holds a key of \(decoded.count) bytes, expected at least \(SignaturePolicy.minKeyBytes)"
            )
        }
        return decoded
    }

    mutating func placeholder(_ key: String, _ path: String) -> Placeholder? {
        guard let bytes = contents(key, path) else { return nil }
        do throws(Placeholder.Failure) {
            return try Placeholder(bytes)
        } catch {
            return refuse(key, "\(path): \(error)")
        }
    }

    mutating func watermark(_ name: String, _ path: String) -> WatermarkImage? {
        let key = "watermarks.\(name)"
        guard TransformPipeline.isName(name) else {
            return refuse(key, "a watermark's name has only letters, digits and _ . + -")
        }
        guard let bytes = contents(key, path) else { return nil }
        guard bytes.count <= WatermarkImage.maxBytes else {
            return refuse(key, "\(path) is larger than \(ByteCount(WatermarkImage.maxBytes))")
        }
        guard let format = ImageFormat(sniffing: bytes), format.traits.isShownByBrowsers else {
            return refuse(key, "\(path) is none of \(ImageFormat.titlesShownByBrowsers)")
        }
        return WatermarkImage(name: name, bytes: bytes)
    }

    /// No rules if one of them can't be used.
    mutating func rules(_ rules: [OriginRuleConfiguration]) -> OriginRules {
        let secrets = secrets
        do throws(OriginRuleError) {
            return try OriginRules(rules, secrets: secrets)
        } catch {
            issues += OriginRules.problems(of: rules, secrets: secrets).map {
                ConfigurationIssue(path: "origins.\($0.index).\($0.key)", problem: $0.reason)
            }
            return .none
        }
    }

    mutating func report(_ key: String, _ problem: String) {
        issues.append(ConfigurationIssue(path: key, problem: problem))
    }

    /// Where the shared tier's bucket is; nil without one.
    mutating func store(_ configuration: SharedConfiguration) -> StorePlace? {
        do throws(OriginRuleError) {
            return try StorePlace(configuration, secrets: secrets)
        } catch {
            return refuse("shared.\(error.key)", error.reason)
        }
    }

    private var secrets: SecretReader {
        SecretReader(
            credentialsDirectory: environment["CREDENTIALS_DIRECTORY"], environment: environment,
            skipsCredentials: skipsCredentials)
    }

    /// A dialect with the contents of its files.
    mutating func route(_ configuration: DialectConfiguration, at index: Int) -> DialectRoute? {
        let path = "dialects.\(index)"
        do throws(TranslationError) {
            let read = try configuration.dialect { setting, file in
                secret("\(path).\(setting)", file, least: 1)
            }
            guard let dialect = read else { return nil }
            return DialectRoute(
                dialect: dialect, prefix: configuration.prefix,
                hasCompatibleErrors: configuration.compatibleErrors)
        } catch {
            return refuse("\(path).\(error.option)", error.reason)
        }
    }

    private mutating func contents(_ key: String, _ place: String) -> [UInt8]? {
        do throws(HostProcess.Failure) {
            guard let path = try path(of: place) else { return nil }
            return try HostProcess.contents(of: path, isRegular: true)
        } catch {
            guard SecretSettings.contains(key), !SecretSettings.isPlace(place) else {
                return refuse(key, "\(place): \(error)")
            }
            return refuse(
                key,
                "the text is not the path of a file (\(error)); the settings do not contain a key itself, but the path of its file"
            )
        }
    }

    /// `credential:NAME` is a file from the service manager (systemd.exec(5), LoadCredential=); nil if it is
    /// left out.
    private func path(of place: String) throws(HostProcess.Failure) -> String? {
        guard place.hasPrefix("credential:") else { return place }
        let name = place.dropFirst("credential:".count)
        guard !name.isEmpty, !name.contains("/"), name != "." && name != ".." else {
            throw HostProcess.Failure(description: "a credential's name has no slashes")
        }
        guard !skipsCredentials else { return nil }
        guard let folder = environment["CREDENTIALS_DIRECTORY"] else {
            throw HostProcess.Failure(description: "there is no CREDENTIALS_DIRECTORY in the environment")
        }
        return "\(folder)/\(name)"
    }

    private mutating func refuse<Value>(_ key: String, _ problem: String) -> Value? {
        issues.append(ConfigurationIssue(path: key, problem: problem))
        return nil
    }
}
