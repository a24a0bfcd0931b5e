// SPDX-License-Identifier: Apache-2.0

package containermeta

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/podwright/podwright/internal/fakecluster"
	"github.com/podwright/podwright/internal/fakecri"
	"github.com/podwright/podwright/nodeagent"
)

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
