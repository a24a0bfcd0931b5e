// SPDX-License-Identifier: Apache-2.0

package cmd

import (
	"context"
	"strings"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/podwright/podwright/examples/kubectl-podwright/workload"
	"github.com/podwright/podwright/examples/process/switches"
	"github.com/podwright/podwright/internal/testing/fakecluster"
)

// (KC-18)
func TestTree(t *testing.T) {
	c := newCluster(t)
	(&stuck{Pods: map[string]map[string]any{
		"web-1": {"status": map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": "False"}},
			"containerStatuses": []any{map[string]any{"name": "main", "image": "nginx:1", "imageID": "one", "restartCount": 4, "ready": false,
				"state": map[string]any{"waiting": map[string]any{"reason": "CrashLoopBackOff"}}}}}},
		"web-2": {"metadata": map[string]any{
			"annotations": map[string]any{"kruise.io/sidecarset-hash": `{"mesh":{"sidecarSetName":"mesh","sidecarList":["main"]}}`},
			"labels":      map[string]any{"controller-revision-hash": "web-lost"}}},
	}, Workload: map[string]any{"spec": map[string]any{"updateStrategy": map[string]any{"paused": true}}}}).play(c)
	c.expect(`cloneset.apps.kruise.io/web
├── revision web-54d64b485d (2), of the template, not created yet
├── revision web-old (1)
│   ├── pod web-0  ready on node-1  waits: updateStrategy.paused is true
│   │   └── container main  nginx:1  running
│   └── pod web-1  not ready on node-1  next: record its state  waits: updateStrategy.paused is true
│       └── container main  nginx:1  CrashLoopBackOff, restarts: 4
└── revision lost (gone)
    └── pod web-2  ready on node-1  waits: updateStrategy.paused is true
        └── sidecar main of mesh  nginx:1  running
`, "tree", "cloneset/web")
}

// A tree that is watched is drawn again when it has changed, and not otherwise. (KC-18)
func TestTreeWatch(t *testing.T) {
	c := newCluster(t)
	(&stuck{}).play(c)
	streams, _, out, _ := genericiooptions.NewTestIOStreams()
	commands := &commands{name: "kubectl podwright", factory: workload.NewFactory(c.flags), clock: c.clock, interval: time.Millisecond, IOStreams: streams, settings: switches.NewSettings()}
	ctx, stop := context.WithCancel(context.Background())
	looks := 0
	c.server.FailBefore(func(r fakecluster.Request) error {
		if r.User == "user" && r.Verb == "get" && r.Resource == "clonesets" {
			switch looks++; looks {
			case 3:
				c.patch("clonesets.apps.kruise.io/web", map[string]any{"spec": map[string]any{"updateStrategy": map[string]any{"paused": true}}})
			case 5:
				stop()
			}
		}
		return nil
	})
	err := commands.drawTree(ctx, []string{"cloneset/web"}, true)
	if trees := strings.Count(out.String(), "cloneset.apps.kruise.io/web\n"); trees != 2 || !strings.Contains(out.String(), "paused is true") {
		t.Errorf("%d trees are drawn, %v\n%s", trees, err, out.String())
	}
}
