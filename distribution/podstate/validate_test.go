// SPDX-License-Identifier: Apache-2.0

package podstate_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/podwright/podwright/distribution/podstate"
)

// PPS-2: kinds of the white list are allowed beside StatefulSets.
func TestWhitelistAllows(t *testing.T) {
	list := podstate.Whitelist{{Group: "game.kruise.io", Version: "v1alpha1", Kind: "GameServerSet"}}
	for kind, want := range map[schema.GroupKind]bool{
		{Group: "apps", Kind: "StatefulSet"}: true, {Group: "apps.kruise.io", Kind: "StatefulSet"}: true, {Group: "game.kruise.io", Kind: "GameServerSet"}: true,
		{Group: "apps", Kind: "Deployment"}: false, {Group: "other.io", Kind: "StatefulSet"}: false, {Group: "game.kruise.io", Kind: "StatefulSet"}: false,
	} {
		if list.Allows(kind) != want {
			t.Errorf("PPS-2: %s is allowed: %t", kind, !want)
		}
	}
}
