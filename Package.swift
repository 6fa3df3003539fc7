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

/// A release serializes the body of every function of a module that a hit passes through, as Embedded Swift does, so
/// that other modules specialize and inline it. `-cross-module-optimization` does so for `public` declarations alone,
/// and these are `package`: a memory hit took 1.45 times the instructions (swift 6.3). The other modules would only
/// make the build longer.
let hotModules: Set = [
    "Primitives", "URLs", "Bodies", "Observability", "Freshness", "Request", "Cache", "Pipeline",
]
let wholeProgram: [SwiftSetting] = [
    .unsafeFlags(
        ["-disable-cmo", "-no-emit-module-separately-wmo", "-Xfrontend", "-enable-cmo-everything"],
        .when(configuration: .release))
]

/// A module that waits for a network and reads what its operator's own servers send.
let coldModules: Set = ["Sharing"]

/// In a release, what no request waits for takes no bodies from other modules and the standard library, which is half of
/// what compiling it costs. Not for the other modules: with it a memory hit took 2.4 times the instructions, a miss 1.8
/// times (swift 6.3). Nor for those that loop over what a client sends or over pixels: a mask of 7 megapixels took ten
/// times as long, a URL of 7 KB of another proxy six times.
let withoutInlining: [SwiftSetting] = [
    .unsafeFlags(["-Xllvm", "-sil-disable-pass=performance-linker"], .when(configuration: .release))
]

/// Two modules may then both have made the same specialization of a generic function; the linker takes either.
let eitherSpecialization: [LinkerSetting] = [
    .unsafeFlags(["-Xlinker", "-z", "-Xlinker", "muldefs"], .when(configuration: .release))
]

/// Tests may use unsafe pointers without a comment on each.
let testPolicy = Array(policy.dropLast(2) + [.treatAllWarnings(as: .error)])

/// A module of the daemon: the folder of its name in `folder`, with what it imports.
///
/// ARCHITECTURE.md shows these modules; a test compares.
func module(
    _ name: String, in folder: String = "Sources/ProxyCore", imports: [String],
    libraries: [Target.Dependency] = []
) -> Target {
    .target(
        name: name, dependencies: imports.map { .byName(name: $0) } + libraries,
        path: "\(folder)/\(name)",
        swiftSettings: policy + (hotModules.contains(name) ? wholeProgram : [])
            + (coldModules.contains(name) ? withoutInlining : []),
        linkerSettings: eitherSpecialization)
}

/// The tests of a module of the daemon.
func tests(of name: String, imports: [String], libraries: [Target.Dependency] = []) -> Target {
    .testTarget(
        name: "\(name)Tests", dependencies: ([name] + imports).map { .byName(name: $0) } + libraries,
        path: "Tests/ProxyCoreTests/\(name)", swiftSettings: testPolicy)
}

/// A program that measures.
func benchmark(_ name: String, in folder: String, imports: [String]) -> Target {
    .executableTarget(
        name: "bench-\(name)", dependencies: imports.map { .byName(name: $0) }, path: "bench/\(folder)",
        swiftSettings: policy)
}

