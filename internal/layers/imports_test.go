// SPDX-License-Identifier: Apache-2.0

package layers

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The modules that a layer may import directly. What those need in turn is
// theirs to decide, and enters a layer only through them.
var (
	apiModules  = modules("k8s.io/api", "k8s.io/apimachinery")
	pureModules = modules("k8s.io/api", "k8s.io/apimachinery", "k8s.io/utils")
	// Controllers and webhooks may use client-go, and whatever client-go and the
	// modules above need anyhow.
	clientModules = modules("k8s.io/api", "k8s.io/apimachinery", "k8s.io/utils", "k8s.io/client-go")
)

// furtherModules may be imported by controllers and webhooks too, each for the
// reason given: a well-kept library that the field uses for exactly this. After
// the name of an area, it is for that area and for what is for tests alone.
var furtherModules = map[string]string{
	"workloads github.com/robfig/cron/v3": "schedules are read as Kubernetes reads those of its CronJobs",
	"nodeagent k8s.io/cri-api":            "the node agent speaks CRI to the container runtime",
	"nodeagent google.golang.org/grpc":    "CRI is spoken over gRPC: connections and error codes",
	"k8s.io/component-helpers":            "node affinity, taints and requests, as scheduler and kubelet judge them",
}

// testPackage matches the packages for tests alone, by their folder or by a name like that of "net/http/httptest". No
// other package imports them, and they may use what tests use.
var testPackage = regexp.MustCompile(`^internal/testing/|/fake[a-z]+$|[a-z]test$`)

// testModules may be imported by tests, and by packages for tests beside what
// controllers may import.
var testModules = modules("github.com/cockroachdb/datadriven", "github.com/google/go-cmp", "pgregory.net/rapid")

// bannedModules must not be needed by anything in this module, not even by a
// dependency: who embeds a controller would have to carry them.
var bannedModules = modules("sigs.k8s.io/controller-runtime", "k8s.io/kubernetes")

// bannedPackages must not be needed either: client-go's informers come with those of all
// kinds that there are, 118 packages. internal/typedclient makes one of any typed client.
var bannedPackages = modules("k8s.io/client-go/informers")

// areas are the folders whose controllers stand side by side: of another area,
// none imports anything but API types and their typed clients.
var areas = modules("workloads", "sidecar", "availability", "distribution", "nodeagent")

// arithmetic are the packages that are pure functions, whatever they import. Below lifecycle stand controllers and webhooks of
// pods, whatever those belong to, and what these packages decide by.
func arithmetic(path string) bool {
	return path == "inplace" || strings.HasPrefix(path, "inplace/") || path == "lifecycle" || path == "lifecycle/readiness"
}

// running returns the packages below lifecycle that run. They import client-go, or the plumbing of controllers and webhooks.
// Folders that hold such packages and have no code of their own are among them. These packages may import what controllers of an
// area may. The arithmetic and the areas never import them.
func (g graph) running() map[string]bool {
	run := map[string]bool{}
	for importPath, p := range g {
		folder, own := strings.CutPrefix(importPath, module+"/lifecycle/")
		if !own || layer(importPath, nil) != "pure" || arithmetic("lifecycle/"+folder) || !slices.ContainsFunc(p.Imports, forRunning) {
			continue
		}
		run["lifecycle/"+folder] = true
		for above := path.Dir(folder); above != "."; above = path.Dir(above) {
			if p := g[module+"/lifecycle/"+above]; p != nil && len(p.Imports) == 0 {
				run["lifecycle/"+above] = true
			}
		}
	}
	return run
}

// forRunning tells whether only packages that run need an import.
func forRunning(imported string) bool {
	at := layer(imported, nil)
	return strings.HasPrefix(imported, "k8s.io/client-go/") || strings.HasPrefix(imported, module) && (at == "root" || at == "internal" || at == "client")
}

// maxWeight is how many packages beyond the standard library a pure package may
// be, with all that it needs. k8s.io/api/core/v1 alone is 62.
const maxWeight = 75

