// SPDX-License-Identifier: Apache-2.0

package layers

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
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

// parseGraph reads a graph: "from > to to ..." by line. A leading slash stands for this module.
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
