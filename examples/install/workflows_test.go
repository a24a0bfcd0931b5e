// SPDX-License-Identifier: Apache-2.0

package install

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// actionsPinned matches what a step uses at a version, and its own workflows.
var (
	actionsPinned = regexp.MustCompile(`^(\./\.github/workflows/[a-z]+\.yml|[a-z-]+/[a-z-]+@v[0-9]+\.[0-9]+\.[0-9]+)$`)
	usesAction    = regexp.MustCompile(`(?m)uses: (\S+)`)
	runsTarget    = regexp.MustCompile(`(?m)run: make ([a-z-]+)`)
)

// What the workflows of GitHub run exists, at a version, and a release pushes the images that the manifests name.
// "make lint" has actionlint read the rest.
func TestWorkflows(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join(repository, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	all := ""
	for _, file := range []string{"ci.yml", "release.yml"} {
		text, err := os.ReadFile(filepath.Join(repository, ".github", "workflows", file))
		if err != nil {
			t.Fatal(err)
		}
		all += string(text)
	}
	actions, targets := usesAction.FindAllStringSubmatch(all, -1), runsTarget.FindAllStringSubmatch(all, -1)
	if len(actions) == 0 || len(targets) == 0 {
		t.Fatalf("%d actions, %d targets", len(actions), len(targets))
	}
	for _, action := range actions {
		if !actionsPinned.MatchString(action[1]) {
			t.Errorf("%s has no version", action[1])
		}
	}
	for _, target := range targets {
		if !strings.Contains(string(makefile), "\n"+target[1]+":") {
			t.Errorf("there is no make %s", target[1])
		}
	}
	if _, err := os.Stat(filepath.Join(repository, ".ci", "run")); err != nil || !strings.Contains(all, " .ci/run\n") {
		t.Errorf(".ci/run is not run: %v", err)
	}
	if !strings.Contains(all, `--build-arg VERSION="$TAG"`) {
		t.Error("the programs of a release do not say which one they are")
	}
	for program, image := range map[string]string{"manager": ManagerRepository, "nodeagent": NodeAgentRepository} {
		pushed := strings.TrimSuffix(image, program) + "$program:"
		if pushed == image+"$program:" || !strings.Contains(all, `--tag "$REGISTRY/`+pushed+`$TAG"`) || !strings.Contains(all, `--tag "$REGISTRY/`+pushed+Tag+`"`) {
			t.Errorf("%s is not pushed", image)
		}
	}
}