// weightProblems lists the pure packages that need too much, sorted.
func weightProblems(g graph, limit int) []string {
	var problems []string
	running := g.running()
	for path, p := range g {
		if at := layer(path, running); p.modulePath() != module || at != "pure" && at != "api" {
			continue
		}
		if n := g.weight(path); n > limit {
			problems = append(problems, fmt.Sprintf("%s is %d packages beyond the standard library with all that it needs, want at most %d: find out by \"go list -deps\" what brings them", path, n, limit))
		}
	}
	return slices.Sorted(slices.Values(problems))
}

func modules(names ...string) map[string]bool {
	out := map[string]bool{}
	for _, name := range names {
		out[name] = true
	}
	return out
}

var versionFolder = regexp.MustCompile(`(^|/)v[0-9]+((alpha|beta)[0-9]+)?$`)

// clientFolder matches the typed clients of an area or of lifecycle, and their fakes.
var clientFolder = regexp.MustCompile(`^[a-z]+/client(/|$)`)

// plainPackages need no more than API types do, so that every package may use them. manifests says what an installation
// of a package takes. podstate reads pods, and workload reads what controls them.
var plainPackages = modules("internal/manifests", "internal/podstate", "internal/workload")

// layer says where a package of this module stands: "api", "client", "pure",
// "internal", "running", "test", "root", "manager", or the name of its area. A folder that
// has no place gives "". The packages that run are those of graph.running.
func layer(path string, running map[string]bool) string {
	path = strings.TrimPrefix(strings.TrimPrefix(path, module), "/")
	top, _, _ := strings.Cut(path, "/")
	switch {
	case path == "":
		return "root"
	case testPackage.MatchString(path):
		return "test"
	case top == "applyconfigurations":
		return "client"
	case versionFolder.MatchString(path) || plainPackages[path]:
		return "api"
	case (areas[top] || top == "lifecycle") && clientFolder.MatchString(path):
		return "client"
	case running[path]:
		return "running"
	case top == "inplace" || top == "lifecycle":
		return "pure"
	case top == "internal" || path == "manager" || areas[top]:
		return top
	}
	return ""
}

// mayImport says whether a layer may import a package of this module that
// stands in another layer. Downwards only: areas, then plumbing (internal and
// typed clients), then the root, then pure, then api. What is for tests may also import areas, but
// nothing of them that runs: the cluster in memory reads their definitions. The manager stands above
// plumbing and links no kind: a program that embeds it gives it the kinds.
func mayImport(from, to string) bool {
	plumbing := from == "internal" || from == "client" || from == "test"
	switch to {
	case "api":
		return true
	case "pure":
		return from == "pure" || from == "running" || plumbing || areas[from]
	case "root": // what all controllers share
		return from == "internal" || from == "running" || from == "test" || from == "manager" || areas[from]
	case "internal", "client":
		return from == "running" || plumbing || from == "manager" || areas[from]
	}
	return from == "test" && areas[to] || from == to && (areas[from] || from == "test")
}

// importProblems lists the imports that break a rule, sorted.
func importProblems(g graph, further map[string]string) []string {
	client, running := g.needs(clientModules), g.running()
	var problems []string
	used := map[string]bool{}
	for path, p := range g {
		if bannedModules[p.modulePath()] || bannedPackages[path] {
			problems = append(problems, fmt.Sprintf("%s is needed, and must not be: move what needs it to the examples", path))
		}
		if p.modulePath() != module {
			continue
		}
		from := layer(path, running)
		if from == "" {
			problems = append(problems, fmt.Sprintf("%s stands in a folder that has no place in the layout", path))
			continue
		}
		for _, imported := range p.Imports {
			to := g[imported]
			if to == nil || to.Standard {
				continue
			}
			m := to.modulePath()
			used[m] = true
			if m == module && !mayImport(from, layer(imported, running)) {
				problems = append(problems, fmt.Sprintf("%s (%s) imports %s (%s): imports go downwards only, and never to a controller of another area", path, from, imported, layer(imported, running)))
			}
			if m != module && !mayUse(from, m, client, further) {
				problems = append(problems, fmt.Sprintf("%s (%s) imports %s: the module %s is beyond the budget of this layer", path, from, imported, m))
			}
		}
	}
	for allowed, reason := range further {
		if m := allowed[strings.LastIndex(allowed, " ")+1:]; !used[m] {
			problems = append(problems, fmt.Sprintf("nothing imports %s, allowed for %q: take it off the list", m, reason))
		}
	}
	return slices.Sorted(slices.Values(problems))
}

