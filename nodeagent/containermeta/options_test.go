package containermeta

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/podwright/podwright/internal/fakecluster"
	"github.com/podwright/podwright/internal/fakecri"
	"github.com/podwright/podwright/nodeagent"
)

func TestOptions(t *testing.T) {
	kube, err := kubernetes.NewForConfig(fakecluster.New(nil).Config(agentUser))
	if err != nil {
		t.Fatal(err)
	}
	runtime, err := nodeagent.NewRuntime(t.Context(), fakecri.New(nil).Conn(), "test")
	if err != nil {
		t.Fatal(err)
	}
	good := Options{Kubernetes: kube, Runtime: runtime, Node: "node-1"}
	for _, test := range []struct {
		name   string
		change func(*Options)
		want   string
	}{
		{"all that is required", func(*Options) {}, ""},
		{"an informer in place of the node", func(o *Options) { o.Pods, o.Node = nodeagent.NewPodInformer(kube, "node-1"), "" }, ""},
		{"no clientset", func(o *Options) { o.Kubernetes = nil }, "Options.Kubernetes is nil"},
		{"a fake clientset", func(o *Options) { o.Kubernetes = fake.NewClientset() }, "Options.Kubernetes has no REST client"},
		{"no runtime", func(o *Options) { o.Runtime = nil }, "Options.Runtime is nil"},
		{"no node", func(o *Options) { o.Node = "" }, "Options.Node is empty"},
		{"negative workers", func(o *Options) { o.Workers = -1 }, "Options.Workers is negative"},
		{"negative restart workers", func(o *Options) { o.RestartWorkers = -1 }, "Options.RestartWorkers is negative"},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := good
			test.change(&o)
			_, err := New(o)
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), "containermeta: "+test.want)) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
	if _, err := NewReconciler(good); err == nil || !strings.Contains(err.Error(), "Options.Reader is nil") {
		t.Errorf("a Reconciler without a Reader: %v", err)
	}
}

// A pod that does not exist is planned nothing for.
func TestPlanOfNothing(t *testing.T) {
	kube, err := kubernetes.NewForConfig(fakecluster.New(nil).Config(agentUser))
	if err != nil {
		t.Fatal(err)
	}
	runtime, err := nodeagent.NewRuntime(t.Context(), fakecri.New(nil).Conn(), "test")
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewReconciler(Options{Kubernetes: kube, Runtime: runtime, Reader: shelf{}})
	if err != nil {
		t.Fatal(err)
	}
	if plan, err := r.Plan(t.Context(), types.NamespacedName{Namespace: "default", Name: "none"}); plan != nil || err != nil {
		t.Errorf("plan %v, error %v", plan, err)
	}
}
