// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/testing/fakecri"
	"github.com/podwright/podwright/internal/testing/readers"
	"github.com/podwright/podwright/lifecycle/client/fake"
	"github.com/podwright/podwright/nodeagent"
)

func goodOptions(t *testing.T) Options {
	t.Helper()
	runtime, err := nodeagent.NewRuntime(t.Context(), fakecri.New(nil).Conn(), "test")
	if err != nil {
		t.Fatal(err)
	}
	return Options{Lifecycle: fake.NewClient(), Runtime: runtime, Node: "node-1"}
}

func TestOptions(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*Options)
		want   string
	}{
		{"all that is required", func(*Options) {}, ""},
		{"no client", func(o *Options) { o.Lifecycle = nil }, "Options.Lifecycle is nil"},
		{"no runtime", func(o *Options) { o.Runtime = nil }, "Options.Runtime is nil"},
		{"no node", func(o *Options) { o.Node = "" }, "Options.Node is empty"},
		{"a negative number", func(o *Options) { o.Limits.Probes = -1 }, "Options.Limits.Probes is negative"},
		{"a negative pace", func(o *Options) { o.Limits.PerSecond = -1 }, "Options.Limits.PerSecond is negative"},
		{"a negative concurrency", func(o *Options) { o.Limits.Concurrency = -1 }, "Options.Limits.Concurrency is negative"},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := goodOptions(t)
			test.change(&o)
			_, err := New(o)
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), "probe: "+test.want)) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
	if _, err := NewReconciler(goodOptions(t)); err == nil || !strings.Contains(err.Error(), "Options.Reader is nil") || !strings.Contains(err.Error(), "Options.Wake is nil") {
		t.Errorf("a Reconciler without a Reader: %v", err)
	}
}

// PPM-4.1: the agent reads its NodePodProbe and writes its status, and nothing else.
func TestRules(t *testing.T) {
	if got := Rules(Options{}); len(got) != 2 || len(Rules(Options{ControllerOptions: podwright.ControllerOptions{Recorders: func(string) record.EventRecorder { return &record.FakeRecorder{} }}})) != 3 {
		t.Errorf("rules %v", got)
	}
	for _, rule := range Rules(Options{ControllerOptions: podwright.ControllerOptions{Recorders: func(string) record.EventRecorder { return &record.FakeRecorder{} }}}) {
		for _, resource := range rule.Resources {
			if resource != "nodepodprobes" && resource != "nodepodprobes/status" && resource != "events" {
				t.Errorf("a rule about %s: %v", resource, []rbacv1.PolicyRule{rule})
			}
		}
	}
}

// A Reconciler runs on the caches of another framework, and says what is next.
func TestReconciler(t *testing.T) {
	o := goodOptions(t)
	o.Reader, o.Wake = readers.Memory{resourceNodePodProbes: {newNodePodProbe(wants("web-0", "idle"))}}, func(types.NamespacedName) {}
	r, err := NewReconciler(o)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	plan, err := r.Plan(t.Context(), types.NamespacedName{Name: "node-1"})
	if err != nil || len(plan.Begin) != 1 || plan.Begin[0].Pod != "web-0" {
		t.Errorf("plan %+v, error %v", plan, err)
	}
}
