// SPDX-License-Identifier: Apache-2.0

package takeover

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	"github.com/podwright/podwright/examples/kubectl-podwright/plan"
	"github.com/podwright/podwright/examples/kubectl-podwright/takeover"
	"github.com/podwright/podwright/examples/process/features"
	"github.com/podwright/podwright/examples/process/switches"
)

var rewrite = flag.Bool("rewrite", false, "write what takeover check says to testdata")

// inEach has a story play in the clusters of all releases.
func inEach(t *testing.T, story func(c *simulated, release string, gates *features.Gates)) {
	for release, flags := range releases {
		t.Run(release, func(t *testing.T) {
			gates, err := flags.Parse()
			if err != nil {
				t.Fatal(err)
			}
			in(t, release, func(c *simulated) { story(c, release, gates) })
		})
	}
}

// takeover check says of each release what stands in testdata, and writes nothing. (KC-26 to KC-29)
func TestCheck(t *testing.T) {
	inEach(t, func(c *simulated, release string, gates *features.Gates) {
		config := c.Config("user")
		planner, err := plan.NewPlanner(config, c.mapper, clock.RealClock{}, gates, switches.NewSettings())
		c.must(err)
		planner.Remember()
		reader := takeover.Reader{Dynamic: c.dynamic, Kubernetes: kubernetes.NewForConfigOrDie(config), Mapper: c.mapper, Planner: planner,
			Clock: clock.RealClock{}, Namespace: "kruise-system", Limit: 1000, Gates: gates}
		var said bytes.Buffer
		c.FailRequests(func(_, request, _ string) error {
			if verb, _, _ := strings.Cut(request, " "); verb != "get" && verb != "list" {
				c.Errorf("KC-28: it sends %s", request)
			}
			return nil
		})
		report := takeover.Check(reader.Read(c.ctx))
		fmt.Fprintf(&said, "OpenKruise %s, %s.\n", report.OpenKruise, report.By)
		for _, f := range report.Findings { // a table would change as a whole with its longest line
			fmt.Fprintf(&said, "\n%s: %s [%s]\n    %s\n", f.Severity, f.Object, f.Rule, f.Says)
			if f.Do != "" {
				fmt.Fprintf(&said, "    %s\n", f.Do)
			}
		}
		for _, unread := range report.Unread {
			fmt.Fprintln(&said, "Could not be read: "+unread)
		}
		c.golden(filepath.Join(release, "check.txt"), said.String())
	})
}

var pods = schema.GroupKind{Kind: "Pod"}

// podwright takes the cluster of each release over: no pod restarts or goes, and nothing is written but what the data expect.
func TestTakeOver(t *testing.T) {
	inEach(t, func(c *simulated, release string, gates *features.Gates) {
		restarts := c.restarts()
		c.takeOver(gates, 10*time.Minute)

		if diff := cmp.Diff(expected(c.T, release), slices.Sorted(maps.Keys(c.writes))); diff != "" {
			c.Errorf("other writes than testdata/%s/writes.txt expects (-want +got):\n%s", release, diff)
		}
		restarts["moving-old33"]++ // the rollout goes on
		if diff := cmp.Diff(restarts, c.restarts()); diff != "" {
			c.Errorf("containers have restarted, or pods gone (-want +got):\n%s", diff)
		}
		for name, pods := range map[string]int64{"moving": 3, "web": 2, "spread": 2} {
			if err := c.settled("shop", name, pods); err != nil {
				c.Error(err)
			}
		}
		if err := c.released("shop"); err != nil {
			c.Error(err)
		}
	})
}

// restarts counts how often the container of each pod has restarted.
func (c *site) restarts() map[string]int64 {
	c.Helper()
	all := map[string]int64{}
	mapping, err := c.mapper.RESTMapping(pods)
	c.must(err)
	list, err := c.dynamic.Resource(mapping.Resource).List(c.ctx, everything)
	c.must(err)
	for _, pod := range list.Items {
		statuses, _, _ := unstructured.NestedSlice(pod.Object, "status", "containerStatuses")
		for _, status := range statuses {
			n, _, _ := unstructured.NestedInt64(status.(map[string]any), "restartCount")
			all[pod.GetName()] += n
		}
	}
	return all
}

// expected are the writes that the data of a release expect: before the rule that names each.
func expected(t *testing.T, release string) (writes []string) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", release, "writes.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(content)) {
		write, rule, found := strings.Cut(strings.TrimSpace(line), ": ")
		if !found || rule == "" {
			t.Fatalf("testdata/%s/writes.txt: no rule in %q", release, line)
		}
		writes = append(writes, write)
	}
	slices.Sort(writes)
	return writes
}
