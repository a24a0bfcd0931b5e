SHELL       := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# All is built without cgo, as the programs and the control plane of the tests are: what both need is compiled once.
export CGO_ENABLED := 0

# Folders that hold API types, and areas that have CRDs generated from them.
API_DIRS  := $(sort $(wildcard */v1alpha1 */v1beta1 internal/testing/*/v1alpha1))
CRD_AREAS := $(filter-out examples,$(patsubst %/crds,%,$(sort $(wildcard */crds internal/testing/*/crds))))

# Everything that "make generate" writes.
GENERATED := find . \( -name 'zz_generated.*.go' -o -path './*/crds/*.yaml' -o -path './applyconfigurations/*.go' \) -not -path './examples/*' -o -path './examples/*/rbac/*.yaml' -o -path './examples/install/*.yaml'

define generate-crds
	rm -f $(1)/crds/*.yaml
	bin/controller-gen crd $(patsubst %,paths=./%,$(filter $(1)/%,$(API_DIRS))) output:crd:dir=$(1)/crds

endef

# Types of Kubernetes that API types hold, and that client-go has configurations of.
APPLIED_CORE := Container ContainerPort ContainerResizePolicy ContainerRestartRule EnvFromSource EnvVar EphemeralContainer Lifecycle LifecycleHandler \
	LocalObjectReference NodeSelectorTerm ObjectReference PersistentVolumeClaim PodTemplateSpec PreferredSchedulingTerm Probe ProbeHandler \
	ResourceRequirements SecurityContext Toleration Volume VolumeDevice VolumeMount
APPLIED_APPS := DeploymentSpec StatefulSetCondition StatefulSetSpec
APPLIED := $(APPLIED_CORE:%=k8s.io/api/core/v1.%:k8s.io/client-go/applyconfigurations/core/v1) \
	$(APPLIED_APPS:%=k8s.io/api/apps/v1.%:k8s.io/client-go/applyconfigurations/apps/v1) \
	k8s.io/api/batch/v1.JobTemplateSpec:k8s.io/client-go/applyconfigurations/batch/v1
empty :=
space := $(empty) $(empty)

# What clients apply. A converter of types is not made: it takes the schemas of an API server.
define generate-applied
	rm -rf applyconfigurations
	bin/applyconfiguration-gen --go-header-file=internal/tools/header.txt --output-dir=applyconfigurations \
		--output-pkg=github.com/podwright/podwright/applyconfigurations \
		--external-applyconfigurations='$(subst $(space),$(,),$(strip $(APPLIED)))' $(patsubst %,./%,$(filter-out internal/%,$(API_DIRS)))
	rm -r applyconfigurations/internal applyconfigurations/utils.go
	for folder in applyconfigurations/*/*; do \
		printf '// SPDX-License-Identifier: Apache-2.0\n\n// Package %s has what clients apply of the API types in %s (server-side apply).\npackage %s\n' \
			"$$(basename "$$folder")" "$${folder#applyconfigurations/}" "$$(basename "$$folder")" >"$$folder/doc.go"; \
	done

endef

# The programs of the examples that print the RBAC objects they need.
PROGRAMS := manager nodeagent

define generate-rbac
	go run -C examples ./$(1) --print-rbac >examples/$(1)/rbac/$(1).yaml

endef

# The admission policies of an agent, those beside a manager, and those beside one that serves no webhooks.
define generate-policies
	go run -C examples ./nodeagent --print-policies >examples/nodeagent/rbac/policies.yaml
	go run -C examples ./manager --print-policies >examples/manager/rbac/policies.yaml
	go run -C examples ./manager --enable-webhooks=false --print-policies >examples/manager/rbac/policies-without-webhooks.yaml

endef

# Compilers, linkers, analyzers and tests live for minutes at most: they collect garbage less often, which takes a third off their
# work, and grow no larger than the limit if they can. Many tests run at once, the analyzers in one process.
tests  := test test-library test-examples test-long
checks := $(tests) lint lint-code lint-all check-generate
$(checks): export GOGC ?= 400
$(tests): export GOMEMLIMIT ?= 3GiB

, := ,
heading = @printf '\n== %s\n' '$(1)'

.PHONY: help
help: ## Show this list.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: demo
demo: ## Watch pods update in place on a local API server. Takes KIND=statefulset, daemonset, sidecarset, budget or spread, NODE=real and ARGS="--flag ...".
	@echo 'Compiling the demo (the first time takes minutes)'
	@go build -C examples -o ../bin/evaluate ./evaluate
	@cd examples && ../bin/evaluate $(if $(KIND),--kind=$(KIND)) $(if $(NODE),--node=$(NODE)) $(ARGS)

# Without the tracing of gRPC, a node agent is half as large: see the package comment of nodeagent.
TAGS := grpcnotrace

# Without what debuggers read, a program takes a quarter less room; stack traces and profiles have their names all the same.
LDFLAGS = -s -w$(if $(filter-out v0.0.0,$(VERSION)), -X github.com/podwright/podwright/examples/process/version.release=$(VERSION))

# The release that is built, such as v0.1.0, which programs then say of themselves.
VERSION ?= v0.0.0

.PHONY: build
build: ## Build the manager, the node agent and the kubectl plugin of the examples into bin/.
	@mkdir -p bin
	go build -C examples -tags=$(TAGS) -ldflags='$(LDFLAGS)' -o ../bin/ $(PROGRAMS:%=./%) ./kubectl-podwright

# Properties are checked on the same cases in each run, so that a change passes or fails for what it changes. "go test" alone
# draws other ones each time, and so does test-long, ten times as many.
test: export RAPID_SEED := 1

.PHONY: test
test: test-tools test-library test-controllerruntime test-kit test-monitoring test-gitops test-examples ## Run what a change must pass, from plans to real nodes.

.PHONY: test-long
test-long: lint-all test-properties test-histories soak test-plans test-all-examples test-demos ## Run what is long by nature: many random cases and histories, faults of many seeds, all tests on real nodes, all demos.

# "make lint" vets the modules that these test, more strictly.
GOTEST := go test -vet=off

.PHONY: test-library
test-library: test-oldest ## Run the tests of the library: no cluster.
	$(call heading,test: library)
	$(GOTEST) ./...

# A module with the oldest Kubernetes libraries that the packages which do not run are good for.
OLDEST := internal/layers/testdata/kubernetes-0.34

.PHONY: test-oldest
test-oldest: # Run the tests of what does not run with Kubernetes 1.34. After a change of go.mod: go mod tidy there.
	$(call heading,test: arithmetic with Kubernetes 1.34)
	cd $(OLDEST) && packages=$$(go list -f '{{join .Imports " "}}') && go vet . && $(GOTEST) . $$packages

# The Kubernetes libraries to test with, such as v0.37.0, in place of those that go.mod asks for.
KUBERNETES ?= latest

.PHONY: test-kubernetes
test-kubernetes: ## Run the tests of the library with other Kubernetes libraries; before v0.36 those of what does not run. Takes KUBERNETES=v0.37.0.
	$(call heading,test: library with Kubernetes $(KUBERNETES))
	@folder=$$(mktemp -d); trap 'rm -rf "$$folder"' EXIT; modfile=-modfile=$$folder/go.mod; \
	case $(KUBERNETES) in \
	v0.34.* | v0.35.*) \
		cd $(OLDEST); sed 's/ v0\.34\.0$$/ $(KUBERNETES)/' go.mod >"$$folder/go.mod"; cp go.sum "$$folder"; \
		go mod tidy "$$modfile"; packages=$$(go list "$$modfile" -f '{{join .Imports " "}}') ;; \
	*) \
		cp go.mod go.sum "$$folder"; packages=./...; \
		go get "$$modfile" $(patsubst %,k8s.io/%@$(KUBERNETES),api apimachinery client-go component-helpers cri-api); go mod tidy "$$modfile" ;; \
	esac; \
	go list "$$modfile" -m k8s.io/api; \
	go vet "$$modfile" $$packages; \
	go test "$$modfile" $$packages

