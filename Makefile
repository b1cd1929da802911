# What people type: run, test. What contributors type: lint, bench, fuzz, build.

SHELL := /bin/bash
.DEFAULT_GOAL := build

# Caddy's optional storage drivers are not needed; without them the binary is smaller.
export GOFLAGS := -buildvcs=false -tags=nobadger,nomysql,nopgx

# Where .ci/setup puts a newer Node.js when the one of the system is too old.
export PATH := $(CURDIR)/build/node/node_modules/.bin:$(PATH)

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
LDFLAGS := -s -w -X github.com/svc-gateway/svc/internal/settings.Version=$(VERSION)
LINT    := build/bin/golangci-lint

# Packages without Caddy are tested with the race detector; those that link it take minutes to
# build with it, and are tested as they are shipped.
PLAIN := ./agents/... ./audit/... ./internal/... ./policy/... ./scanner/...
CADDY := ./bench/... ./caddymodule/... ./cmd/service/...
# The helper with DuckDB needs a C++ compiler; where there is none the service is built without it.
DUCK := ./cmd/svc-duck/...
# What these look at, the source as a whole and the program, go test does not know to be their input.
WHOLE := . ./testscript/...

GO_TEST  := go test -timeout 30m
FUZZTIME ?= 60s

.PHONY: run test build duck lint bench fuzz setup compiler go

## run: build, start with token authentication, ask a first question, keep serving
run: compiler build
	@.ci/first-run build/service

## test: install what the tests need, then run all of them
test: go setup
	$(MAKE) duck
	SVC_DUCK=$(CURDIR)/build/svc-duck CGO_ENABLED=1 $(GO_TEST) -race $(PLAIN)
	CGO_ENABLED=1 $(GO_TEST) $(DUCK)
	CGO_ENABLED=0 $(GO_TEST) $(CADDY)
	SVC_DUCK=$(CURDIR)/build/svc-duck CGO_ENABLED=0 $(GO_TEST) -count=1 $(WHOLE)

## build: the service as it is shipped, build/service, and its helper build/svc-sandbox beside it
build: go
	CGO_ENABLED=0 go build -trimpath -ldflags '$(LDFLAGS)' -o build/service ./cmd/service
	CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o build/svc-sandbox ./cmd/svc-sandbox
	@if [ "$$(go env GOOS)" != linux ]; then \
	  echo 'make: svc-duck is built for Linux only: the service runs without the analytical database.' >&2; \
	elif command -v g++ >/dev/null && echo '#include <cstdio>' | g++ -E -x c++ - >/dev/null 2>&1; then \
	  $(MAKE) --no-print-directory duck; \
	else \
	  echo 'make: without g++ there is no svc-duck: the service runs without the analytical database.' >&2; \
	fi

## duck: the helper with the analytical database, build/svc-duck
duck: go
	CGO_ENABLED=1 go build -trimpath -ldflags '-s -w' -o build/svc-duck ./cmd/svc-duck

## lint: gofumpt and the linters named in .golangci.yml
lint: go $(LINT)
	$(LINT) run ./...

$(LINT): .ci/lint-version
	@mkdir -p build/bin
	GOFLAGS= GOBIN=$(CURDIR)/build/bin go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$$(cat .ci/lint-version)
	@touch $@

## bench: stages against bare Caddy, runs end to end, audit against bare SQLite
bench: build
	go run ./bench -binary build/service $(BENCHFLAGS)

## fuzz: every fuzz target for FUZZTIME (60s)
fuzz: go
	.ci/fuzz $(FUZZTIME)

setup:
	@.ci/setup

# The service runs without the helper, too.
compiler:
	@.ci/setup compiler || echo 'make: there is no C++ compiler, and none could be installed.' >&2

go:
	@case "$$(GOFLAGS= GO111MODULE=off go version 2>/dev/null | awk '{print $$3}')" in \
	  '' | go1.? | go1.?.* | go1.1[0-9]* | go1.20*) \
	    echo 'make: Go 1.21 or newer is needed (https://go.dev/doc/install); it fetches the version in go.mod by itself.' >&2; exit 1;; \
	esac
