// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Answering
@testable import ImageProxyd

@Suite("Variables of a Kubernetes Service")
struct ServiceVariableTests {
    /// The variables of Kubernetes for the Services `imageproxyd`, with two ports, and `imageproxyd-admin`.
    private static let variables = [
        "IMAGEPROXYD_SERVICE_HOST": "10.0.171.239", "IMAGEPROXYD_SERVICE_PORT": "8080",
        "IMAGEPROXYD_SERVICE_PORT_HTTP_ALT": "8080", "IMAGEPROXYD_PORT": "tcp://10.0.171.239:8080",
        "IMAGEPROXYD_PORT_8080_TCP": "tcp://10.0.171.239:8080", "IMAGEPROXYD_PORT_8080_TCP_PROTO": "tcp",
        "IMAGEPROXYD_PORT_8080_TCP_PORT": "8080", "IMAGEPROXYD_PORT_8080_TCP_ADDR": "10.0.171.239",
        "IMAGEPROXYD_ADMIN_SERVICE_HOST": "fd00::1", "IMAGEPROXYD_ADMIN_SERVICE_PORT": "8081",
        "IMAGEPROXYD_ADMIN_PORT": "tcp://[fd00::1]:8081",
        "IMAGEPROXYD_ADMIN_PORT_8081_UDP_ADDR": "fd00::1",
    ]

    private func issues(_ environment: [String: String]) -> [String] {
        do throws(ConfigurationError) {
            _ = try ConfigurationLoader.load(.init(environment: environment))
            return []
        } catch {
            return error.issues.map(\.description)
        }
    }

    @Test("Kubernetes' variables are neither settings nor errors")
    func ignored() {
        #expect(issues(Self.variables).isEmpty)
        #expect(ConfigurationLoader.ignoredVariables(in: Self.variables) == Self.variables.keys.sorted())
    }

    @Test(
        "Kubernetes' variables are recognized by their values, too; an operator's mistake is still refused",
        arguments: [
            ("IMAGEPROXYD_PORT", "8080"), ("IMAGEPROXYD_PORT", "tcp://example.org:8080"),
            ("IMAGEPROXYD_SERVICE_HOST", "example.org"), ("IMAGEPROXYD_SERVICE_PORT", "http"),
            ("IMAGEPROXYD_SERVICE_PORT_", "80"), ("IMAGEPROXYD_PORT_8080_TCP", "8080"),
            ("IMAGEPROXYD_PORT_X_TCP_PORT", "80"), ("IMAGEPROXYD_PORT_80_TCP_PROTO", "http"),
            ("IMAGEPROXYD_EXPORT", "tcp://10.0.0.1:80"), ("IMAGEPROXYD_QUALITY_JPG", "80"),
        ])
    func mistakes(name: String, value: String) {
        #expect(issues([name: value]).first?.hasPrefix("environment \(name): unknown variable") == true)
        #expect(ConfigurationLoader.ignoredVariables(in: [name: value]).isEmpty)
    }

    @Test("The daemon starts with Kubernetes' variables, and logs which ones it ignores")
    func start() async throws {
        let proxy = try await Proxy(environment: Self.variables.map { "\($0.key)=\($0.value)" })

        #expect(try await proxy.get("/healthz").status == 200)
        #expect(proxy.daemon.log.contains("12 variables are ignored"))
        #expect(proxy.daemon.log.contains("IMAGEPROXYD_ADMIN_PORT"))
    }
}
