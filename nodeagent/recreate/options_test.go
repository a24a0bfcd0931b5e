// SPDX-License-Identifier: Apache-2.0

package recreate

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/testing/conformance"
	"github.com/podwright/podwright/internal/testing/fakecri"
	"github.com/podwright/podwright/internal/testing/fakecri/agents"
	"github.com/podwright/podwright/internal/testing/readers"
	"github.com/podwright/podwright/lifecycle/client/fake"
)

// goodOptions are all that is required.
func goodOptions(t *testing.T) Options {
	t.Helper()
	return Options{Lifecycle: fake.NewClient(), Runtime: agents.Connect(t, fakecri.New(nil)), Node: "node-1"}
}

func TestOptions(t *testing.T) {
	good := goodOptions(t)
	conformance.CheckOptions(t, conformance.Options[Options]{Good: good, Required: "Lifecycle Runtime", RequiredByNew: "Node",
		New:           func(o Options) error { _, err := New(o); return err },
		NewReconciler: func(o Options) error { _, err := NewReconciler(o); return err }})
	good.Requests, good.Node = NewRequestInformer(good.Lifecycle, "node-1"), ""
	if _, err := New(good); err != nil {
		t.Errorf("an informer in place of the node: %v", err)
	}
}

// A Reconciler works on the caches of the user.
func TestReconcilerPlan(t *testing.T) {
	for name, test := range map[string]struct {
		reader    podwright.Reader
		pod, want string
	}{
		"no request for the pod": {readers.Memory{resourceRequests: {newRequest("r")}}, "web-1", "none"},
		"all are over":           {readers.Memory{resourceRequests: {newRequest("r", "over")}}, "web-0", "none"},
		"a request": {readers.Memory{resourceRequests: {newRequest("r")}}, "web-0",
			"r: Recreating, main Pending not found container on Node, side Pending not found container on Node"},
		"a cache that fails": {readers.Broken{Reader: readers.Memory{}, Resource: resourceRequests}, "web-0", "read ContainerRecreateRequests of namespace shop: broken"},
	} {
		o := goodOptions(t)
		o.Reader = test.reader
		r, err := NewReconciler(o)
		if err != nil {
			t.Fatal(err)
		}
		got, pod := "none", types.NamespacedName{Namespace: "shop", Name: test.pod}
		plan, err := r.Plan(t.Context(), pod)
		if plan != nil {
			got = strings.Join(show(plan), ", ")
		}
		if _, answerErr := r.Answer(t.Context(), pod); (err != nil) != (answerErr != nil) {
			t.Errorf("%s: answer: error %v, and the plan has %v", name, answerErr, err)
		}
		if err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}
