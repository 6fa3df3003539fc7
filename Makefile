# SPDX-License-Identifier: Apache-2.0
# `make run` and `make test` install what they need, on Debian 12 with a Swift toolchain.

PREFIX ?= /usr
PACKAGES := libcurl4-openssl-dev libvips-dev libsystemd-dev libsqlite3-dev libseccomp-dev zlib1g-dev pkg-config ca-certificates curl binutils
# What the tests need besides: a real object store.
TEST_PACKAGES := python3-swift

# The compiler proves exclusive access where it can; debug builds, and so all tests, check the rest at run time. A release
# omits the run-time check, which is a tenth of a hit's own instructions. The modules are optimized as one program,
# and values are copied by generated code instead of the runtime's layout tables: together another tenth.
# Debug information is compressed, and carries the build's id; `make install` moves it into a file of its own.
# scripts/no-icu-data.c says what it is for.
NO_ICU_DATA := .build/no-icu-data.o
RELEASE := swift build -c release \
	-Xlinker --defsym=icudt76_dat=no_icu_data -Xlinker $(CURDIR)/$(NO_ICU_DATA) \
	-Xlinker --compress-debug-sections=zlib -Xlinker --build-id \
	--static-swift-stdlib -Xswiftc -enforce-exclusivity=unchecked \
	-Xswiftc -Xfrontend -Xswiftc -disable-type-layout

.PHONY: help packages build install run demo gallery bench drills test test-asan test-tsan soak soak-attacked drill-workers documents check-units lint clean

help:
	@grep -E '^[a-z%-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /: /'

packages: ## installs the system packages that are missing
	@scripts/install-packages $(PACKAGES)

.PHONY: test-packages
test-packages:
	@scripts/install-packages $(TEST_PACKAGES)

$(NO_ICU_DATA): scripts/no-icu-data.c
	@mkdir -p $(@D)
	clang -c -O2 -o $@ $<

build: packages $(NO_ICU_DATA) ## builds in release mode
	$(RELEASE) --product imageproxyd

install: build ## puts the program and its units where systemd finds them (DESTDIR, PREFIX, UNITS)
	@scripts/install-packages binutils
	DESTDIR='$(DESTDIR)' PREFIX='$(PREFIX)' UNITS='$(UNITS)' scripts/install

run: build ## builds and serves on 127.0.0.1:8080 with embedded defaults
	.build/release/imageproxyd serve

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

# scripts/test-sanitized lists the tests that are omitted, and why.
test-asan: packages test-packages ## builds and runs the tests under the address sanitizer
	scripts/test-sanitized address

test-tsan: packages test-packages ## builds and runs the tests under the thread sanitizer
	scripts/test-sanitized thread

soak: build ## runs good and hostile clients at once for an hour, or SOAK_SECONDS=…; fails on a wrong answer or on growth
	@scripts/install-packages python3
	soak/run

soak-attacked: build ## runs four attacks beside innocent clients for ten minutes, or ATTACK_SECONDS=…; fails if an innocent client gets an error
	@scripts/install-packages python3
	soak/attacked

documents: ## writes the tables of docs/configuration.md, docs/origins.md and docs/metrics.md, and config.example.json, from what the code declares
	swift build --build-tests
	DOCUMENT=1 swift test --skip-build --filter 'SettingsPageTests|MetricsPageTests'

drill-workers: packages ## kills workers and sends them crashing pictures under load, ROUNDS=… times
	swift build --build-tests
	DRILL_ROUNDS=$(or $(ROUNDS),60) swift test --skip-build --filter WorkerDrillTests

check-units: ## verifies the units with systemd-analyze
	deploy/check-units

lint: ## checks the format and the import rules
	swift format lint --strict --parallel --recursive Package.swift Sources Tests demo fuzz bench/Fill bench/HitRatio bench/Work
	scripts/check-rules

clean: ## removes the build
	rm -rf .build

.PHONY: fuzz
fuzz: ## fuzzes the request parsers with libFuzzer for ten minutes, or SECONDS=…
	scripts/fuzz $(or $(SECONDS),600)

drills: build ## runs every failure drill of docs/durability.md
	drills/run

drill-%: build ## runs one drill: kill, purge, disk-full, read-only, vanish, forbidden, damage, index, bits, two, drain, rebinding
	drills/run $*