// mayUse says whether a layer may import a package of another module.
func mayUse(from, m string, client map[string]bool, further map[string]string) bool {
	switch from {
	case "api":
		return apiModules[m]
	case "pure":
		return pureModules[m]
	case "test":
		return client[m] || testModules[m] || ofSomeArea(m, further)
	}
	return client[m] || further[m] != "" || further[from+" "+m] != ""
}

// ofSomeArea tells whether a module is for one area.
func ofSomeArea(m string, further map[string]string) bool {
	for allowed := range further {
		if strings.HasSuffix(allowed, " "+m) {
			return true
		}
	}
	return false
}

func TestImportProblems(t *testing.T) {
	for _, test := range []struct {
		name    string
		edges   string // "from > to to ..." by line; a leading slash stands for this module
		further map[string]string
		want    []string
	}{
		{name: "everything allowed", edges: `
			/workloads/cloneset > /workloads/v1alpha1 /distribution/v1alpha1 /inplace/rollout /lifecycle /internal/apiwriter k8s.io/client-go/rest klog
			/workloads/cloneset > /distribution/client
			/workloads/client/fake > /workloads/client /workloads/v1alpha1 /internal/typedclient k8s.io/client-go/rest
			/lifecycle/client > /lifecycle/v1alpha1 /internal/typedclient k8s.io/client-go/rest
			/lifecycle > /internal/manifests
			/internal/manifests > k8s.io/apimachinery/meta
			/internal/testing/scenario > /inplace/rollout /internal/apiwriter pgregory.net/rapid k8s.io/client-go/rest
			/internal/testing/fakecluster/fixture > /internal/testing/fakecluster
			/internal/apiwriter > /inplace k8s.io/client-go/rest
			/lifecycle/launchpriority > /lifecycle/launchpriority/barrier /internal/apiwriter k8s.io/client-go/rest
			/inplace > /lifecycle/launchpriority/barrier
			/lifecycle/recreate > /lifecycle/readiness /lifecycle/client /internal/apiwriter k8s.io/client-go/rest
			/lifecycle > /inplace /lifecycle/v1alpha1 k8s.io/utils/ptr
			/inplace/rollout > /inplace/v1alpha1 /lifecycle k8s.io/api/core strings
			/workloads/v1alpha1 > /inplace/v1alpha1 k8s.io/apimachinery/meta`},
		{name: "an area imports another's controller", edges: "/workloads/cloneset > /distribution/spread",
			want: []string{"/workloads/cloneset (workloads) imports /distribution/spread (distribution): imports go downwards only, and never to a controller of another area"}},
		{name: "the manager imports a kind", edges: "/manager > /workloads/cloneset",
			want: []string{"/manager (manager) imports /workloads/cloneset (workloads): imports go downwards only, and never to a controller of another area"}},
		{name: "the manager stands above what all controllers share", edges: "/manager > / /internal/manifests k8s.io/client-go/rest"},
		{name: "arithmetic imports a typed client", edges: "/inplace > /workloads/client",
			want: []string{"/inplace (pure) imports /workloads/client (client): imports go downwards only, and never to a controller of another area"}},
		{name: "arithmetic imports its own typed client", edges: "/lifecycle > /lifecycle/client",
			want: []string{"/lifecycle (pure) imports /lifecycle/client (client): imports go downwards only, and never to a controller of another area"}},
		{name: "a typed client imports its controller", edges: "/workloads/client > /workloads/cloneset",
			want: []string{"/workloads/client (client) imports /workloads/cloneset (workloads): imports go downwards only, and never to a controller of another area"}},
		{name: "arithmetic imports plumbing", edges: "/inplace > /internal/apiwriter",
			want: []string{"/inplace (pure) imports /internal/apiwriter (internal): imports go downwards only, and never to a controller of another area"}},
		{name: "arithmetic imports what carries it out", edges: "/inplace > /lifecycle/launchpriority\n/lifecycle/launchpriority > k8s.io/client-go/rest",
			want: []string{"/inplace (pure) imports /lifecycle/launchpriority (running): imports go downwards only, and never to a controller of another area"}},
		{name: "an area imports a controller of pods", edges: "/workloads/cloneset > /lifecycle/launchpriority\n/lifecycle/launchpriority > /internal/controller",
			want: []string{"/workloads/cloneset (workloads) imports /lifecycle/launchpriority (running): imports go downwards only, and never to a controller of another area"}},
		{name: "arithmetic imports what begins to run", edges: "/inplace > /lifecycle/launchpriority/barrier\n/lifecycle/launchpriority/barrier > /internal/admission",
			want: []string{"/inplace (pure) imports /lifecycle/launchpriority/barrier (running): imports go downwards only, and never to a controller of another area"}},
		{name: "arithmetic begins to run", edges: "/lifecycle/readiness > /internal/controller",
			want: []string{"/lifecycle/readiness (pure) imports /internal/controller (internal): imports go downwards only, and never to a controller of another area"}},
		{name: "arithmetic imports an area", edges: "/lifecycle > /workloads/cloneset",
			want: []string{"/lifecycle (pure) imports /workloads/cloneset (workloads): imports go downwards only, and never to a controller of another area"}},
		{name: "plumbing imports an area", edges: "/internal/apiwriter > /workloads/cloneset",
			want: []string{"/internal/apiwriter (internal) imports /workloads/cloneset (workloads): imports go downwards only, and never to a controller of another area"}},
		{name: "a controller imports what is for tests", edges: "/workloads/cloneset > /internal/testing/scenario",
			want: []string{"/workloads/cloneset (workloads) imports /internal/testing/scenario (test): imports go downwards only, and never to a controller of another area"}},
		{name: "a controller imports a fake", edges: "/workloads/cloneset > /workloads/fakecluster",
			want: []string{"/workloads/cloneset (workloads) imports /workloads/fakecluster (test): imports go downwards only, and never to a controller of another area"}},
		{name: "a typed client imports its test", edges: "/internal/typedclient > /internal/typedclient/clienttest",
			want: []string{"/internal/typedclient (internal) imports /internal/typedclient/clienttest (test): imports go downwards only, and never to a controller of another area"}},
		{name: "plumbing imports what is for tests", edges: "/internal/apiwriter > /internal/testing/fakecluster",
			want: []string{"/internal/apiwriter (internal) imports /internal/testing/fakecluster (test): imports go downwards only, and never to a controller of another area"}},
		{name: "a package for tests imports an unknown library", edges: "/internal/testing/scenario > cron",
			want: []string{"/internal/testing/scenario (test) imports cron: the module cron is beyond the budget of this layer"}},
		{name: "API types import arithmetic", edges: "/workloads/v1alpha1 > /inplace",
			want: []string{"/workloads/v1alpha1 (api) imports /inplace (pure): imports go downwards only, and never to a controller of another area"}},
		{name: "arithmetic imports a client", edges: "/inplace > k8s.io/client-go/rest",
			want: []string{"/inplace (pure) imports k8s.io/client-go/rest: the module k8s.io/client-go is beyond the budget of this layer"}},
		{name: "arithmetic imports what apimachinery needs", edges: "/inplace > klog",
			want: []string{"/inplace (pure) imports klog: the module klog is beyond the budget of this layer"}},
		{name: "API types import k8s.io/utils", edges: "/inplace/v1beta1 > k8s.io/utils/ptr",
			want: []string{"/inplace/v1beta1 (api) imports k8s.io/utils/ptr: the module k8s.io/utils is beyond the budget of this layer"}},
		{name: "what all controllers share imports an unknown library", edges: " / > cron",
			want: []string{" (root) imports cron: the module cron is beyond the budget of this layer"}},
		{name: "arithmetic imports what all controllers share", edges: "/inplace > /",
			want: []string{"/inplace (pure) imports  (root): imports go downwards only, and never to a controller of another area"}},
		{name: "an area imports an unknown library", edges: "/workloads/cronjob > cron",
			want: []string{"/workloads/cronjob (workloads) imports cron: the module cron is beyond the budget of this layer"}},
		{name: "an area imports a library with a reason", edges: "/workloads/cronjob > cron", further: map[string]string{"cron": "schedules"}},
		{name: "a library for one area, and for tests", edges: "/nodeagent/image > cri\n/internal/testing/scenario > cri", further: map[string]string{"nodeagent cri": "the runtime"}},
		{name: "a library for another area", edges: "/workloads/cloneset > cri\n/nodeagent > cri", further: map[string]string{"nodeagent cri": "the runtime"},
			want: []string{"/workloads/cloneset (workloads) imports cri: the module cri is beyond the budget of this layer"}},
		{name: "a reason without a library", edges: "/workloads/cronjob > strings", further: map[string]string{"cron": "schedules"},
			want: []string{`nothing imports cron, allowed for "schedules": take it off the list`}},
		{name: "a banned library, imported", edges: "/workloads/cloneset > sigs.k8s.io/controller-runtime/client",
			want: []string{
				"/workloads/cloneset (workloads) imports sigs.k8s.io/controller-runtime/client: the module sigs.k8s.io/controller-runtime is beyond the budget of this layer",
				"sigs.k8s.io/controller-runtime/client is needed, and must not be: move what needs it to the examples"}},
		{name: "a banned library, needed by an allowed one", edges: "/workloads/cloneset > cron\ncron > k8s.io/kubernetes/pkg", further: map[string]string{"cron": "schedules"},
			want: []string{"k8s.io/kubernetes/pkg is needed, and must not be: move what needs it to the examples"}},
		{name: "a banned package of an allowed library", edges: "/workloads/cloneset > k8s.io/client-go/informers",
			want: []string{"k8s.io/client-go/informers is needed, and must not be: move what needs it to the examples"}},
		{name: "a folder without a place", edges: "/pkg/things > strings",
			want: []string{"/pkg/things stands in a folder that has no place in the layout"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			// client-go brings klog along.
			got := importProblems(parseGraph(test.edges+"\nk8s.io/client-go/rest > klog"), test.further)
			for i := range got {
				got[i] = strings.ReplaceAll(got[i], module, "")
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWeightProblems(t *testing.T) {
	for _, test := range []struct {
		name, edges string
		want        []string
	}{
		{"as much as it may", "/inplace > a\na > b strings\nb > a", nil},
		{"too much, by what it needs", "/inplace > a\na > b\nb > c", []string{"/inplace is 4"}},
		{"too much, by another package of the module", "/lifecycle > /inplace/v1alpha1 a\n/inplace/v1alpha1 > b", []string{"/lifecycle is 4"}},
		{"API types", "/workloads/v1beta1 > a b c", []string{"/workloads/v1beta1 is 4"}},
		{"a controller", "/workloads/cloneset > a b c", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, problem := range weightProblems(parseGraph(test.edges), 3) {
				problem, _, _ = strings.Cut(strings.TrimPrefix(problem, module), " packages")
				got = append(got, problem)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

// parseGraph reads a graph in the notation of TestImportProblems.
func parseGraph(edges string) graph {
	g := graph{}
	node := func(path string) *pkg {
		if strings.HasPrefix(path, "/") {
			path = strings.TrimSuffix(module+path, "/")
		}
		if g[path] == nil {
			parts := strings.Split(path, "/")
			g[path] = &pkg{ImportPath: path, Standard: path == "strings", Module: &struct{ Path string }{parts[0]}}
			if strings.HasPrefix(path, module) {
				g[path].Module.Path = module
			} else if len(parts) > 1 {
				g[path].Module.Path = parts[0] + "/" + parts[1]
			}
		}
		return g[path]
	}
	for line := range strings.Lines(edges) {
		from, to, ok := strings.Cut(line, ">")
		if !ok {
			continue
		}
		p := node(strings.TrimSpace(from))
		for _, imported := range strings.Fields(to) {
			p.Imports = append(p.Imports, node(imported).ImportPath)
		}
	}
	return g
}

func TestNeeds(t *testing.T) {
	g := parseGraph("k8s.io/api/core > a\na > b k8s.io/api/core\nc > d")
	got := slices.Sorted(maps.Keys(g.needs(modules("k8s.io/api"))))
	if diff := cmp.Diff([]string{"a", "b", "k8s.io/api"}, got); diff != "" {
		t.Errorf("modules (-want +got):\n%s", diff)
	}
}
