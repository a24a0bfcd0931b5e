// SPDX-License-Identifier: Apache-2.0

package image

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/internal/testing/fakecri"
	"github.com/podwright/podwright/internal/testing/readers"
	"github.com/podwright/podwright/nodeagent"
)

func goodOptions(t *testing.T) Options {
	t.Helper()
	config := newServer().Config("agent")
	d, err := client.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	runtime, err := nodeagent.NewRuntime(t.Context(), fakecri.New(nil).Conn(), "test")
	if err != nil {
		t.Fatal(err)
	}
	return Options{Distribution: d, Kubernetes: kubernetes.NewForConfigOrDie(config), Runtime: runtime, Node: "node-1"}
}

func TestOptions(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*Options)
		want   string
	}{
		{"all that is required", func(*Options) {}, ""},
		{"no client of NodeImages", func(o *Options) { o.Distribution = nil }, "Options.Distribution is nil"},
		{"no clientset", func(o *Options) { o.Kubernetes = nil }, "Options.Kubernetes is nil"},
		{"no runtime", func(o *Options) { o.Runtime = nil }, "Options.Runtime is nil"},
		{"no node", func(o *Options) { o.Node = "" }, "Options.Node is empty"},
		{"negative concurrency", func(o *Options) { o.Concurrency = -1 }, "Options.Concurrency is negative"},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := goodOptions(t)
			test.change(&o)
			_, err := New(o)
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), "image: "+test.want)) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
	if _, err := NewReconciler(goodOptions(t)); err == nil || !strings.Contains(err.Error(), "Options.Reader is nil") || !strings.Contains(err.Error(), "Options.Wake is nil") {
		t.Errorf("a Reconciler without a Reader: %v", err)
	}
}

// A Reconciler runs on the caches of another framework, and says what is next.
func TestReconciler(t *testing.T) {
	o := goodOptions(t)
	o.Reader, o.Wake = readers.Memory{resourceNodeImages: {newNodeImage(wants("nginx", "1"))}}, func(types.NamespacedName) {}
	r, err := NewReconciler(o)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	plan, err := r.Plan(t.Context(), types.NamespacedName{Name: "node-1"})
	if err != nil || len(plan.Start) != 1 || plan.Start[0].Reference != "nginx:1" {
		t.Errorf("plan %+v, error %v", plan, err)
	}
}