.PHONY: test-tools
test-tools: # Run the tests of the development tools.
	$(call heading,test: tools)
	cd internal/tools && $(GOTEST) ./...

.PHONY: test-controllerruntime
test-controllerruntime: # Run the tests of kinds in a manager of controller-runtime: of the oldest version that the adapter takes, and of that of the examples.
	$(call heading,test: controller-runtime)
	cd examples/controllerruntime/adapter && $(GOTEST) .
	cd examples && $(GOTEST) github.com/podwright/podwright/examples/controllerruntime/adapter

.PHONY: test-kit
test-kit: # Run the tests of the process around kinds: with the oldest Kubernetes libraries that it takes, and with those of the examples.
	$(call heading,test: kit)
	cd examples/kit && $(GOTEST) ./...
	cd examples && $(GOTEST) github.com/podwright/podwright/examples/kit github.com/podwright/podwright/examples/kit/leader github.com/podwright/podwright/examples/kit/webhooks

.PHONY: test-monitoring
test-monitoring: # Run the tests of metrics, alerts and dashboards, with the code of kube-state-metrics and Prometheus.
	$(call heading,test: monitoring)
	cd examples/monitoring && $(GOTEST) ./...

.PHONY: test-gitops
test-gitops: # Run the health checks of Argo CD on what plans say.
	$(call heading,test: gitops)
	cd examples/tests/gitops && $(GOTEST) ./...

