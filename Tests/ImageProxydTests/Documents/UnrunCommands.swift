// SPDX-License-Identifier: Apache-2.0

/// The commands of the documentation that no test runs as they stand, each with the reason.
///
/// A new command fails the tests until it runs there or stands here.
enum UnrunCommands {
    static let reasons: [String: String] = {
        let make = "builds in release mode, which takes minutes; another test runs what it starts"
        let bench = "measures for minutes"
        let nextcloud = "is a program of Nextcloud"
        let systemd = "needs systemd as the first process"
        let otherProxy = "asks another image proxy, which is not there"
        return [
            "make demo": make + " (ScriptTests)",
            "make run": make + " (DaemonProcess)",
            "make bench": bench,
            "BENCH_ROUNDS=1 BENCH_SECONDS=1 BENCH_PARTS=hits bench/run": bench,
            "BENCH_PARTS=misses bench/run": bench,
            "imageproxyd top --json --interval 10 >> stats.jsonl": "ends with a signal alone (TopTests)",
            "apt install ./imageproxyd_0.1.0_amd64.deb":
                "changes the machine; deploy/check-package runs it in a chroot",
            """
            helm install pictures deploy/helm --set-json 'settings={"security":{"sources":["https://images.example.org/*"]}}'
            """: "needs Kubernetes; deploy/check-deployment renders the chart",
            "imageproxyd serve --config config.json": "ends with a signal alone; DaemonProcess starts it so",
            #"occ config:system:set enabledPreviewProviders 0 --value 'OC\Preview\Imaginary'"#: nextcloud,
            "occ config:system:set preview_imaginary_url --value 'http://127.0.0.1:9000'": nextcloud,
            "occ config:system:set preview_max_x --value 2048 --type integer": nextcloud,
            "occ config:system:set preview_max_y --value 2048 --type integer": nextcloud,
            "imageproxyd shared check --config /etc/imageproxyd/config.json": "needs a bucket and its keys",
            "systemctl reload-or-restart imageproxyd": systemd,
            "systemctl reload imageproxyd": systemd,
            "journalctl -u imageproxyd IMAGEPROXYD_PROBLEM=upstream_unreachable": systemd,
            "cd /var/log/nginx": "is a folder of nginx; the next line runs elsewhere",
            """
            cut -d' ' -f1 theirs.log | sort -u | shuf -n 200 | while read -r target; do
                curl -s -o /tmp/theirs "http://thumbor:8888$target"
                curl -s -o /tmp/ours "http://127.0.0.1:8080$target"
                [ "$(vipsheader /tmp/theirs | cut -d' ' -f2)" = "$(vipsheader /tmp/ours | cut -d' ' -f2)" ] || echo "$target"
            done
            """: otherProxy,
        ]
    }()
}
