// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@Suite("Scripts for the first hour")
struct ScriptTests {
    let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    /// Runs a shell script in the repository's folder.
    private func shell(_ script: String, _ environment: [String: String] = [:]) async throws
        -> OtherProgram.Outcome
    {
        let built = DaemonProcess.executable.split(separator: "/", omittingEmptySubsequences: false)
            .dropLast()
        let inherited = [
            "PATH": "/usr/bin:/bin", "HOME": folder.path, "TMPDIR": folder.path,
            "BUILT": built.joined(separator: "/"),
        ]
        return try await OtherProgram.run(
            "/bin/bash", ["-c", "cd '\(TextFiles.path(""))' && \(script)"],
            environment: inherited.merging(environment) { $1 })
    }

    /// Starts the demonstration, requests the first picture that it shows, and ends it; prints its address. No search for
    /// a file that is not there yet may be reported.
    private static let visit = """
        out=$TMPDIR/out; demo/run > "$out" 2>&1 & pid=$!
        until grep -q 'Ctrl-C ends it' "$out"; do kill -0 $pid || { cat "$out"; exit 9; }; sleep 0.1; done
        listen=$(sed -n 's/.* is up on \\([^ ]*\\)\\. .*/\\1/p' "$out")
        url=$(grep -o "http://$listen/img[^ ']*seeding.jpg" "$out" | head -1)
        curl -sf -o /dev/null "$url" || exit 8
        eval "$(grep ' explain --admin' "$out")" > "$TMPDIR/explained" || exit 5
        grep -q 'curl -fsSD- -o seeding.webp' "$out" || exit 4
        kill $pid; wait $pid || exit 7
        grep 'No such file' "$out" && exit 6
        echo "$listen"
        """

    @Test("make demo uses a free port if 8080 is taken, prints it, and shows pictures from there")
    func demoBeside() async throws {
        // Fails if the port is in use already: then it is taken as well.
        let other = try? ListeningSocket(port: 8_080)

        let outcome = try await shell(Self.visit)
        withExtendedLifetime(other) {}

        #expect(outcome.code == 0, "\(outcome.output)")
        #expect(outcome.output.hasPrefix("127.0.0.1:"))
        #expect(outcome.output != "127.0.0.1:8080\n")
    }

    @Test(
        "A cache folder that may not be created is an error that names the first such folder, and another way"
    )
    func unwritableFolder() async throws {
        let outcome = try await OtherProgram.run(
            DaemonProcess.executable, ["serve", "--listen", "127.0.0.1:0"],
            environment: ["HOME": folder.path, "IMAGEPROXYD_CACHE_DISK_DIRECTORY": "/sys/nowhere/cache"])

        #expect(outcome.code == 1)
        #expect(outcome.errors.contains("mkdir /sys/nowhere/: "), "\(outcome.errors)")
        #expect(outcome.errors.contains("IMAGEPROXYD_CACHE_DISK_DIRECTORY=/path"), "\(outcome.errors)")
    }

    @Test(
        "Without a Swift toolchain, or with an old one, the build says which one it needs and where that is")
    func toolchain() async throws {
        try FileManager.default.createDirectory(
            atPath: folder.path + "/bin", withIntermediateDirectories: true)
        let none = try await shell(
            "ln -s /bin/bash \(folder.path)/bin/ && PATH=\(folder.path)/bin && scripts/toolchain")
        try await folder.writeProgram(
            "#!/bin/sh\necho 'Swift version 5.10.1 (swift-5.10.1-RELEASE)'\n", to: "bin/swift")
        let old = try await shell("scripts/toolchain", ["PATH": folder.path + "/bin:/usr/bin:/bin"])

        #expect(
            none.code == 1 && none.errors.contains("There is no 'swift' in PATH. Install a 6.3 toolchain"))
        #expect(
            old.code == 1 && old.errors.contains("is Swift 5.10, and imageproxyd needs 6.3."), "\(old.errors)"
        )
        #expect(old.errors.contains("https://www.swift.org/install/linux/"))
    }

    @Test("Packages that are missing where root can't be had are named in a command to run as root")
    func missingPackages() async throws {
        for (name, script) in [("id", "echo 1000"), ("dpkg-query", "exit 1")] {
            try await folder.writeProgram("#!/bin/sh\n\(script)\n", to: "bin/" + name)
        }
        let outcome = try await shell(
            "ln -s /bin/bash /usr/bin/env \(folder.path)/bin/ && PATH=\(folder.path)/bin && scripts/install-packages one two"
        )

        #expect(outcome.code == 1)
        #expect(outcome.errors.hasSuffix("--no-install-recommends one two\n"), "\(outcome.errors)")
    }

    @Test("DEMO_LISTEN chooses the demonstration's address")
    func demoAddress() async throws {
        let outcome = try await shell(Self.visit, ["DEMO_LISTEN": "127.0.0.2:0"])

        #expect(outcome.code == 0, "\(outcome.output)")
        #expect(outcome.output.hasPrefix("127.0.0.2:"))
    }

    @Test("make demo exits with an error if the daemon does not start, and does not print that it is ready")
    func demoFails() async throws {
        let other = try ListeningSocket(port: 0)

        let outcome = try await shell("demo/run", ["DEMO_LISTEN": "127.0.0.1:\(other.port)"])

        #expect(outcome.code == 1)
        #expect(outcome.errors.contains("can't listen on 127.0.0.1:\(other.port)"))
        #expect(outcome.errors.contains("or choose another with --listen"))
        #expect(!outcome.output.contains("is up"))
    }

    @Test(
        "make install installs, where systemd finds it, a unit that starts the installed program",
        arguments: [
            ("/usr", "/usr/lib/systemd/system"), ("/usr/local", "/usr/local/lib/systemd/system"),
            ("/opt/images", "/usr/local/lib/systemd/system"),
        ])
    func install(prefix: String, units: String) async throws {
        let root = folder.path + "/root"
        let dry = try await shell("make -n install PREFIX=\(prefix) DESTDIR=\(root)")
        let command = try #require(
            dry.output.split(separator: "\n").first { $0.hasSuffix("scripts/install") }.map(String.init))

        let outcome = try await shell(command, ["PROGRAM": "/bin/true"])

        #expect(outcome.code == 0, "\(outcome.errors)")
        let unit = TextFiles.contents(ofFile: "\(root)\(units)/imageproxyd.service")
        #expect(unit.contains("\nExecStart=\(prefix)/bin/imageproxyd serve $OPTIONS\n"))
        #expect(TextFiles.contents(ofFile: "\(root)\(units)/imageproxyd.socket").contains("ListenStream="))
        #expect(try await OtherProgram.run("\(root)\(prefix)/bin/imageproxyd", []).code == 0)
        let symbols = prefix == "/usr" ? "/usr/lib/debug/usr/bin" : "\(prefix)/bin/.debug"
        #expect(
            folder.files
                == [
                    "root\(prefix)/bin/imageproxyd", "root\(symbols)/imageproxyd.debug",
                    "root\(units)/imageproxyd.service", "root\(units)/imageproxyd.socket",
                ].sorted())
    }

    @Test(
        "make install refuses a prefix that a unit can't contain", arguments: ["usr/local", "/a b", "/a#b"])
    func prefix(_ prefix: String) async throws {
        let outcome = try await shell(
            "scripts/install", ["PREFIX": prefix, "DESTDIR": folder.path + "/root"])

        #expect(outcome.code == 64)
        #expect(folder.files.isEmpty)
    }
}
