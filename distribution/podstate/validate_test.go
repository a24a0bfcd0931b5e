// SPDX-License-Identifier: Apache-2.0

package podstate_test

import (
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