# How many packages of the examples are tested at once: those that have a control plane wait more than they compute. Each takes
# a gigabyte and a half.
PACKAGES ?= 4

# Tests that fill the machine already run by themselves: kubelets, users and judges. A sample of both runs at once: they wait in turns.
# Those that take longest are first.
ALONE   := ./nodeagent/realnodes ./tests/faults
LONGEST := ./tests/e2e ./manager/app

# Takes the flags of go test.
define test-beside-another
	@$(MAKE) --no-print-directory check-nodes || echo 'SKIPPED: the tests of real nodes, in examples/tests/cluster/realnodes and examples/nodeagent/realnodes'
	cd examples && $(GOTEST) -count=1 -timeout=1h -p=$(PACKAGES) $(1) $(LONGEST) $$(go list ./... | grep -v $(ALONE:.%=-e %$$))

endef

.PHONY: test-examples
test-examples: ## Run the tests of the examples, against a real API server, and of what is long a sample.
	$(call heading,test: examples)
	$(call test-beside-another,-short)
	cd examples && $(GOTEST) -count=1 -timeout=1h -p=2 -short $(ALONE)

# How many times faults strike in test-long, each time by another seed.
FAULTS ?= 2

.PHONY: test-all-examples
test-all-examples: # Run all tests of the examples. Takes FAULTS=2.
	$(call heading,test: all of the examples)
	$(call test-beside-another)
	cd examples && $(GOTEST) -count=1 -timeout=1h ./nodeagent/realnodes
	cd examples && $(GOTEST) -count=$(FAULTS) -timeout=3h ./tests/faults

.PHONY: check-nodes
check-nodes: # Say what this machine lacks for real nodes.
	@go run -C examples ./tests/cluster/up -check

.PHONY: test-plans
test-plans: # Compare what the plugin plans with what controllers do, 10,000 times.
	$(call heading,test: plans)
	cd examples && $(GOTEST) -count=1 -timeout=1h -run Histories ./kubectl-podwright/plan -args -histories=2000

# They wait most of the time, so all run at once; but for that with real kubelets and containers.
DEMOS := cloneset statefulset daemonset sidecarset budget spread

