# SPDX-License-Identifier: Apache-2.0
# `make run` and `make test` do all the set-up themselves, on Debian 12 with a Swift toolchain.

PREFIX ?= /usr
PACKAGES := libcurl4-openssl-dev libvips-dev libsystemd-dev libsqlite3-dev libseccomp-dev zlib1g-dev pkg-config ca-certificates

# Exclusive access is proved while compiling, and where that can't be, checked by every test: debug builds do. A release
# does without the second check, which is a tenth of a hit's own instructions. The modules are optimized as one program,
# and values are copied by code of their own instead of the runtime's tables: together another tenth.
# What debuggers read is compressed, and names the build that it is of; `make install` puts it into a file of its own.
# scripts/no-icu-data.c says what it is for.
NO_ICU_DATA := .build/no-icu-data.o
RELEASE := swift build -c release \
	-Xlinker --defsym=icudt76_dat=no_icu_data -Xlinker $(CURDIR)/$(NO_ICU_DATA) \
	-Xlinker --compress-debug-sections=zlib -Xlinker --build-id \
	--static-swift-stdlib -Xswiftc -enforce-exclusivity=unchecked \
	-Xswiftc -cross-module-optimization -Xswiftc -Xfrontend -Xswiftc -disable-type-layout

.PHONY: help packages build install run demo gallery bench drills test test-asan test-tsan soak soak-attacked drill-workers check-units lint clean

help:
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /: /'

packages: ## installs the system packages that are missing
	@scripts/install-packages $(PACKAGES)

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

demo: build ## works offline: a local origin with the sample photos, and the daemon allowed to ask it
	$(RELEASE) --product demo-origin
	@demo/run

gallery: build ## renders every operation on three pictures into .build/gallery/index.html
	$(RELEASE) --product demo-origin
	@demo/gallery/run

bench: build ## CPU per request beside nginx and vipsthumbnail, in one run
	@scripts/install-packages nginx-light wrk libvips-tools gcc libc6-dev python3
	$(RELEASE) --product bench-fill
	$(RELEASE) --product bench-hit-ratio
	bench/run

test: packages ## builds and runs every test, or those that FILTER=… names
	@scripts/test $(FILTER)

# scripts/test-sanitized says what is left out, and why.
test-asan: packages ## builds and runs the tests under the address sanitizer
	scripts/test-sanitized address

test-tsan: packages ## builds and runs the tests under the thread sanitizer
	scripts/test-sanitized thread

soak: build ## an hour, or SOAK_SECONDS=…, of good and hostile clients at once; fails on a wrong answer or on growth
	@scripts/install-packages python3
	soak/run

soak-attacked: build ## ten minutes, or ATTACK_SECONDS=…, of four attacks beside innocent clients; fails on an error for one of those
	@scripts/install-packages python3
	soak/attacked

drill-workers: packages ## ends and poisons workers under load, ROUNDS=… times
	swift build --build-tests
	DRILL_ROUNDS=$(or $(ROUNDS),60) swift test --skip-build --filter WorkerDrillTests

check-units: ## has systemd itself judge the units
	deploy/check-units

lint: ## checks format and the walls between the rooms
	swift format lint --strict --parallel --recursive Package.swift Sources Tests demo fuzz bench/Fill bench/HitRatio bench/Work
	scripts/check-walls

clean: ## removes what was built
	rm -rf .build

.PHONY: fuzz
fuzz: ## tries the grammars of requests under libFuzzer for ten minutes, or SECONDS=…
	scripts/fuzz $(or $(SECONDS),600)

drills: build ## breaks what the daemon lives on, in every way of docs/durability.md
	drills/run

drill-%: build ## one of them: kill, purge, disk-full, read-only, vanish, forbidden, damage, index, bits, two, drain, rebinding
	drills/run $*
