// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import ProxyCore

/// Problems with folders and files that `check-config` reports in advance, also when another user than the
/// daemon's runs it.
enum FileCheck {
    /// Why the cache's folder can't be used; nil if it can, or could be created.
    static func problem(ofFolder folder: String) -> String? {
        var path = folder
        while true {
            var facts = stat()
            if unsafe stat(path, &facts) == 0 {
                guard facts.st_mode & S_IFMT == S_IFDIR else { return "\(path) is no folder" }
                guard unsafe access(path, W_OK | X_OK) == 0 else { return "\(path): \(reason())" }
                return path == folder ? nil : problem(ofFolderIn: path)
            }
            guard errno == ENOENT else { return "\(path): \(reason())" }
            guard let slash = path.lastIndex(of: "/"), path != "/" else { return nil }
            path = slash == path.startIndex ? "/" : String(path[..<slash])
        }
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

    private static func reason() -> String {
        // Safe because strerror's text is copied at once, and is the calling thread's own (glibc 2.32).
        unsafe String(cString: strerror(errno))
    }
}

extension ProxyConfiguration {
    /// The problems in the file system that `serve` would have, beyond the files that both read.
    func folderProblems(environment: [String: String] = HostProcess.environment) -> [ConfigurationIssue] {
        let folder = CacheDirectory.path(configured: cache.disk.directory, environment: environment)
        guard let problem = FileCheck.problem(ofFolder: folder) else { return [] }
        return [ConfigurationIssue(path: "cache.disk.directory", problem: problem)]
    }

    /// Files that the daemon's user may be unable to read, which the check can't detect for another user:
    /// root can read all.
    func warnings(user: uid_t = geteuid()) -> [String] {
        guard user == 0 else { return [] }
        var places = security.keys.enumerated().map { ("security.keys.\($0.offset)", $0.element) }
        places.append(("admin.token", admin.token))
        places += placeholders.sorted { $0.key < $1.key }.map { ("placeholders.\($0.key)", $0.value) }
        places += watermarks.sorted { $0.key < $1.key }.map { ("watermarks.\($0.key)", $0.value) }
        return places.filter { FileCheck.isPrivate($0.1) }.map { key, path in
            "\(key): \(path) is readable for its owner and group alone, which the unit's DynamicUser= is not; "
                + "LoadCredential= with credential:NAME gives it to the daemon, check-config --user NAME checks as that user"
        }
    }
}
