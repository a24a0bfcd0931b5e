// SPDX-License-Identifier: Apache-2.0

package podstate_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/podwright/podwright/distribution/podstate"
	"github.com/podwright/podwright/distribution/v1alpha1"
)

// PPS-2: the white list of the ConfigMap.
func TestWhitelist(t *testing.T) {
	const key = v1alpha1.PersistentPodStateWhitelistKey
	game := schema.GroupVersionKind{Group: "game.kruise.io", Version: "v1alpha1", Kind: "GameServerSet"}
	for _, test := range []struct {
		name  string
		data  map[string]string
		want  podstate.Whitelist
		wrong bool
	}{
		{"no ConfigMap", nil, nil, false},
		{"another key", map[string]string{"other": "{"}, nil, false},
		{"no list", map[string]string{key: "{}"}, nil, false},
		{"capitals", map[string]string{key: `{"workloads":[{"Group":"game.kruise.io","Version":"v1alpha1","Kind":"GameServerSet"}]}`}, podstate.Whitelist{game}, false},
		{"small letters", map[string]string{key: `{"Workloads":[{"group":"game.kruise.io","version":"v1alpha1","kind":"GameServerSet"}]}`}, podstate.Whitelist{game}, false},
		{"no JSON", map[string]string{key: `game`}, nil, true},
		{"another form", map[string]string{key: `{"workloads":["GameServerSet"]}`}, nil, true},
	} {
		got, err := podstate.ReadWhitelist(test.data)
		if diff := cmp.Diff(test.want, got); diff != "" || (err != nil) != test.wrong {
			t.Errorf("PPS-2: %s: error %v, list (-want +got):\n%s", test.name, err, diff)
		}
	}
	list := podstate.Whitelist{game}
	for kind, want := range map[schema.GroupKind]bool{
		{Group: "apps", Kind: "StatefulSet"}: true, {Group: "apps.kruise.io", Kind: "StatefulSet"}: true, {Group: "game.kruise.io", Kind: "GameServerSet"}: true,
		{Group: "apps", Kind: "Deployment"}: false, {Group: "other.io", Kind: "StatefulSet"}: false, {Group: "game.kruise.io", Kind: "StatefulSet"}: false,
	} {
		if list.Allows(kind) != want {
			t.Errorf("PPS-2: %s is allowed: %t", kind, !want)
		}
	}
}

// PPS-3: what a PersistentPodState may say.
func TestValidate(t *testing.T) {
	target := func(version, kind, name string) func(*v1alpha1.PersistentPodState) {
		return func(s *v1alpha1.PersistentPodState) {
			s.Spec.TargetReference = v1alpha1.TargetReference{APIVersion: version, Kind: kind, Name: name}
		}
	}
	const kinds = "must be StatefulSet of apps or apps.kruise.io, or a kind of PPS_Watch_Custom_Workload_WhiteList in ConfigMap kruise-configuration"
	list := podstate.Whitelist{{Group: "game.kruise.io", Version: "v1", Kind: "GameServerSet"}}
	for _, test := range []struct {
		name  string
		state *v1alpha1.PersistentPodState
		want  string
	}{
		{"required", newState(requires(host)), ""},
		{"preferred", newState(prefers(1)), ""},
		{"any policy", newState(requires(host), func(s *v1alpha1.PersistentPodState) { s.Spec.PersistentPodStateRetentionPolicy = "Any" }), ""},
		{"Kubernetes' own", newState(requires(host), target("apps/v1", "StatefulSet", "web")), ""},
		{"a listed kind, of another version", newState(requires(host), target("game.kruise.io/v2", "GameServerSet", "web")), ""},
		{"no topology", newState(), "spec: Required value: give requiredPersistentTopology, preferredPersistentTopology or both"},
		{"a Deployment", newState(requires(host), target("apps/v1", "Deployment", "web")), `spec.targetRef.kind: Invalid value: "Deployment.apps": ` + kinds},
		{"no group", newState(requires(host), target("v1", "StatefulSet", "web")), `spec.targetRef.kind: Invalid value: "StatefulSet": ` + kinds},
		{"no version", newState(requires(host), target("", "StatefulSet", "web")), "spec.targetRef.apiVersion: Required value: needs apiVersion, kind and name"},
		{"no kind, no name", newState(requires(host), target("apps/v1", "", "")), "spec.targetRef.kind: Required value: needs apiVersion, kind and name\nspec.targetRef.name: Required value: needs apiVersion, kind and name"},
		{"what is no version", newState(requires(host), target("a/b/c", "StatefulSet", "web")), `spec.targetRef.apiVersion: Invalid value: "a/b/c": must be VERSION or GROUP/VERSION`},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, err := range podstate.ValidateCreate(test.state, list) {
				got = append(got, err.Error())
			}
			if diff := cmp.Diff(test.want, strings.Join(got, "\n")); diff != "" {
				t.Errorf("PPS-3 (-want +got):\n%s", diff)
			}
		})
	}
	old := newState(requires(host))
	if errs := podstate.ValidateUpdate(newState(prefers(1, host)), old, nil); len(errs) > 0 {
		t.Errorf("PPS-3: other keys: %v", errs)
	}
	if got := podstate.ValidateUpdate(newState(requires(host), target("apps/v1", "StatefulSet", "web")), old, nil).ToAggregate(); got == nil || got.Error() != "spec.targetRef: Forbidden: cannot be modified" {
		t.Errorf("PPS-3: another target: %v", got)
	}
}
