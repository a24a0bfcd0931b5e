// SPDX-License-Identifier: Apache-2.0

package recreate_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/internal/testing/readers"
	"github.com/podwright/podwright/lifecycle/client/fake"
	"github.com/podwright/podwright/lifecycle/recreate"
)

// goodOptions are all that is required.
func goodOptions(t *testing.T) recreate.Options {
	t.Helper()
	return recreate.Options{Kubernetes: fixture.Connect(t, fakecluster.New(nil), "test", kubernetes.NewForConfig), Lifecycle: fake.NewClient()}
}

// The plan can be asked for without a reconcile.
func TestPlanOfAReconciler(t *testing.T) {
	key := types.NamespacedName{Namespace: "shop", Name: "restart"}
	const requests podwright.Resource = "containerrecreaterequests"
	old := request("completed=24000h", "ttl=5")
	for name, test := range map[string]struct {
		reader podwright.Reader
		want   string
	}{
		"no request":              {readers.Memory{requests: nil}, "none"},
		"a request":               {readers.Memory{requests: {old}, "pods": {runningPod()}}, "delete"},
		"a request without a pod": {readers.Memory{requests: {old}, "pods": nil}, "delete"},
		"a cache in trouble":      {readers.Broken{Reader: readers.Memory{requests: {old}}, Resource: "pods"}, "error"},
	} {
		o := goodOptions(t)
		o.Reader, o.AllowStaleReads = test.reader, true
		r, err := recreate.NewReconciler(o)
		if err != nil {
			t.Fatal(err)
		}
		got := "none"
		if plan, err := r.Plan(t.Context(), key); err != nil {
			got = "error"
		} else if plan != nil {
			got = strings.Join(show(nil, plan), ", ")
		}
		if got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
		if after, err := r.Reconcile(t.Context(), key); name == "no request" && (after != 0 || err != nil) {
			t.Errorf("a request that is gone: again after %v, error %v", after, err)
		}
	}
}
