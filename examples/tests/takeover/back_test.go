// SPDX-License-Identifier: Apache-2.0

package takeover

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	"github.com/podwright/podwright/examples/kubectl-podwright/takeover"
	"github.com/podwright/podwright/examples/process/features"
)

// The release that a cluster came from reads what podwright leaves behind after a take-over. It goes by its definitions, and by the
// keys that it knows. What it does not know stands in left.txt. That is podwright's own, or a part of a status, which the definitions
// of the release drop. (KC-30)
func TestHandBack(t *testing.T) {
	keys := readKeys(t)
	definitions := readDefinitions(t)
	inEach(t, func(c *simulated, release string, gates *features.Gates) {
		c.takeOver(gates, 10*time.Minute)
		left := map[string]bool{}
		for _, u := range c.everything() {
			c.unknown(definitions, keys, release, u, left)
		}
		for _, f := range c.back(release, gates).Findings {
			left["back: "+f.Object+": "+f.Says] = true
		}
		c.golden(filepath.Join(release, "left.txt"), strings.Join(slices.Sorted(maps.Keys(left)), "\n")+"\n")
	})
}

// To a release before, what it cannot read is refused in words: definitions that store v1beta1, and fields and values that came later.
func TestHandBackToAnEarlierRelease(t *testing.T) {
	flags := releases["1.9"]
	gates, err := flags.Parse()
	if err != nil {
		t.Fatal(err)
	}
	in(t, "1.9", func(c *simulated) {
		c.takeOver(gates, time.Minute)
		for _, release := range []string{"1.5", "1.8"} {
			said := ""
			for _, f := range c.back(release, gates).Findings {
				said += fmt.Sprintf("%s: %s: %s %s\n", f.Severity, f.Object, f.Says, f.Do)
			}
			c.golden(filepath.Join("1.9", "back-"+release+".txt"), said)
		}
	})
}

// golden compares what is said with a file of testdata.
func (c *site) golden(file, said string) {
	c.Helper()
	file = filepath.Join("testdata", file)
	if *rewrite {
		c.must(os.WriteFile(file, []byte(said), 0o600))
	}
	want, err := os.ReadFile(file)
	c.must(err)
	if diff := cmp.Diff(string(want), said); diff != "" {
		c.Errorf("other than %s (-want +got):\n%s", file, diff)
	}
}

// back is what the check says of a hand-back.
func (c *simulated) back(release string, gates *features.Gates) *takeover.Report {
	c.Helper()
	reader := takeover.Reader{Dynamic: c.dynamic, Kubernetes: kubernetes.NewForConfigOrDie(c.Config("user")), Mapper: c.mapper,
		Clock: clock.RealClock{}, Namespace: "kruise-system", Limit: 1000, Gates: gates, Back: true}
	return takeover.CheckBack(reader.Read(c.ctx), release)
}

// everything are all objects of OpenKruise's kinds, and those of Kubernetes to which both write.
func (c *site) everything() (all []*unstructured.Unstructured) {
	c.Helper()
	kinds := []schema.GroupKind{pods, {Kind: "Secret"}, {Kind: "ConfigMap"}, {Kind: "Node"}, {Group: "apps", Kind: "ControllerRevision"}, {Group: "batch", Kind: "Job"}}
	for _, d := range readDefinitions(c.T) {
		_, group, _ := strings.Cut(d.name, ".")
		kinds = append(kinds, schema.GroupKind{Group: group, Kind: d.kind})
	}
	for _, kind := range kinds {
		mapping, err := c.mapper.RESTMapping(kind)
		c.must(err)
		list, err := c.dynamic.Resource(mapping.Resource).List(c.ctx, everything)
		c.must(err)
		for i := range list.Items {
			list.Items[i].SetGroupVersionKind(mapping.GroupVersionKind)
			all = append(all, &list.Items[i])
		}
	}
	return all
}

