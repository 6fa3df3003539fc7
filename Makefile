# SPDX-License-Identifier: Apache-2.0
# `make run` and `make test` install what they need, on Debian 12 with a Swift toolchain.

PREFIX ?= /usr
PACKAGES := libcurl4-openssl-dev libssl-dev libvips-dev libsystemd-dev libsqlite3-dev libseccomp-dev zlib1g-dev libcmark-gfm-dev libcmark-gfm-extensions-dev pkg-config ca-certificates curl binutils
# What the tests need besides: a real object store, what runs the scripts of docs/clients, nginx and the other programs of
# deploy/fronts, Prometheus, which scrapes the daemon and evaluates the alerts, and a browser for the pages.
TEST_PACKAGES := python3-swift python3-venv nodejs nginx-light varnish haproxy caddy prometheus chromium chromium-driver
# Python packages of the tests.
TEST_MODULES := opentelemetry-proto==1.38.0
PACKAGING := debhelper lintian chrpath python3 mmdebstrap skopeo umoci python3-yaml golang-go

# The compiler proves exclusive access where it can; debug builds, and so all tests, check the rest at run time. A release
# omits the run-time check, which is a tenth of a hit's own instructions. The modules that a hit passes through are optimized as one program,
# and values are copied by generated code instead of the runtime's layout tables: together another tenth.
# Debug information is compressed, and carries the build's id; `make install` moves it into a file of its own.
# No symbol is exported, since nothing is loaded that would look for one. All are bound at the start, and the table of
# them is then read-only.
# The toolchain's lld packs the 110,000 relocations of addresses within the program into bitmaps (glibc 2.36): 2.8 MB less
# to read and keep in memory, and it links in half the time of gold, the default, which can't.
PROGRAM := .build/release/imageproxyd
# What the program is made of, folders too, since they change when a file is removed. SwiftPM takes seconds to find that
# nothing has changed; make does not. After a change of the toolchain: `make clean`.
SOURCES = $(shell find Makefile Package.swift Sources deploy/* docs/* *.md \
	bench/README.md demo/photos/README.md)
RELEASE := swift build -c release \
	-Xlinker --compress-debug-sections=zlib -Xlinker --build-id \
	-Xlinker --no-export-dynamic -Xlinker -z -Xlinker relro -Xlinker -z -Xlinker now \
	-Xswiftc -use-ld=lld -Xlinker -z -Xlinker pack-relative-relocs \
	--static-swift-stdlib -Xswiftc -enforce-exclusivity=unchecked \
	-Xswiftc -Xfrontend -Xswiftc -disable-type-layout

.PHONY: help packages build install package image check-package check-image check-deployment run demo gallery bench drills docs test test-release test-asan test-tsan soak soak-attacked drill-workers drill-cluster documents document-commands docc check-units lint clean

help:
	@grep -E '^[a-z%-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /: /'

packages: ## installs the system packages that are missing
	@scripts/install-packages $(PACKAGES)

.PHONY: test-packages
test-packages:
	@scripts/install-packages $(TEST_PACKAGES)
	@scripts/python-modules $(TEST_MODULES)

build: packages $(PROGRAM) ## builds in release mode

# The program gets the time at which its build began: what is changed meanwhile is newer.
$(PROGRAM): $(SOURCES) | packages
	@scripts/toolchain
	@mkdir -p .build && touch .build/began
	$(RELEASE) --product imageproxyd || { scripts/explain-build; exit 1; }
	@touch -r .build/began $@

install: build ## puts the program and its units where systemd finds them (DESTDIR, PREFIX, UNITS)
	@scripts/install-packages binutils
	DESTDIR='$(DESTDIR)' PREFIX='$(PREFIX)' UNITS='$(UNITS)' scripts/install

package: build ## makes the Debian package in .build/package
	@scripts/install-packages $(PACKAGING)
	scripts/package

image: package ## makes the OCI image in .build/image, without a container engine
	scripts/image

check-package: ## looks at the package with lintian; installs, uses and purges it in a chroot without Swift (root)
	@scripts/install-packages $(PACKAGING)
	deploy/check-package

check-image: ## looks at the image with skopeo and umoci, and runs it in a chroot (root)
	@scripts/install-packages $(PACKAGING)
	deploy/check-image

check-deployment: ## checks deploy/compose.yaml and, deploy/helm as Go renders it, by kubernetes-validate (PyPI)
	@scripts/install-packages $(PACKAGING) python3-venv
	@FOLDER=.build/python-deployment scripts/python-modules kubernetes-validate==1.37.0 PyYAML==6.0.3
	.build/python-deployment/bin/python deploy/check-deployment

run: build ## builds and serves on 127.0.0.1:8080 with embedded defaults
	$(PROGRAM) serve

demo: build ## runs offline: a local origin with the sample photos, and a daemon that may fetch from it
	$(RELEASE) --product demo-origin
	@demo/run

gallery: build ## renders every operation on three pictures into .build/gallery/index.html
	$(RELEASE) --product demo-origin
	@demo/gallery/run

bench: build ## measures CPU per request of the daemon, nginx and vipsthumbnail in one run
	@scripts/install-packages nginx-light wrk libvips-tools gcc libc6-dev python3
	$(RELEASE) --product bench-fill
	$(RELEASE) --product bench-hit-ratio
	bench/run

test: packages test-packages ## builds and runs every test, or those that FILTER=… names
	@scripts/test $(FILTER)

test-release: build packages test-packages ## runs the tests that start the program, and three drills, on the release build
	scripts/test-release $(PROGRAM)

# scripts/test-sanitized lists the tests that are omitted, and why.
test-asan: packages test-packages ## builds and runs the tests under the address sanitizer
	scripts/test-sanitized address

test-tsan: packages test-packages ## builds and runs the tests under the thread sanitizer
	scripts/test-sanitized thread

soak: build ## runs good and hostile clients at once for an hour, or SOAK_SECONDS=…; fails on a wrong answer or on growth
	@scripts/install-packages python3
	soak/run

soak-attacked: build ## runs four attacks beside regular clients for ten minutes, or ATTACK_SECONDS=…; fails if a regular client gets an error
	@scripts/install-packages python3
	soak/attacked

document-commands: ## runs every command and URL of the documents, and lists them
	swift build --build-tests
	swift test --skip-build --filter DocumentCommandTests
	@cat .build/debug/document-commands.txt .build/debug/document-urls.txt

documents: ## writes the tables of docs/configuration.md, docs/origins.md and docs/metrics.md, config.example.json, and the dashboard, from what the code declares, and the figures of docs/scaling.md
	swift build --build-tests
	DOCUMENT=1 swift test --skip-build --filter 'SettingsPageTests|MetricsPageTests|DashboardTests'
	bench/cluster --write docs/scaling.md

docs: build ## writes the documentation as a static site into .build/docs, or DOCS=…
	.build/release/imageproxyd docs '$(or $(DOCS),.build/docs)'

drill-workers: packages ## kills workers and sends them crashing pictures under load, ROUNDS=… times
	swift build --build-tests
	DRILL_ROUNDS=$(or $(ROUNDS),60) swift test --skip-build --filter WorkerDrillTests

drill-cluster: build ## runs five nodes with a shared tier in network namespaces, and breaks parts of them (root)
	@scripts/install-packages haproxy python3-swift iproute2
	drills/cluster.py

docc: packages ## makes the DocC archives of the libraries in .build/docc, without a warning
	scripts/docc

check-units: ## verifies the units with systemd-analyze
	deploy/check-units

lint: ## checks the format, the import rules, and that docs/scaling.md has the figures of bench/cluster
	swift format lint --strict --parallel --recursive Package.swift Sources Tests demo fuzz bench
	scripts/check-rules
	bench/cluster --check docs/scaling.md

clean: ## removes the build
	rm -rf .build

.PHONY: fuzz
fuzz: ## fuzzes the request parsers with libFuzzer for ten minutes, or SECONDS=…
	scripts/fuzz $(or $(SECONDS),600)

drills: build ## runs every failure drill of docs/durability.md
	drills/run

drill-%: build ## runs one drill: kill, purge, disk-full, read-only, vanish, forbidden, damage, index, bits, two, drain, restart, rebinding, watchdog
	drills/run $*