.PHONY: test-demos
test-demos: # Run all demos.
	$(call heading,test: demos)
	@$(MAKE) --no-print-directory demo ARGS=--help >/dev/null
	@unset KUBECONFIG; $(MAKE) --no-print-directory -j --output-sync=target $(DEMOS:%=test-demo-%)
	@$(MAKE) --no-print-directory check-nodes demo NODE=real ARGS=--exit

.PHONY: $(DEMOS:%=test-demo-%)
$(DEMOS:%=test-demo-%): test-demo-%:
	@$(MAKE) --no-print-directory demo KIND=$* ARGS=--exit

.PHONY: bench
bench: ## Run the benchmarks of the library.
	go test -run '^$$' -bench . -benchmem ./...

# How many random cases of each property are checked: "go test" alone checks 100.
CASES ?= 1000

.PHONY: test-properties
test-properties: # Check properties on random cases, more than test-library does. Takes CASES=1000.
	$(call heading,test: properties)
	RAPID_CHECKS=$(CASES) $(GOTEST) -count=1 -timeout=1h $$(git grep -l '"pgregory.net/rapid"' -- '*_test.go' ':!examples' | xargs -n1 dirname | sort -u | sed 's|^|./|')

# How many histories of each workload are played: "go test" alone plays the first 10.
SEEDS ?= 100
# Of budgets more: what two webhooks allow at once is rare. Half an hour on two cores.
BUDGET_SEEDS ?= 10000

.PHONY: test-histories
test-histories: # Play random histories of workloads, more than test-library does. Takes SEEDS=100 and BUDGET_SEEDS=10000.
	$(call heading,test: histories)
	$(GOTEST) -count=1 -run '^Test(Adaptive)?Simulation$$' $(SOAKED) -args -seeds=$(SEEDS)
	$(GOTEST) -count=1 -timeout=3h -run '^TestSimulation$$' ./availability/podunavailablebudget -args -seeds=$(BUDGET_SEEDS)
	$(GOTEST) -count=1 -run '^TestEveryMinute$$' ./workloads/cronjob -args -every-minute
	$(GOTEST) -count=1 -run '^TestJobsEndInTime$$' ./sidecar/terminator -args -jobs=1000
	$(GOTEST) -count=1 -timeout=1h -run '^Test(Adaptive)?Conformance' $$(git grep -l 'internal/testing/conformance"' -- '*_test.go' ':!internal/layers' | xargs -n1 dirname | sort -u | sed 's|^|./|') -args -every-refusal

.PHONY: reseed
reseed: # Write into the tables of planted bugs by which seed a history finds each now: after a change of histories.
	go test -json -count=1 -run 'FindBugs|FindsBugs' $$(git grep -lw 'simulation.FindBugs' -- '*_test.go' | xargs -n1 dirname | sort -u | sed 's|^|./|') | \
		go run -C internal/tools ./reseed "$(CURDIR)"

.PHONY: scale
scale: # Measure the manager beside 100,000 pods, which takes minutes. Takes ARGS="-namespaces 25 -nodes 500".
	cd examples && go run ./tests/scale $(ARGS)

# How long to soak, and the packages that are soaked.
DURATION ?= 1m
SOAKED    = $(addprefix ./,$(patsubst %/,%,$(sort $(dir $(shell git grep -lw 'func TestSimulation' -- '*_test.go')))))

.PHONY: soak
soak: ## Play random histories of workloads on all cores. Takes DURATION=10m and SEED=1.
	@mkdir -p bin
	go test -count=1 -timeout=0 -v -run '^TestSimulation$$' -coverprofile=bin/soak.out \
		-coverpkg=$(subst $() ,$(,),$(SOAKED)) $(SOAKED) -args -soak=$(DURATION) $(if $(SEED),-seed=$(SEED)) | grep -Ev '^(=== |[[:space:]]*--- PASS)'
	@echo 'Functions of the planners that were not played in full:'
	@go tool cover -func=bin/soak.out | awk '$$1 ~ /\/(plan[a-z_]*|planner|snapshot)\.go/ && $$3 != "100.0%"'

