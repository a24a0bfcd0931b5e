// SPDX-License-Identifier: Apache-2.0

package recreate_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/testing/readers"
	"github.com/podwright/podwright/lifecycle/client/fake"
	"github.com/podwright/podwright/lifecycle/recreate"
)

func unusedClientset(t *testing.T) kubernetes.Interface {
	t.Helper()
	c, err := kubernetes.NewForConfig(&rest.Config{Host: "http://unused"})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// broken is a Reader whose cache of pods cannot be read.
type broken struct{ podwright.Reader }

func (r broken) Get(resource podwright.Resource, namespace, name string) (any, error) {
	if resource == "pods" {
		return nil, errors.New("broken")
	}
	return r.Reader.Get(resource, namespace, name)
}

// reading are options of a Reader.
func reading(t *testing.T, reader podwright.Reader) recreate.Options {
	return recreate.Options{ControllerOptions: podwright.ControllerOptions{Reader: reader, AllowStaleReads: true}, Kubernetes: unusedClientset(t), Lifecycle: fake.NewClient()}
}

// The plan can be asked for without a reconcile.
func TestPlanOfAReconciler(t *testing.T) {
	key := types.NamespacedName{Namespace: "shop", Name: "restart"}
	const requests podwright.Resource = "containerrecreaterequests"
	old := request("completed=24000h", "ttl=5")
	for _, test := range []struct {
		name   string
		reader podwright.Reader
		want   []string // nil: there is no request
		fails  bool
	}{
		{"no request", readers.Memory{}, nil, false},
		{"a request", readers.Memory{requests: {old}, "pods": {runningPod()}}, []string{"delete"}, false},
		{"a request without a pod", readers.Memory{requests: {old}, "pods": nil}, []string{"delete"}, false},
		{"a cache in trouble", broken{readers.Memory{requests: {old}}}, nil, true},
	} {
		r, err := recreate.NewReconciler(reading(t, test.reader))
		if err != nil {
			t.Fatal(err)
		}
		plan, err := r.Plan(context.Background(), key)
		if (err != nil) != test.fails {
			t.Errorf("%s: error %v", test.name, err)
		}
		var got []string
		if plan != nil {
			got = show(nil, plan)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: plan (-want +got):\n%s", test.name, diff)
		}
	}
	r, err := recreate.NewReconciler(reading(t, readers.Memory{}))
	if err != nil {
		t.Fatal(err)
	}
	if after, err := r.Reconcile(context.Background(), key); after != 0 || err != nil {
		t.Errorf("a request that is gone: again after %v, error %v", after, err)
	}
}
