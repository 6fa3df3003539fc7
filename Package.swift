// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

/// One policy for every Swift target: what the compiler can check, it checks, and a warning fails the build.
let policy: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
]

/// Tests may use unsafe pointers without a comment on each.
let testPolicy = policy.dropLast(2) + [.treatAllWarnings(as: .error)]

let package = Package(
    name: "imageproxyd",
    products: [
        .executable(name: "imageproxyd", targets: ["ImageProxyd"]),
        .library(name: "HTTPServer", targets: ["HTTPServer"]),
        .library(name: "ProxyCore", targets: ["ProxyCore"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    ],
    targets: [
        // C targets: module maps and header-only shims, each imported by one or two files.
        .systemLibrary(name: "CLinux"),
        .systemLibrary(
            name: "CVips", pkgConfig: "vips", providers: [.apt(["libvips-dev"])]),
        .systemLibrary(
            name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(
            name: "CSystemd", pkgConfig: "libsystemd", providers: [.apt(["libsystemd-dev"])]),
        .systemLibrary(
            name: "CSeccomp", pkgConfig: "libseccomp", providers: [.apt(["libseccomp-dev"])]),

        .target(name: "HTTPServer", dependencies: ["CLinux"], swiftSettings: policy),
        .target(
            name: "ProxyCore",
            dependencies: [
                "CLinux", "CVips", "CCurl", "CSeccomp", "CZlib",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ],
            swiftSettings: policy),
        .executableTarget(
            name: "ImageProxyd",
            dependencies: [
                "CLinux", "CSystemd", "HTTPServer", "ProxyCore",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: policy),

        .executableTarget(
            name: "demo-origin", dependencies: ["CLinux", "HTTPServer"], path: "demo/Origin",
            swiftSettings: policy),

        .executableTarget(
            name: "bench-fill", dependencies: ["ProxyCore"], path: "bench/Fill", swiftSettings: policy),
        .executableTarget(
            name: "bench-hit-ratio", dependencies: ["ProxyCore"], path: "bench/HitRatio",
            swiftSettings: policy),
        .executableTarget(
            name: "bench-workers", dependencies: ["CLinux", "ProxyCore"], path: "bench/Workers",
            swiftSettings: policy),

        .executableTarget(
            name: "bench-memory", dependencies: ["CLinux", "ProxyCore"], path: "bench/Memory",
            swiftSettings: policy),
        .executableTarget(
            name: "bench-work", dependencies: ["CLinux", "ProxyCore"], path: "bench/Work",
            swiftSettings: policy),

        // Answers look-ups of names in .test, in the tests' process only.
        .target(name: "CTestResolver", path: "Tests/CTestResolver"),
        .target(
            name: "TestSupport", dependencies: ["CLinux", "CSeccomp", "CTestResolver", "CZlib"],
            path: "Tests/TestSupport",
            swiftSettings: Array(testPolicy)),
        .testTarget(
            name: "HTTPServerTests", dependencies: ["HTTPServer", "TestSupport"],
            swiftSettings: Array(testPolicy)),
        .target(
            name: "ImageTestSupport", dependencies: ["CLinux", "CVips", "ProxyCore"],
            path: "Tests/ImageTestSupport", swiftSettings: Array(testPolicy)),
        .testTarget(
            name: "ProxyCoreTests", dependencies: ["ProxyCore", "ImageTestSupport", "TestSupport"],
            swiftSettings: Array(testPolicy)),
        .testTarget(
            name: "ImageProxydTests",
            dependencies: ["ImageProxyd", "HTTPServer", "ProxyCore", "TestSupport"],
            swiftSettings: Array(testPolicy)),
    ],
    swiftLanguageModes: [.v6]
)