# How many mutants are planted in the packages MUTATED, drawn by SEED; the packages of the sample to run, a regular expression; and the
# names of the files to change, in place of those that decide and write. What only tests are made of is left alone.
MUTANTS ?= 300
MUTATED ?= ./...
UNJUDGED := internal/testing

# Packages whose tests against an API server stand in another one.
TESTED_IN := distribution/image/imagepulljob=distribution/image distribution/image/nodeimage=distribution/image \
             lifecycle/probe/nodepodprobe=lifecycle/probe lifecycle/probe/podprobemarker=lifecycle/probe

.PHONY: mutants
mutants: export RAPID_SEED := 1
mutants: ## Plant small changes in planners and writers, and print those that the tests of the package do not see. Takes MUTANTS=300, SEED=1, MUTATED=./workloads/..., ONLY=cronjob, FILES="plan*.go", WITHOUT=Simulation; IDLE=1 prints the tests without which the others kill the same.
	@mkdir -p bin
	@go build -C internal/tools -o ../../bin/mutants ./mutants
	@bin/mutants -count=$(MUTANTS) -seed=$(or $(SEED),1) -skip='$(UNJUDGED)' -also='$(TESTED_IN)' -only='$(ONLY)' $(if $(FILES),-files='$(FILES)') -without='$(WITHOUT)' $(if $(IDLE),-idle -wait=10s) \
		-equivalents=internal/tools/mutants/equivalents.txt $(MUTATED)

.PHONY: tools
tools: # Build the development tools into bin/.
	@mkdir -p bin
	go build -C internal/tools -o ../../bin/ tool

.PHONY: generate
generate: tools ## Generate deepcopy functions, CRDs and clients from the API types, and RBAC, policies and manifests of the examples.
	bin/controller-gen object:headerFile=internal/tools/header.txt $(API_DIRS:%=paths=./%)
	$(foreach area,$(CRD_AREAS),$(call generate-crds,$(area)))
	$(generate-applied)
	go run -C internal/tools ./clients ../..
	$(foreach program,$(PROGRAMS),$(call generate-rbac,$(program)))
	$(generate-policies)
	go run -C examples ./install/generate

.PHONY: check-generate
check-generate: # Fail if a generated file is not what "make generate" makes.
	$(call heading,check-generate)
	@state=$$(mktemp -d); trap 'rm -rf "$$state"' EXIT; mkdir "$$state/before" "$$state/after"; \
	$(GENERATED) | tar cf - -T - | tar xf - -C "$$state/before"; \
	$(MAKE) --no-print-directory generate; \
	$(GENERATED) | tar cf - -T - | tar xf - -C "$$state/after"; \
	if ! diff -ruN "$$state/before" "$$state/after"; then \
		echo 'Generated files were out of date (the difference is above). They are right now: add them to your commit.' >&2; exit 1; \
	fi

# Tools that are run now and then.
APIDIFF     := golang.org/x/exp/cmd/apidiff@v0.0.0-20261113113407-e3970619a1a4
GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.9.0
CYCLONEDX   := github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0

# The commit that a change is compared with.
BASE ?= origin/main

.PHONY: api-changes
api-changes: ## Show what changes in the exported API of the library, and fail if that breaks users and CHANGELOG.md is not changed. Takes BASE=origin/main.
	$(call heading,changes of the API since $(BASE))
	@folder=$$(mktemp -d); trap 'git worktree remove --force "$$folder/base"; rm -rf "$$folder"' EXIT; \
	git worktree add --quiet --detach "$$folder/base" $(BASE); \
	(cd "$$folder/base" && go run $(APIDIFF) -m -w "$$folder/api" "$$(go list -m)"); \
	go run $(APIDIFF) -m "$$folder/api" "$$(go list -m)" | tee "$$folder/changes"; \
	if grep -q '^Incompatible changes:' "$$folder/changes" && git diff --quiet $(BASE) -- CHANGELOG.md; then \
		echo 'Incompatible changes (above), and no word about them in CHANGELOG.md.' >&2; exit 1; \
	fi