let package = Package(
    name: "imageproxyd",
    products: [
        .executable(name: "imageproxyd", targets: ["ImageProxyd"]),
        .library(name: "HTTPServer", targets: ["HTTPServer"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    ],
    targets: [
        // C targets: module maps and header-only shims, each imported by few files: scripts/check-rules counts.
        .systemLibrary(name: "CLinux"),
        .systemLibrary(
            name: "CVips", pkgConfig: "vips", providers: [.apt(["libvips-dev"])]),
        .systemLibrary(
            name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(
            name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(
            name: "CCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(
            name: "CSystemd", pkgConfig: "libsystemd", providers: [.apt(["libsystemd-dev"])]),
        .systemLibrary(
            name: "CSeccomp", pkgConfig: "libseccomp", providers: [.apt(["libseccomp-dev"])]),
        .systemLibrary(
            name: "CMarkdown", pkgConfig: "libcmark-gfm",
            providers: [.apt(["libcmark-gfm-dev", "libcmark-gfm-extensions-dev"])]),
        // The files of the pages, put into the program by the compiler.
        .target(name: "WebAssets", exclude: ["files"]),

        // From the bottom up.
        module("Primitives", imports: [], libraries: ["CCrypto", "CLinux"]),
        module("URLs", imports: ["Primitives"], libraries: ["CCurl", "CLinux"]),
        module("Dialects", imports: ["Primitives", "URLs"]),
        module("Bodies", imports: ["Primitives"], libraries: ["CLinux"]),
        module("Imaging", imports: ["Primitives"], libraries: ["CVips"]),
        module("Observability", imports: ["Primitives", "URLs"], libraries: ["CLinux"]),
        module("Tracing", imports: ["Primitives"]),
        module("Freshness", imports: ["Primitives", "Bodies", "Imaging"]),
        module(
            "Origins", imports: ["Primitives", "URLs", "Imaging", "Freshness"],
            libraries: ["CLinux"]),
        module(
            "Request", imports: ["Primitives", "URLs", "Imaging", "Freshness", "Origins"]),
        module(
            "Cache", imports: ["Primitives", "Bodies", "Imaging", "Freshness"],
            libraries: ["CLinux", "CSQLite"]),
        module(
            "Rendering", imports: ["Primitives", "Bodies", "Imaging"], libraries: ["CLinux", "CSeccomp"]),
        module(
            "Loading", imports: ["Primitives", "URLs", "Bodies", "Imaging", "Freshness", "Origins"],
            libraries: ["CCurl", "CLinux", "CZlib"]),
        module(
            "Sharing",
            imports: [
                "Primitives", "URLs", "Bodies", "Imaging", "Freshness", "Origins", "Cache", "Loading",
            ]),
        module(
            "Pipeline",
            imports: [
                "Primitives", "URLs", "Bodies", "Imaging", "Observability", "Tracing", "Freshness", "Origins",
                "Request", "Cache", "Rendering", "Loading", "Sharing",
            ],
            libraries: ["CLinux"]),

        .target(
            name: "Documents", dependencies: ["Primitives", "CMarkdown"],
            swiftSettings: policy + withoutInlining),
        .target(
            name: "HTTPServer", dependencies: ["CLinux"], swiftSettings: policy + wholeProgram,
            linkerSettings: eitherSpecialization),
        module(
            "Answering", in: "Sources/ImageProxyd",
            imports: [
                "Primitives", "URLs", "Dialects", "Bodies", "Imaging", "Observability", "Tracing",
                "Freshness", "Origins", "Request", "Cache", "Loading", "Pipeline",
            ],
            libraries: ["HTTPServer", "CLinux"]),
        .executableTarget(
            name: "ImageProxyd",
            dependencies: [
                "Answering", "Primitives", "URLs", "Dialects", "Bodies", "Imaging", "Observability",
                "Tracing",
                "Freshness", "Origins", "Request", "Cache", "Rendering", "Loading", "Sharing", "Pipeline",
                "HTTPServer",
                "CLinux", "CSystemd",
                "Documents", "WebAssets",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ],
            exclude: ["Answering"],
            swiftSettings: policy + withoutInlining),

        .executableTarget(
            name: "demo-origin", dependencies: ["CLinux", "HTTPServer"], path: "demo/Origin",
            swiftSettings: policy),

        benchmark(
            "fill", in: "Fill",
            imports: ["Primitives", "URLs", "Bodies", "Imaging", "Freshness", "Request", "Cache"]),
        benchmark(
            "hit-ratio", in: "HitRatio", imports: ["Primitives", "Bodies", "Imaging", "Freshness", "Cache"]),
        benchmark(
            "workers", in: "Workers", imports: ["CLinux", "Primitives", "Bodies", "Imaging", "Rendering"]),
        benchmark(
            "memory", in: "Memory", imports: ["CLinux", "Primitives", "Bodies", "Imaging", "Rendering"]),
        benchmark("work", in: "Work", imports: ["CLinux", "Bodies", "Imaging", "Rendering"]),

        // Answers look-ups of names in .test, in the tests' process only.
        .target(name: "CTestResolver", path: "Tests/CTestResolver"),
        // C targets of header-only shims for tests.
        .systemLibrary(name: "CTestLinux", path: "Tests/CTestLinux"),
        .systemLibrary(name: "CTestVips", path: "Tests/CTestVips", pkgConfig: "vips"),
        .target(
            name: "TestSupport",
            dependencies: ["CLinux", "CSeccomp", "CTestLinux", "CTestResolver", "CZlib"],
            path: "Tests/TestSupport", swiftSettings: testPolicy),
        .target(
            name: "ImageTestSupport", dependencies: ["CLinux", "CVips", "Bodies", "Imaging", "Rendering"],
            path: "Tests/ImageTestSupport", swiftSettings: testPolicy),
        tests(of: "Primitives", imports: ["TestSupport"]),
        tests(of: "URLs", imports: []),
        tests(of: "Dialects", imports: ["Primitives", "TestSupport"]),
        tests(of: "Bodies", imports: ["Primitives", "CLinux"]),
        tests(of: "Imaging", imports: ["Primitives", "CVips", "ImageTestSupport", "TestSupport"]),
        tests(of: "Observability", imports: ["URLs", "CLinux", "TestSupport"]),
        tests(of: "Tracing", imports: ["Primitives", "TestSupport"]),
        tests(of: "Freshness", imports: ["Primitives", "Bodies", "Imaging", "TestSupport"]),
        tests(
            of: "Origins",
            imports: ["Primitives", "URLs", "Imaging", "Freshness", "CLinux", "TestSupport"]),
        tests(
            of: "Request",
            imports: ["Primitives", "URLs", "Imaging", "Freshness", "Origins", "TestSupport"]),
        tests(
            of: "Cache", imports: ["CLinux", "Primitives", "Bodies", "Imaging", "Freshness", "TestSupport"]),
        tests(
            of: "Rendering",
            imports: [
                "Primitives", "Bodies", "Imaging", "CVips", "CTestVips", "ImageTestSupport", "TestSupport",
            ]),
        tests(
            of: "Loading",
            imports: [
                "Primitives", "URLs", "Bodies", "Imaging", "Freshness", "Origins", "CCurl", "TestSupport",
            ]),
        tests(
            of: "Sharing",
            imports: [
                "Primitives", "URLs", "Bodies", "Imaging", "Freshness", "Origins", "Cache", "Loading",
                "TestSupport",
            ]),
        tests(
            of: "Pipeline",
            imports: [
                "Primitives", "URLs", "Bodies", "Imaging", "Observability", "Tracing", "Freshness", "Origins",
                "Request", "Cache", "Rendering", "Loading", "Sharing", "ImageTestSupport", "TestSupport",
            ]),
        .testTarget(
            name: "HTTPServerTests", dependencies: ["HTTPServer", "TestSupport"], swiftSettings: testPolicy),
        .testTarget(
            name: "ImageProxydTests",
            dependencies: [
                "Primitives", "URLs", "Dialects", "Bodies", "Imaging", "Observability", "Tracing",
                "Freshness", "Origins", "Request", "Cache", "Rendering", "Loading", "Sharing", "Pipeline",
                "HTTPServer",
                "Documents",
                "Answering", "ImageProxyd",
                "ImageTestSupport", "TestSupport", "WebAssets",
            ],
            swiftSettings: testPolicy),
    ],
    swiftLanguageModes: [.v6]
)
