// SPDX-License-Identifier: Apache-2.0

package recreate

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/testing/conformance"
	"github.com/podwright/podwright/internal/testing/fakecri"
	"github.com/podwright/podwright/internal/testing/fakecri/agents"
	"github.com/podwright/podwright/internal/testing/readers"
	"github.com/podwright/podwright/lifecycle/client/fake"
)

// reading is a Reader of requests.
func reading(requests ...metav1.Object) podwright.Reader {
	return readers.Memory{resourceRequests: requests}
}

// broken is a Reader of a cache that cannot be read.
type broken struct{ podwright.Reader }

func (broken) List(podwright.Resource, string) ([]any, error) { return nil, errors.New("broken") }

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
	web := types.NamespacedName{Namespace: "shop", Name: "web-0"}
	for _, test := range []struct {
		name   string
		reader podwright.Reader
		pod    types.NamespacedName
		want   []string
		err    string
	}{
		{"no request for the pod", reading(newRequest("r")), types.NamespacedName{Namespace: "shop", Name: "web-1"}, nil, ""},
		{"all are over", reading(newRequest("r", "over")), web, nil, ""},
		{"a request", reading(newRequest("r")), web,
			[]string{"r: Recreating, main Pending not found container on Node, side Pending not found container on Node"}, ""},
		{"a cache that fails", broken{reading()}, web, nil, "read ContainerRecreateRequests of namespace shop: broken"},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := goodOptions(t)
			o.Reader = test.reader
			r, err := NewReconciler(o)
			if err != nil {
				t.Fatal(err)
			}
			plan, err := r.Plan(t.Context(), test.pod)
			if (err != nil) != (test.err != "") || err != nil && err.Error() != test.err {
				t.Errorf("error %v, want %q", err, test.err)
			}
			var got []string
			if plan != nil {
				got = show(plan)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
			if _, err := r.Answer(t.Context(), test.pod); (err != nil) != (test.err != "") {
				t.Errorf("answer: error %v, want %q", err, test.err)
			}
		})
	}
}
