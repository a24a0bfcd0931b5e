package recreate

import (
	"errors"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/google/go-cmp/cmp"

	"github.com/podwright/podwright/internal/fakecluster"
	"github.com/podwright/podwright/internal/fakecri"
	"github.com/podwright/podwright/lifecycle/client"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/nodeagent"
)

// shelf is a Reader of the user's own.
type shelf struct {
	requests []*v1alpha1.ContainerRecreateRequest
	err      error
}

func (s shelf) Requests(string) ([]*v1alpha1.ContainerRecreateRequest, error) {
	return s.requests, s.err
}

func (shelf) SyncedResourceVersion(Resource) string { return "" }

// goodOptions are all that is required.
func goodOptions(t *testing.T) Options {
	t.Helper()
	lifecycle, err := client.NewForConfig(fakecluster.New(nil).Config(agentUser))
	if err != nil {
		t.Fatal(err)
	}
	runtime, err := nodeagent.NewRuntime(t.Context(), fakecri.New(nil).Conn(), "test")
	if err != nil {
		t.Fatal(err)
	}
	return Options{Lifecycle: lifecycle, Runtime: runtime, Node: "node-1"}
}

func TestOptions(t *testing.T) {
	good := goodOptions(t)
	for _, test := range []struct {
		name   string
		change func(*Options)
		want   string
	}{
		{"all that is required", func(*Options) {}, ""},
		{"an informer in place of the node", func(o *Options) { o.Requests, o.Node = NewRequestInformer(good.Lifecycle, "node-1"), "" }, ""},
		{"no client", func(o *Options) { o.Lifecycle = nil }, "Options.Lifecycle is nil"},
		{"no runtime", func(o *Options) { o.Runtime = nil }, "Options.Runtime is nil"},
		{"no node", func(o *Options) { o.Node = "" }, "Options.Node is empty"},
		{"negative workers", func(o *Options) { o.Workers = -1 }, "Options.Workers is negative"},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := good
			test.change(&o)
			_, err := New(o)
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), "recreate: "+test.want)) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
	if _, err := NewReconciler(good); err == nil || !strings.Contains(err.Error(), "Options.Reader is nil") {
		t.Errorf("a Reconciler without a Reader: %v", err)
	}
}

// A Reconciler works on the caches of the user.
func TestReconcilerPlan(t *testing.T) {
	web := types.NamespacedName{Namespace: "shop", Name: "web-0"}
	for _, test := range []struct {
		name   string
		reader shelf
		pod    types.NamespacedName
		want   []string
		err    string
	}{
		{"no request for the pod", shelf{requests: requests(newRequest("r"))}, types.NamespacedName{Namespace: "shop", Name: "web-1"}, nil, ""},
		{"all are over", shelf{requests: requests(newRequest("r", isOver))}, web, nil, ""},
		{"a request", shelf{requests: requests(newRequest("r"))}, web,
			[]string{"r: Recreating, main Pending not found container on Node, side Pending not found container on Node"}, ""},
		{"a cache that fails", shelf{err: errors.New("broken")}, web, nil, "read ContainerRecreateRequests of namespace shop: broken"},
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
