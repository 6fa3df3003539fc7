# SPDX-License-Identifier: Apache-2.0
# `make run` and `make test` do all the set-up themselves, on Debian 12 with a Swift toolchain.

PACKAGES := libcurl4-openssl-dev libvips-dev libsystemd-dev libsqlite3-dev libseccomp-dev pkg-config ca-certificates

.PHONY: help packages build run test lint clean

help:
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /: /'

packages: ## installs the system packages that are missing
	@scripts/install-packages $(PACKAGES)

build: packages ## builds in release mode
	swift build -c release --product imageproxyd

run: build ## builds and serves on 127.0.0.1:8080 with embedded defaults
	.build/release/imageproxyd serve

test: packages ## builds and runs every test
	swift build --build-tests
	swift test --skip-build

lint: ## checks format and the walls between the rooms
	swift format lint --strict --parallel --recursive Package.swift Sources Tests
	scripts/check-walls

clean: ## removes what was built
	rm -rf .build

.PHONY: fuzz
fuzz: ## tries the grammars of requests under libFuzzer for ten minutes, or SECONDS=…
	scripts/fuzz $(or $(SECONDS),600)
