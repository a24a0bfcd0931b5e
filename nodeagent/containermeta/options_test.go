// SPDX-License-Identifier: Apache-2.0

package containermeta

import (
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/internal/testing/fakecri"
	"github.com/podwright/podwright/internal/testing/fakecri/agents"
	"github.com/podwright/podwright/internal/testing/readers"
	"github.com/podwright/podwright/nodeagent"
)

// unusedClients reach an API server and a runtime without objects.
func unusedClients(t testing.TB) (kubernetes.Interface, *nodeagent.Runtime) {
	return fixture.Connect(t, fakecluster.New(nil), "agent", kubernetes.NewForConfig), agents.Connect(t, fakecri.New(nil))
}

// A pod that does not exist is planned nothing for.
func TestPlanOfNothing(t *testing.T) {
	kube, runtime := unusedClients(t)
	r, err := NewReconciler(Options{ControllerOptions: podwright.ControllerOptions{Reader: readers.Memory{}}, Kubernetes: kube, Runtime: runtime})
	if err != nil {
		t.Fatal(err)
	}
	if plan, err := r.Plan(t.Context(), types.NamespacedName{Namespace: "default", Name: "none"}); plan != nil || err != nil {
		t.Errorf("plan %v, error %v", plan, err)
	}
}

// An agent that reads the pods of its kubelet asks for no rule to list or watch them. It
// has to say where they come from.
func TestPodsOfKubelet(t *testing.T) {
	for of, want := range map[bool]bool{false: true, true: false} {
		reads := slices.ContainsFunc(Rules(Options{PodsOfKubelet: of}), func(r rbacv1.PolicyRule) bool {
			return slices.Contains(r.Resources, "pods")
		})
		if reads != want {
			t.Errorf("PodsOfKubelet %v: reads pods %v", of, reads)
		}
	}
	if _, err := New(Options{Node: "node-1", PodsOfKubelet: true}); err == nil || !strings.Contains(err.Error(), "Options.PodsOfKubelet needs Pods or Reader") {
		t.Errorf("error %v", err)
	}
}
