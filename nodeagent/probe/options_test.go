// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/testing/conformance"
	"github.com/podwright/podwright/internal/testing/fakecri"
	"github.com/podwright/podwright/internal/testing/fakecri/agents"
	"github.com/podwright/podwright/internal/testing/readers"
	"github.com/podwright/podwright/lifecycle/client/fake"
)

func goodOptions(t *testing.T) Options {
	t.Helper()
	return Options{Lifecycle: fake.NewClient(), Runtime: agents.Connect(t, fakecri.New(nil)), Node: "node-1"}
}

func TestOptions(t *testing.T) {
	good := goodOptions(t)
	if _, err := NewReconciler(good); err == nil || !strings.Contains(err.Error(), "Options.Wake is nil") {
		t.Errorf("a Reconciler that cannot wake: %v", err)
	}
	good.Wake = func(types.NamespacedName) {}
	conformance.CheckOptions(t, conformance.Options[Options]{Good: good, Required: "Lifecycle Runtime", RequiredByNew: "Node",
		New:           func(o Options) error { _, err := New(o); return err },
		NewReconciler: func(o Options) error { _, err := NewReconciler(o); return err }})
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
