// SPDX-License-Identifier: Apache-2.0

import Primitives

/// The second listener, for operators: metrics, purging, what is cached and what failed. Configuration: `admin`.
struct AdminConfiguration: SettingGroup {
    var listen = ["auto"]
    var token = ""

    static let settings = SettingTable<Self>("The listener for operators.", reload: .needsRestart) {
        Setting(
            "listen", \.listen,
            """
            Addresses as in `listen`; `auto` is `admin.sock` in `$RUNTIME_DIRECTORY`, else in the cache folder, else
            `imageproxyd-admin.sock` in `$XDG_RUNTIME_DIR`, else none. Empty: none.
            """)
        Setting(
            "token", \.token, isSecret: true, reload: .takes,
            """
            Where the bearer token is: a file's path, or `credential:NAME`; none is allowed on loopback and unix sockets
            only.
            """)
    }
}
