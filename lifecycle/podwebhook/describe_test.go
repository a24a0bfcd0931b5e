// SPDX-License-Identifier: Apache-2.0

package podwebhook_test

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/podwright/podwright/internal/manifests"
	"github.com/podwright/podwright/lifecycle/podwebhook"
)

// The API server asks about the pods that one part changes. Those of the program's own namespace it asks about only if a part that goes by
// the pod alone would change them.
func TestPartsExpression(t *testing.T) {
	launch, ready := podwebhook.Fixed{MatchExpression: "l"}, podwebhook.Fixed{MatchExpression: "r"}
	all := podwebhook.Fixed{MatchExpression: "r", Elsewhere: "a"}
	for _, test := range []struct {
		parts podwebhook.Parts
		want  string
	}{
		{podwebhook.Parts{}, "false"},
		{podwebhook.Parts{OwnNamespace: "own", Sidecars: &step{expression: "false"}}, "false"},
		{podwebhook.Parts{OwnNamespace: "own", LaunchPriority: launch, Readiness: ready, Spread: &step{expression: "false"}}, "(l) || (r)"},
		{podwebhook.Parts{OwnNamespace: "own", LaunchPriority: launch, Readiness: ready, Sidecars: &step{expression: "i"}, PersistentPodState: &step{expression: "p"}},
			"(l) || (r) || request.namespace != 'own' && ((i) || (p))"},
		{podwebhook.Parts{OwnNamespace: "own", LaunchPriority: launch, Readiness: all, Sidecars: &step{expression: "i"}},
			"(l) || (r) || request.namespace != 'own' && (a) || request.namespace != 'own' && ((i))"},
		{podwebhook.Parts{Readiness: all, Sidecars: &step{expression: "i"}}, "(r) || (a) || ((i))"},
	} {
		if got, err := test.parts.MatchExpression(t.Context()); got != test.want || err != nil {
			t.Errorf("%s, error %v, want %s", got, err, test.want)
		}
	}
	failure := errors.New("not filled yet")
	if _, err := (&podwebhook.Parts{Sidecars: &step{fails: failure}}).MatchExpression(t.Context()); !errors.Is(err, failure) {
		t.Errorf("error %v", err)
	}
}

// withRules is a step that reads nodes, pods, and more in one namespace.
type withRules struct{ *step }

func (withRules) Rules() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{manifests.Rule("", "nodes", "list"), manifests.Rule("", "pods", "list")}
}

func (withRules) NamespaceRules() (string, []rbacv1.PolicyRule) {
	return "own", []rbacv1.PolicyRule{manifests.Rule("", "configmaps", "get")}
}

// The webhook has its parts in their order. It has what their caches take in the namespace that they read, also if they wait for
// a CRD.
func TestDescribe(t *testing.T) {
	spread := podwebhook.WhenServed(withRules{&step{expression: "s"}}, "Spreads", nil)
	parts := podwebhook.Parts{Namespace: "shop", Spread: spread, Sidecars: &step{expression: "i"}, PersistentPodState: &step{expression: "p"}, Probes: &step{expression: "r"}}
	k := podwebhook.Describe(parts)
	pod := &corev1.Pod{}
	for _, mutate := range []podwebhook.Mutator{parts.Webhook().Sidecars, parts.Webhook().PersistentPodState, parts.Webhook().Probes} {
		if err := mutate(t.Context(), nil, pod); err != nil {
			t.Fatal(err)
		}
	}
	if w := parts.Webhook(); pod.Name != "ipr" || w.Spread == nil || w.Readiness != nil || w.LaunchPriority != nil {
		t.Errorf("the steps %+v change %q", w, pod.Name)
	}
	if k.New != nil || k.Admission.Handlers[podwebhook.MutatePath] == nil || k.Admission.Conditions[podwebhook.MutatePath] == nil {
		t.Errorf("%+v", k)
	}
	got := map[string]string{}
	for _, p := range k.Admission.Permissions {
		for _, r := range p.Rules {
			got[r.Resources[0]] = p.Namespace
		}
	}
	if len(got) != 3 || got["nodes"] != "" || got["pods"] != "shop" || got["configmaps"] != "own" {
		t.Errorf("read by namespace: %v", got)
	}
	if parts := (podwebhook.Parts{}); len(parts.Steps()) != 0 || parts.Webhook().Sidecars != nil {
		t.Error("what is left out has steps")
	}
}
