// SPDX-License-Identifier: Apache-2.0

import Dialects
import Testing

/// With the key, the salt and the signatures of nuxt/image's own tests.
@Suite("imgproxy's URLs as nuxt/image writes them")
struct ImgproxyClientTests {
    private static let source =
        "https://mars.nasa.gov/system/downloadable_items/39099_Mars-MRO-orbiter-fresh-crater-sirenum-fossae.jpg"
    private static let source64 =
        "aHR0cHM6Ly9tYXJzLm5hc2EuZ292L3N5c3RlbS9kb3dubG9hZGFibGVfaXRlbXMvMzkwOTlfTWFycy1NUk8tb3JiaXRlci1mcmVz"
        + "aC1jcmF0ZXItc2lyZW51bS1mb3NzYWUuanBn"

    private func dialect() throws -> ImgproxyDialect {
        var settings = ImgproxyDialect.Settings()
        (settings.keys, settings.salts) = (["key"], ["salt"])
        settings.presets = ["blurry": "bl:4"]
        return try ImgproxyDialect(
            settings,
            keys: [
                "ee3b0e07dfc9ec20d5d9588a558753547a8a88c48291ae96171330daf4ce2800",
                "8dd0e39bb7b14eeaf02d49e5dc76d2bc0abd9e09d52e7049e791acd3558db68e",
            ].map { Array($0.utf8) })
    }

    @Test(
        "Each is signed and understood",
        arguments: [
            ("-Yjvn3RD2HGMMEqC4S5aJx1aNvPLbFN6AKjvV9mi4tc", "w:200/h:200/rt:fit/ex:1"),
            ("2xXSSBAfbLQNvlEPi-FGJZRK2pgBopC11VeJYM_gFiA", "w:200/h:200"),
            ("EzCQHyN_dfw3wdid1qjfSCdf6c31Z6tKkI3zE-Lckjk", "w:100/h:100/rt:fill"),
            ("H8yD6Q0BmkpSjNDSiofLZ2fzOjEmDMSL3h8RE8Oo3eU", "w:100/h:100/f:jpeg/rt:fit/ex:1"),
            ("PRtIp4f50XCCOteeXFFFFo5qncdpskphuQXqQWZOXbI", "w:200/h:200/f:jpeg/rt:fit/ex:1"),
            ("QNNbZATX7ZEkJIHPqdHhPVfu5UDXd4I9DnI2FW3-gLU", "w:200"),
            ("T4QMy0OqZQh22y1qFuvVwVb5xzB3W9Lv89jp0LAxIBg", "z:0.2:0.2"),
            ("UnTMGu4VEx4GJv7j7CHbocZZc1g-fi6xVRO2tlhhW_c", "rs:fit:100:100:1:1/bg:FFCC00"),
            (
                "WUlQoXFU71rFZN2s8vMUJLh4LomoByiVnrNgYaand_I",
                "dpr:0.1/ex:1/exar:1:no:0:1/rot:180/bg:255:255:0/sh:10/pix:10"
                    + "/sm:1/kcr:0/scp:1/mb:10/cb:test/exp:4106340630/fn:test/bl:100"
            ),
            ("WXejzmQgSgc9SrNI20nFLoaBX4fs_gJmbR-ssfwr9FU", ""),
            ("XPxjQfnr7MqgmPlj92qAw_90dGlTn7n8vo5ZZ7c506g", "h:200"),
            ("ZCQc_VbvdkTgQkqe1me6Mv0SO12gz_iO-CTxJ45mrJM", "g:noea/c:500:500/rt:fit"),
            ("ZbjARlwSeHhG9OG7w8igXwzvPHjzBaz3lG0kfmb77O8", "w:100/h:100/rt:fit"),
            ("d8sZz8HBsm-p0uaSm22y_lHDl8_U5RMGmzFsD2XYzS8", "pr:blurry"),
            ("l24NcKdpeyE88PPZESXTFH-_wNCbocsqLgdQiZsjCis", "w:100/h:100/mw:2000/mh:2000"),
            ("lSbqjZ91zpwxXdlSMswCc-L1-sD4ue2ni0iBEyYV_bU", "el:1/w:500/h:500/rt:force"),
            ("qC79sRaWwffPijUfzS7SXNA8YSg4Yu7GdasKJBEBiME", "w:100/h:100/rt:fit/ex:1"),
            ("qaTooRhF4CIcNYJRAPxuPdpr3ha5uWgD0H7y4GmeFwM", "w:100/h:100/raw:1"),
            ("r7UYCvCFcNbvdQT4tIsccCPDXR4TLatrZ4VLnnymH80", "ar:1"),
            ("uPrGTBiiJR6kaDHLszYcEfku5A2QcFJ4kbkHADd9pP8", "att:1"),
            ("vf-rueQkoR79Ebq3S58MtBpEE3dEU0zUhHiv3quFUOY", "rt:fit/w:100/h:100"),
        ])
    func understood(signature: String, options: String) throws {
        let path = (["", signature] + options.split(separator: "/").map(String.init) + [Self.source64])
            .joined(separator: "/")

        let translation = try dialect().translate(DialectTarget(path, now: 1_700_000_000))

        #expect(translation.isSigned && translation["url"] == Self.source)
        if let transform = Self.meanings[options] { #expect(translation["transform"] == transform) }
        let changed = path.replacing("/\(signature)/", with: "/\(signature)/w:1/")
        #expect(throws: TranslationError.self) { try dialect().translate(DialectTarget(changed)) }
    }

    /// The operations of some.
    private static let meanings: [String: String?] = [
        "w:200": "resize:size=200x",
        "w:200/h:200": "resize:size=200x200",
        "ar:1": nil,
        "": nil,
        "att:1": nil,
        "pr:blurry": "blur:4",
        "w:100/h:100/raw:1": nil,
        "w:100/h:100/rt:fill": "resize:size=100x100:mode=crop",
        "rt:fit/w:100/h:100": "resize:size=100x100",
        "el:1/w:500/h:500/rt:force": "resize:size=500x500:mode=fill:enlarge=1",
    ]

    @Test("Without a key it writes 'unsafe'")
    func unsafe() throws {
        let translation = try ImgproxyDialect(ImgproxyDialect.Settings()).translate(
            DialectTarget("/unsafe/w:200/\(Self.source64)"))

        #expect(translation["transform"] == "resize:size=200x" && translation["url"] == Self.source)
    }
}
