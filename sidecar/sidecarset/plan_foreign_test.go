// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"strings"
	"testing"

	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// Two stored SidecarSets have a container of the same name in pods. Neither ever writes to the container of the other, and the
// condition names it. (SCS-28)
func TestContainersOfOthers(t *testing.T) {
	const (
		hot  = `{containers: [{name: mesh, image: "mesh:v1", upgradeStrategy: {upgradeType: HotUpgrade, hotUpgradeEmptyImage: "empty:1"}}]}`
		cold = `{containers: [{name: mesh-1, image: "cold:v1"}, {name: more, image: "more:v1"}]}`
		same = `{containers: [{name: mesh-1, image: "same:v1"}]}`
	)
	for _, test := range []struct{ name, first, second, want string }{
		{"a cold one like one of a hot one", hot, cold, "its container mesh-1 is that of SidecarSet a, which has one of the same name"},
		{"a hot one of which one is like a cold one: none of it is injected", cold, hot, "it lacks container mesh-2"},
		{"two cold ones", same, cold, "its container mesh-1 is that of SidecarSet a, which has one of the same name"},
		{"two hot ones: nothing is injected of the second", hot, hot, "its container mesh-1 is that of SidecarSet a, which has one of the same name"},
		{"none in common, though the records have one name", `{containers: [{name: mesh, image: "x:v1"}]}`, hot, ""},
		{"none in common, the other way round", hot, `{containers: [{name: mesh, image: "x:v1"}]}`, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			w, other := newWorld(t, test.second), newWorld(t, test.first)
			other.set.Name = "a"
			first := other.set.DeepCopy()
			w.addAs(w.bare("p"), first, w.set)
			other.pods = w.pods
			for i, world := range []*world{other, w} {
				for c := range world.set.Spec.Containers {
					world.image(world.set.Spec.Containers[c].Name, world.set.Spec.Containers[c].Name+":new")
				}
				plan, want := world.plan(), []string{"", test.want}[i]
				told := ""
				if len(plan.NotInjected) > 0 {
					told = plan.NotInjected[0].Reason.Message
				}
				if told != want || (len(updates(plan)) == 0) != (want != "") {
					t.Errorf("SidecarSet %s: told %q, want %q: %s", world.set.Name, told, want, plan)
				}
				c := conditionOf(plan.Status, string(v1alpha1.SidecarSetInjected))
				if (c != nil) != (want != "") || c != nil && !strings.Contains(c.Message, want) {
					t.Errorf("SidecarSet %s: condition %v, want %q", world.set.Name, c, want)
				}
			}
		})
	}
}

// Which names are those of one of both hot containers. (SCS-28)
func TestHotBase(t *testing.T) {
	for name, want := range map[string]string{
		"mesh-1": "mesh", "mesh-2": "mesh", "mesh-1-2": "mesh-1", "m-1": "m", // of a hot one
		"mesh": "", "mesh-3": "", "mesh-0": "", "mesh1": "", "mesh-11": "", "log": "", "m": "", "-1": "", "": "", // of none
	} {
		if got := hotBase(name); got != want {
			t.Errorf("%q is one of both hot containers of %q, want %q", name, got, want)
		}
	}
}