.PHONY: vulnerabilities
vulnerabilities: ## Fail if code that the library or a program of the examples calls is known to be vulnerable.
	$(call heading,vulnerabilities)
	go run $(GOVULNCHECK) ./...
	go run -C examples $(GOVULNCHECK) -tags=$(TAGS) $(PROGRAMS:%=./%) ./kubectl-podwright

.PHONY: release-files
release-files: build # Write the chart, the manifests and lists of modules (SBOM) of a release to bin/release. Takes VERSION=v0.1.0.
	$(call heading,files of the release $(VERSION))
	@rm -rf bin/release; mkdir -p bin/release
	go tool -C examples helm package install/chart --version=$(VERSION:v%=%) --app-version=$(VERSION) --destination=../bin/release
	@folder=$$(mktemp -d); trap 'rm -rf "$$folder"' EXIT; cp -r examples/install/kustomize "$$folder"; \
	go run -C examples ./install/generate -folder="$$folder" -tag=$(VERSION); \
	go tool -C examples kubectl kustomize "$$folder/kustomize" >bin/release/podwright.yaml
	$(foreach program,$(PROGRAMS),go run $(CYCLONEDX) bin -json -licenses -version=$(VERSION) -output=bin/release/podwright-$(program).cdx.json bin/$(program) &&) true

.PHONY: lint
lint: lint-format lint-words lint-surface lint-workflows lint-code ## Check formatting, words, exported names and workflows, and run the checks of go vet and staticcheck on all modules.

.PHONY: lint-format
lint-format: # Check formatting only.
	$(call heading,lint: gofmt)
	@unformatted=$$(gofmt -l .); if [ -n "$$unformatted" ]; then \
		echo "Not formatted; run gofmt -w on:" >&2; echo "$$unformatted" >&2; exit 1; \
	fi

.PHONY: lint-words
lint-words: # Check that words which hide who acts become fewer.
	$(call heading,lint: words)
	@go run -C internal/tools ./words words/limits.txt ../..

.PHONY: lint-workflows
lint-workflows: tools # Check the workflows of GitHub.
	$(call heading,lint: workflows)
	bin/actionlint

# The packages that link what Kubernetes and Helm are made of. The checks read half of all modules for these alone, which takes as long as
# for all others together: "make test-long" does.
HEAVY := examples/tests/cluster/controlplane examples/install examples/tests/podphase

# The modules beside the library.
MODULES := examples examples/controllerruntime/adapter examples/kit examples/tests/gitops examples/monitoring

# Library and examples are one workspace here, so that what both import is analyzed once.
define lint-code
	@folder=$$(mktemp -d); trap 'rm -rf "$$folder"' EXIT; export GOWORK=$$folder/go.work; \
	go work init . $(MODULES:%=./%); \
	packages=$$(go list ./... $(MODULES:%=./%/...) $(1)); \
	bin/lint $(2) -checks all $$packages
endef

.PHONY: lint-surface
lint-surface: # Check that exported names which no other package uses become fewer.
	$(call heading,lint: surface)
	@go build -C internal/tools -o ../../bin/surface ./surface
	@folder=$$(mktemp -d); trap 'rm -rf "$$folder"' EXIT; export GOWORK=$$folder/go.work; \
	go work init . $(MODULES:%=./%); \
	bin/surface internal/tools/surface/kept.txt $$(GOWORK=off go list -m) \
		$$(go list ./... $(MODULES:%=./%/...) | grep -v $(HEAVY:%=-e /%$$))

.PHONY: lint-code
lint-code: tools # Run the checks of go vet and staticcheck: minutes when cold.
	$(call heading,lint: all modules)
	$(call lint-code,| grep -v $(HEAVY:%=-e /%$$),)

.PHONY: lint-all
lint-all: tools # Run these checks on all packages, with what the code of other modules tells.
	$(call heading,lint: all packages)
	$(call lint-code,,-deep)
