// SPDX-License-Identifier: Apache-2.0

import Answering
import Cache
import CLinux
internal import Glibc
import Observability
import Origins
import Primitives
import URLs

/// Problems with folders and files that `check-config` reports in advance, also when another user than the
/// daemon's runs it.
enum FileCheck {
    /// Why the cache's folder can't be used; nil if it can, or could be created.
    static func problem(ofFolder folder: String) -> String? {
        guard let (place, problem) = obstacle(to: folder) else { return nil }
        return place == folder ? problem : "\(folder) can't be made: \(problem)"
    }

    /// The folder itself or the nearest one above it that exists, and what is wrong with that.
    private static func obstacle(to folder: String) -> (place: String, problem: String)? {
        var path = folder
        while true {
            var facts = stat()
            if unsafe stat(path, &facts) == 0 {
                guard facts.st_mode & S_IFMT == S_IFDIR else { return (path, "\(path) is no folder") }
                guard unsafe access(path, W_OK | X_OK) == 0 else { return (path, "\(path): \(reason())") }
                return path == folder ? nil : problem(ofFolderIn: path).map { (path, $0) }
            }
            guard errno == ENOENT else { return (path, "\(path): \(reason())") }
            guard let slash = path.lastIndex(of: "/"), path != "/" else { return nil }
            path = slash == path.startIndex ? "/" : String(path[..<slash])
        }
    }

    /// Why a folder of earlier entries can't be read; nil if it can.
    static func problem(ofReadOnlyFolder path: String) -> String? {
        var facts = stat()
        guard unsafe stat(path, &facts) == 0 else { return "\(path): \(reason())" }
        guard facts.st_mode & S_IFMT == S_IFDIR else { return "\(path) is no folder" }
        return unsafe access(path, R_OK | X_OK) == 0 ? nil : "\(path): \(reason())"
    }

    /// Makes a folder inside another and removes it: some file systems allow none, whatever the rights are.
    private static func problem(ofFolderIn parent: String) -> String? {
        var trial = Array("\(parent)/.imageproxyd-XXXXXX".utf8CString)
        guard unsafe mkdtemp(&trial) != nil else { return "no folder can be made in \(parent): \(reason())" }
        guard unsafe rmdir(trial) == 0 else { return "no folder can be removed from \(parent): \(reason())" }
        return nil
    }

    /// Whether a file exists that only its owner and group may read.
    static func isPrivate(_ path: String) -> Bool {
        var facts = stat()
        return unsafe stat(path, &facts) == 0 && facts.st_mode & S_IROTH == 0
    }

    private static func reason() -> String { systemErrorText(errno) }
}

extension LogConfiguration {
    /// Why the journal that the settings name can't be reached.
    func journalProblems() -> [ConfigurationIssue] {
        do throws(LogSink.Failure) {
            if format == .journald { _ = try LogSink() }
            return []
        } catch {
            return [ConfigurationIssue(path: "log.format", problem: LogOutput.problem(error))]
        }
    }
}

extension ProxyConfiguration {
    /// The problems in the file system that `serve` would have, beyond the files that both read.
    /// - Parameter ofOtherUser: whether the environment is another user's, whose default folder says nothing.
    func folderProblems(
        ofOtherUser: Bool = false, environment: [String: String] = HostProcess.environment
    ) -> [ConfigurationIssue] {
        var problems = cache.disk.readOnlyPaths.enumerated().compactMap { index, folder in
            FileCheck.problem(ofReadOnlyFolder: folder).map {
                ConfigurationIssue(path: "cache.disk.readOnlyPaths.\(index)", problem: $0)
            }
        }
        let isNamed = !cache.disk.directory.isEmpty || environment["CACHE_DIRECTORY"] != nil
        guard isNamed || !ofOtherUser else { return problems }
        let folder = CacheDirectory.path(configured: cache.disk.directory, environment: environment)
        if let problem = FileCheck.problem(ofFolder: folder) {
            problems.append(ConfigurationIssue(path: "cache.disk.directory", problem: problem))
        }
        return problems
    }

    /// Source patterns that are hardly meant, and what the check can't see: credentials outside the unit, and files that the daemon's user may be unable
    /// to read, where root checks, who can read all.
    func warnings(
        user: uid_t = geteuid(), environment: [String: String] = HostProcess.environment
    ) -> [String] {
        let places = self.places
        var warnings = security.sources.enumerated().filter { $0.element.namesRootAlone }.map { index, text in
            "security.sources.\(index): \(text) allows the path / alone, \(text)* the whole host"
        }
        if environment["CREDENTIALS_DIRECTORY"] == nil {
            let unseen = places.filter { $0.1.hasPrefix("credential:") }.map(\.0) + origins.credentials
            warnings += unseen.map { "\($0): the credential is not looked at, without CREDENTIALS_DIRECTORY" }
        }
        guard user == 0 else { return warnings }
        return warnings
            + places.filter { FileCheck.isPrivate($0.1) }.map { key, path in
                "\(key): not every user may read \(path), and the unit's DynamicUser= is neither its owner nor in its group; "
                    + "LoadCredential= with credential:NAME gives it to the daemon, check-config --user NAME checks as that user"
            }
    }

    /// The places of files and credentials, each with its key; those of origin rules are not among them.
    private var places: [(String, String)] {
        var places = security.keys.enumerated().map { ("security.keys.\($0.offset)", $0.element) }
        places.append(("admin.token", admin.token))
        places += placeholders.sorted { $0.key < $1.key }.map { ("placeholders.\($0.key)", $0.value) }
        return places + watermarks.sorted { $0.key < $1.key }.map { ("watermarks.\($0.key)", $0.value) }
    }
}

extension String {
    /// Whether it is a URL pattern that matches no path but `/`. Ignored: why it is none, which the settings' check says.
    fileprivate var namesRootAlone: Bool { (try? URLPattern(self))?.isRootAlone == true }
}

extension [OriginRuleConfiguration] {
    /// The keys whose text is in a credential.
    fileprivate var credentials: [String] {
        enumerated().flatMap { index, rule in
            rule.texts.filter { if case .credential = $0.1 { true } else { false } }.map {
                "origins.\(index).\($0.0)"
            }
        }
    }
}

extension OriginRuleConfiguration {
    /// The texts that may be in a credential, each with its key.
    fileprivate var texts: [(String, ConfiguredText)] {
        let fields = requestHeaders.sorted { $0.key < $1.key }.map { ("requestHeaders.\($0.key)", $0.value) }
        return switch auth {
        case .basic(_, let password): fields + [("auth.password", password)]
        case .bearer(let token): fields + [("auth.token", token)]
        case .awsSigV4(let credentials):
            fields
                + [
                    ("auth.accessKey", credentials.accessKey), ("auth.secretKey", credentials.secretKey),
                    ("auth.sessionToken", credentials.sessionToken),
                ].compactMap { name, text in text.map { (name, $0) } }
        case nil: fields
        }
    }
}