// unknown notes what a release does not know of an object.
func (c *site) unknown(definitions []*definition, keys []key, release string, u *unstructured.Unstructured, left map[string]bool) {
	c.Helper()
	for _, d := range definitions {
		if d.kind == u.GetKind() && strings.HasSuffix(u.GroupVersionKind().Group, "kruise.io") && d.stored(release) != "" {
			for _, path := range d.unknownTo(release, c.in(d.stored(release), u)) {
				if !strings.HasPrefix(path, "status.") {
					c.Errorf("%s %s: OpenKruise %s does not have %s, and drops it", u.GetKind(), u.GetName(), release, path)
				}
				left[fmt.Sprintf("field of %s: %s", u.GetKind(), path)] = true
			}
		}
	}
	for kind, names := range map[string][]string{ // of the object in the version that is stored now
		"label": slices.Collect(maps.Keys(u.GetLabels())), "annotation": slices.Collect(maps.Keys(u.GetAnnotations())), "finalizer": u.GetFinalizers()} {
		for _, name := range names {
			switch {
			case own.MatchString(name):
				left[fmt.Sprintf("%s of %s: %s", kind, u.GetKind(), name)] = true
			case strings.Contains(name, "kruise.io/") && !slices.ContainsFunc(keys, func(k key) bool { return k.is(kind, name, release) }):
				c.Errorf("%s %s: OpenKruise %s does not know the %s %s", u.GetKind(), u.GetName(), release, kind, name)
			}
		}
	}
}

// in converts an object to the version in which a release has it, as the API server and podwright's webhook do.
func (c *site) in(version string, u *unstructured.Unstructured) *unstructured.Unstructured {
	c.Helper()
	wanted := u.GroupVersionKind().GroupVersion()
	if wanted.Version == version {
		return u
	}
	wanted.Version = version
	document, err := json.Marshal(u.Object)
	c.must(err)
	document, err = converters[u.GetKind()](document, wanted.String())
	c.must(err)
	converted := &unstructured.Unstructured{}
	c.must(json.Unmarshal(document, &converted.Object))
	return converted
}

// own matches keys of podwright.
var own = regexp.MustCompile(`(^|\.)podwright\.(github\.)?io/`)

// key is one of OpenKruise's.
type key struct{ name, kind, since string }

func (k *key) is(kind, name, release string) bool {
	prefix, open := strings.CutSuffix(k.name, "*")
	return k.kind == kind && k.since <= release && (name == k.name || open && strings.HasPrefix(name, prefix))
}

// readKeys reads what keys OpenKruise has.
func readKeys(t *testing.T) (all []key) {
	t.Helper()
	content, err := os.ReadFile("testdata/keys.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(content)) {
		if words := strings.Fields(line); words[0] != "#" {
			all = append(all, key{words[0], words[1], words[2]})
		}
	}
	return all
}

// The page on migration names every key of podwright that the library has, and says how to take it away.
func TestOwnKeysAreNamed(t *testing.T) {
	page, err := os.ReadFile("../../MIGRATION.md")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, area := range []string{"workloads", "distribution", "lifecycle", "sidecar", "availability", "inplace", "nodeagent", "manager", "internal/admission", "internal/apply", "internal/podplan", "internal/podstate"} {
		err := filepath.WalkDir("../../../"+area, func(path string, _ os.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			source, err := os.ReadFile(path)
			for _, quoted := range regexp.MustCompile(`"([a-z][a-z0-9.-]*\.podwright\.(?:github\.)?io/[a-z0-9-]*|podwright\.(?:github\.)?io/[a-z0-9-]+)"`).FindAllSubmatch(source, -1) {
				found[string(quoted[1])] = true
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(found) < 15 {
		t.Errorf("only %d keys are in the sources: %v", len(found), found)
	}
	for name := range found {
		if strings.HasSuffix(name, "/") {
			name += "*"
		}
		if !regexp.MustCompile("(?m)^\\| `" + regexp.QuoteMeta(name) + "` \\|.*\\|.+\\|$").Match(page) {
			t.Errorf("MIGRATION.md has no row about the key %s of podwright", name)
		}
	}
}
