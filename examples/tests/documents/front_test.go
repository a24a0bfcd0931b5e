// SPDX-License-Identifier: Apache-2.0

package documents

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/podwright/podwright/availability"
	"github.com/podwright/podwright/distribution"
	"github.com/podwright/podwright/lifecycle"
	"github.com/podwright/podwright/sidecar"
	"github.com/podwright/podwright/workloads"
)

// TestShort wants pages that are read first to stay short.
func TestShort(t *testing.T) {
	for document, most := range map[string]struct{ lines, bytes int }{"README.md": {160, 10_000}, "CHANGELOG.md": {80, 10_000}} {
		text := read(t, repository, document)
		if lines := strings.Count(text, "\n"); lines > most.lines || len(text) > most.bytes || lines == 0 {
			t.Errorf("%s has %d lines and %d bytes, want at most %d and %d", document, lines, len(text), most.lines, most.bytes)
		}
	}
}

// TestHelp wants make help to show few targets, and those that README names among them.
func TestHelp(t *testing.T) {
	shown := regexp.MustCompile(`(?m)^([a-z-]+):.*## .+$`).FindAllStringSubmatch(read(t, repository, "Makefile"), -1)
	if len(shown) == 0 || len(shown) > 15 {
		t.Errorf("make help shows %d targets, want 1 to 15", len(shown))
	}
	for _, command := range commandsOf(read(t, repository, "README.md")) {
		if words := strings.Fields(command); words[0] == "make" && !slices.ContainsFunc(shown, func(m []string) bool { return m[1] == words[1] }) {
			t.Errorf("README.md names %s, which make help does not show", command)
		}
	}
}

// section returns what stands below a heading of a document, up to the next one of any level.
func section(t *testing.T, document, heading string) string {
	t.Helper()
	_, text, found := strings.Cut(read(t, repository, document), "\n## "+heading+"\n")
	if !found {
		t.Fatalf("%s has no heading %q", document, heading)
	}
	text, _, _ = strings.Cut(text, "\n## ")
	return text
}

// code returns the only block of Go below a heading of README.
func code(t *testing.T, heading string) string {
	t.Helper()
	var blocks []string
	for _, m := range fenced.FindAllStringSubmatch(section(t, "README.md", heading), -1) {
		if m[1] == "go" {
			blocks = append(blocks, m[2])
		}
	}
	if len(blocks) != 1 {
		t.Fatalf("%s: found %d blocks of Go, want 1", heading, len(blocks))
	}
	return blocks[0]
}

// TestProgram builds the program that README shows.
func TestProgram(t *testing.T) { vet(t, code(t, "Embed it")) }

// vet builds a file.
func vet(t *testing.T, source string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "vet", file)
	build.Dir = examples
	if out, err := build.CombinedOutput(); err != nil {
		t.Errorf("%v:\n%s", err, out)
	}
}

// TestSet builds what README shows of several kinds, in a function that returns it.
func TestSet(t *testing.T) {
	const before, after = `package readme

import (
	"context"

	"k8s.io/client-go/kubernetes"

	"github.com/podwright/podwright/manager"
	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/cloneset"
	"github.com/podwright/podwright/workloads/daemonset"
)

func set(kube kubernetes.Interface, workloads client.Interface, target func(context.Context) (manager.Target, error)) (*manager.Set, error) {
`, "}\n"
	vet(t, before+code(t, "Embed several kinds")+after)
}

// TestExample wants what README shows of the arithmetic to be an Example, which is a test.
func TestExample(t *testing.T) {
	var body strings.Builder
	for line := range strings.Lines(code(t, "Ask the arithmetic")) {
		body.WriteString("\t" + line)
	}
	if source := read(t, repository, "inplace", "example_test.go"); !strings.Contains(source, "() {\n"+body.String()+"}\n") {
		t.Errorf("no Example of inplace has this body:\n%s", body.String())
	}
}

// TestKinds wants each kind in the table of README, with its package, its rules and an Example.
func TestKinds(t *testing.T) {
	text := section(t, "README.md", "The kinds")
	rows := regexp.MustCompile(`(?m)^\| ([^|\[]+) \| ([^|]+) \| (.+) \|$`).FindAllStringSubmatch(text, -1)
	named := map[string]bool{}
	for _, row := range rows[min(1, len(rows)):] { // without the heading
		for name := range strings.SplitSeq(row[1], ", ") {
			named[name] = true
		}
		links := link.FindAllStringSubmatch(row[3], -1)
		if len(links) != 3 || links[1][1] != "rules" || links[2][1] != "Example" || filepath.Base(links[0][2]) != links[0][1] ||
			!strings.HasSuffix(links[1][2], "/RULES.md") || filepath.Dir(links[2][2]) != links[0][2] {
			t.Errorf("%s: want links to a package, to its rules, and to an Example of the package; found %v", row[1], links)
			continue
		}
		if !strings.Contains(read(t, repository, links[2][2]), "\nfunc Example") {
			t.Errorf("%s: %s has no Example", row[1], links[2][2])
		}
	}
	for _, crd := range slices.Concat(workloads.CRDs(), distribution.CRDs(), lifecycle.CRDs(), sidecar.CRDs(), availability.CRDs()) {
		spec, _ := crd.Object["spec"].(map[string]any)
		names, _ := spec["names"].(map[string]any)
		if kind, _ := names["kind"].(string); !named[kind] && kind != "NodePodProbe" { // which no user writes
			t.Errorf("README.md has no row for %s", kind)
		}
	}
}

// TestVersions wants the versions that README states to be those of go.mod.
func TestVersions(t *testing.T) {
	module, text := read(t, repository, "go.mod"), section(t, "README.md", "Kubernetes and Go")
	goVersion := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(module)
	library := regexp.MustCompile(`k8s\.io/client-go (v0\.\d+)`).FindStringSubmatch(module)
	server := regexp.MustCompile(`k8s\.io/kubernetes v(\d+\.\d+)`).FindStringSubmatch(read(t, examples, "go.mod"))
	for _, want := range []string{"Go " + goVersion[1] + ".", "`k8s.io/*` " + library[1] + " or newer", "Kubernetes " + server[1] + "."} {
		if !strings.Contains(text, want) {
			t.Errorf("README.md does not say %q, which go.mod does", want)
		}
	}
}
