// SPDX-License-Identifier: Apache-2.0

package containermeta

import (
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/internal/testing/fakecri"
	"github.com/podwright/podwright/internal/testing/fakecri/agents"
	"github.com/podwright/podwright/nodeagent"
)

// unusedClients reach an API server and a runtime without objects.
func unusedClients(t testing.TB) (kubernetes.Interface, *nodeagent.Runtime) {
	return fixture.Connect(t, fakecluster.New(nil), "agent", kubernetes.NewForConfig), agents.Connect(t, fakecri.New(nil))
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
