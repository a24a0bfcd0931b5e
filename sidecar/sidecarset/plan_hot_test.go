// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	stdcmp "cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

const mesh = `{updateStrategy: {maxUnavailable: 1}, containers: [
  {name: mesh, image: "mesh:v1", upgradeStrategy: {upgradeType: HotUpgrade, hotUpgradeEmptyImage: "mesh:empty"}}]}`

// hotState shows the images, the working container and the versions of a hot container of
// a pod. R1 and R2 stand for the resourceVersions of the SidecarSet.
func hotState(w *world, name string, versions map[string]string) string {
	pod := w.pod("a")
	is := func(prefix, container string) string {
		value := pod.Annotations[prefix+container]
		if named, known := versions[value]; known {
			return named
		}
		return value
	}
	var working map[string]string
	if err := json.Unmarshal([]byte(pod.Annotations[v1alpha1.SidecarSetWorkingHotUpgradeContainerAnnotation]), &working); err != nil {
		w.t.Error(err)
	}
	first, second := injection.HotContainers(name)
	const version, alt = v1alpha1.SidecarSetVersionAnnotationPrefix, v1alpha1.SidecarSetVersionAltAnnotationPrefix
	return fmt.Sprintf("%s %s works %s: %s/%s %s/%s", imageOf(pod, first), imageOf(pod, second), working[name],
		is(version, first), is(alt, first), is(version, second), is(alt, second))
}

// Two hot upgrades, step by step: images, the working container, and of either container
// its version and the other's. (SCS-16 to SCS-19)
func TestHotUpgrade(t *testing.T) {
	w := newWorld(t, mesh)
	w.add("a")
	w.settle()
	got, versions := []string{hotState(w, "mesh", nil)}, map[string]string{}
	for i, image := range []string{"mesh:v2", "mesh:v3"} {
		w.image("mesh", image)
		versions[w.set.ResourceVersion] = fmt.Sprintf("R%d", i+1)
		plan := w.sync()
		got = append(got, strings.Join(updates(plan), ""), hotState(w, "mesh", versions))
		if plan := w.plan(); len(plan.Patch) > 0 || waits(plan, "a") != "HotUpgrade" {
			t.Errorf("before the new container runs:\n%s", plan)
		}
		w.kubelet()
		hash := w.pod("a").Annotations[v1alpha1.SidecarSetHashAnnotation]
		plan = w.sync()
		got = append(got, "reset "+strings.Join(resets(plan), ""), hotState(w, "mesh", versions))
		if plan.Rollout.UpdatedReady != 0 || w.pod("a").Annotations[v1alpha1.SidecarSetHashAnnotation] != hash {
			t.Errorf("with two containers that run, or after a reset: %s", plan)
		}
		if plan := w.sync(); len(plan.Patch) > 0 || plan.Rollout.UpdatedReady != 0 {
			t.Errorf("before the empty image runs:\n%s", plan)
		}
		w.kubelet()
		if plan := w.sync(); plan.Rollout.UpdatedReady != 1 {
			t.Errorf("at the end:\n%s", plan)
		}
	}
	want := `mesh:v1 mesh:empty works mesh-1: 1/0 0/1
a
mesh:v1 mesh:v2 works mesh-2: 1/R1 R1/1
reset a
mesh:empty mesh:v2 works mesh-2: 0/R1 R1/0
a
mesh:v3 mesh:v2 works mesh-1: R2/R1 R1/R2
reset a
mesh:v3 mesh:empty works mesh-1: R2/0 0/R2`
	if diff := cmp.Diff(want, strings.Join(got, "\n")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A second hot upgrade waits until the first is over, unless what that brought does not
// serve. (SCS-16, SCS-18, SCS-19)
func TestHotUpgradeTwice(t *testing.T) {
	for _, test := range []struct {
		name   string
		first  string // the image of the first upgrade
		act    func(*world)
		second string
		want   string // what the plan does, and the state after it
	}{
		{"the new one still starts: it is replaced", "mesh:v2", func(w *world) { w.down("a", "mesh-2") }, "mesh:v3",
			"update, mesh:v1 mesh:v3 works mesh-2"},
		{"the kubelet has done nothing yet", "mesh:v2", func(*world) {}, "mesh:v3",
			"InPlaceUpdating, mesh:v1 mesh:v2 works mesh-2"},
		{"both serve: one is emptied", "mesh:v2", func(w *world) { w.kubelet() }, "mesh:v3", "RefreshFirst reset, mesh:empty mesh:v2 works mesh-2"},
		{"the emptied one still runs", "mesh:v2", func(w *world) { w.kubelet(); w.sync() }, "mesh:v3",
			"InPlaceUpdating, mesh:empty mesh:v2 works mesh-2"},
		{"the emptied one is unready and runs", "mesh:v2", func(w *world) { w.kubelet(); w.sync(); w.down("a", "mesh-1") }, "mesh:v3",
			"HotUpgrade, mesh:empty mesh:v2 works mesh-2"},
		{"the empty image runs", "mesh:v2", func(w *world) { w.kubelet(); w.sync(); w.kubelet() }, "mesh:v3", "update, mesh:v3 mesh:v2 works mesh-1"},
		{"the new one cannot be pulled", "mesh:broken", func(w *world) { w.kubelet() }, "mesh:v3", "update, mesh:v1 mesh:v3 works mesh-2"},
		{"the new one crashes", "mesh:crash", func(w *world) { w.kubelet() }, "mesh:v3", "update, mesh:v1 mesh:v3 works mesh-2"},
		{"the new one crashes, and the way back is taken", "mesh:crash", func(w *world) { w.kubelet() }, "mesh:v1",
			"update, mesh:v1 mesh:crash works mesh-1"},
		{"the next new one crashes", "mesh:v2", func(w *world) {
			w.kubelet()
			w.settle()
			w.image("mesh", "mesh:crash")
			w.sync()
			w.kubelet()
		}, "mesh:v3", "update, mesh:v3 mesh:v2 works mesh-1"},
		{"neither serves", "mesh:crash", func(w *world) { w.kubelet(); w.down("a", "mesh-1") }, "mesh:v3",
			"update, mesh:v3 mesh:crash works mesh-1"},
		{"main is down: the next may repair it", "mesh:v2", func(w *world) { w.kubelet(); w.down("a", "main") }, "mesh:v3",
			"update, mesh:v3 mesh:v2 works mesh-1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t, mesh)
			w.add("a")
			w.settle()
			w.image("mesh", test.first)
			w.sync()
			test.act(w)
			w.image("mesh", test.second)
			plan := w.sync()
			did := []string{}
			if why := waits(plan, "a"); why != "" {
				did = append(did, why)
			}
			if len(resets(plan)) > 0 {
				did = append(did, "reset")
			}
			if len(updates(plan)) > 0 {
				did = append(did, "update")
			}
			state, _, _ := strings.Cut(hotState(w, "mesh", nil), ":  ")
			state, _, _ = strings.Cut(state, ": ")
			if diff := cmp.Diff(test.want, strings.Join(did, " ")+", "+state); diff != "" {
				t.Errorf("(-want +got):\n%s\n%s", diff, plan)
			}
		})
	}
}

// Whatever the first upgrade brought, the next good image is reached. (SCS-16, SCS-19)
func TestHotUpgradeConverges(t *testing.T) {
	for _, first := range []string{"mesh:v2", "mesh:broken", "mesh:crash"} {
		for _, second := range []string{"mesh:v1", "mesh:v3"} {
			w := newWorld(t, mesh)
			w.add("a", "b")
			w.settle()
			w.image("mesh", first)
			for range 3 {
				w.sync()
				w.kubelet()
			}
			w.image("mesh", second)
			w.settle()
			for _, pod := range w.pods {
				one, other := imageOf(pod, "mesh-1"), imageOf(pod, "mesh-2")
				if one == "mesh:empty" {
					one, other = other, one
				}
				if one != second || other != "mesh:empty" {
					t.Errorf("after %s and %s pod %s has %s and %s", first, second, pod.Name, one, other)
				}
			}
			if s := w.set.Status; s.UpdatedReadyPods != 2 {
				t.Errorf("after %s and %s: %+v", first, second, s)
			}
		}
	}
}

// There are several hot containers, in one or in two SidecarSets. Each has its entry in
// the annotation, and a container whose image stays is left alone. (SCS-12, SCS-16,
// SCS-18)
func TestHotUpgradeOfSeveral(t *testing.T) {
	const hot = `, upgradeStrategy: {upgradeType: HotUpgrade, hotUpgradeEmptyImage: "mesh:empty"}}`
	w := newWorld(t, `{containers: [{name: one, image: "mesh:v1"`+hot+`, {name: two, image: "mesh:v1"`+hot+`]}`)
	other := newWorld(t, `{containers: [{name: three, image: "mesh:v1"`+hot+`]}`).set
	other.Name, other.UID = "other", "uid-of-other"
	w.addAs(w.bare("a"), w.set, other)
	records := map[string]string{}
	w.settle()
	w.image("one", "mesh:v2")
	w.settle()
	pod := w.pod("a")
	if err := json.Unmarshal([]byte(pod.Annotations[v1alpha1.SidecarSetWorkingHotUpgradeContainerAnnotation]), &records); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(map[string]string{"one": "one-2", "two": "two-1", "three": "three-1"}, records); diff != "" {
		t.Errorf("working (-want +got):\n%s", diff)
	}
	w.image("two", "mesh:v2")
	w.image("one", "mesh:v3")
	w.sync()
	w.kubelet()
	if plan := w.sync(); len(plan.Patch) != 1 || len(plan.Patch[0].Patch.Images) != 2 {
		t.Errorf("both are emptied by one write: %s", plan)
	}
	w.kubelet()
	w.settle()
	pod, got := w.pod("a"), ""
	for _, name := range []string{"one-1", "one-2", "two-1", "two-2", "three-1", "three-2"} {
		got += imageOf(pod, name) + " "
	}
	if want := "mesh:v3 mesh:empty mesh:empty mesh:v2 mesh:v1 mesh:empty "; got != want {
		t.Errorf("images %s, want %s", got, want)
	}
	all, err := injection.Records(pod, v1alpha1.SidecarSetHashAnnotation)
	if err != nil || len(all) != 2 {
		t.Errorf("records %v, error %v: want those of both", all, err)
	}
}

// Hot containers are emptied as far as the strategy lets pods go out of service. (SCS-18)
func TestResetWithinStrategy(t *testing.T) {
	for strategy, want := range map[string]struct {
		resets int
		waits  string
	}{
		"paused: true": {0, "Paused"}, "type: NotUpdate": {0, "NotUpdate"}, "maxUnavailable: 0": {0, "MaxUnavailable"}, "maxUnavailable: 2": {2, ""},
		"selector: {matchLabels: {none: none}}": {1, ""}, "partition: 100%": {1, ""},
	} {
		w := newWorld(t, mesh)
		w.add("a", "b", "c")
		w.settle()
		w.edit("{updateStrategy: {maxUnavailable: 3}}")
		w.image("mesh", "mesh:v2")
		w.sync()
		w.kubelet()
		w.edit("{updateStrategy: {maxUnavailable: 1}}")
		w.edit("{updateStrategy: {" + strategy + "}}")
		if plan := w.sync(); len(resets(plan)) != want.resets || waits(plan, "c") != stdcmp.Or(want.waits, "MaxUnavailable") {
			t.Errorf("%s: %s", strategy, plan)
		}
	}
}

// A pod whose write was refused, or that an exhausted budget protects, takes the place of no other that is to be emptied. (SCS-15, SCS-18, CT-10)
func TestResetsThatAreRefusedComeLast(t *testing.T) {
	w := newWorld(t, mesh)
	w.add("a", "b", "c")
	w.settle()
	w.edit("{updateStrategy: {maxUnavailable: 3}}")
	w.image("mesh", "mesh:v2")
	w.sync()
	w.kubelet()
	w.edit("{updateStrategy: {maxUnavailable: 1}}")
	denied := func(pods ...string) (all map[types.UID]rollout.Denial) {
		all = map[types.UID]rollout.Denial{}
		for i, pod := range pods {
			at := noon.Add(time.Duration(i) * time.Second)
			all[w.pod(pod).UID] = rollout.Denial{Budget: pod, Since: at, Asked: at}
		}
		return all
	}
	for _, test := range []struct {
		name    string
		refused rollout.Refusals
		want    string
	}{
		{"none", rollout.Refusals{}, "a"},
		{"the API server refused one", rollout.Refusals{Until: noon.Add(-time.Second), Pods: map[types.UID]error{w.pod("a").UID: errors.New("no")}}, "b"},
		{"budgets denied two", rollout.Refusals{Denied: denied("a", "b")}, "c"},
		{"budgets denied all, and take turns", rollout.Refusals{Denied: denied("b", "a", "c")}, "b"},
	} {
		s := w.snapshot()
		s.Refused = test.refused
		if plan := NewPlan(s); len(resets(plan)) != 1 || resets(plan)[0] != test.want {
			t.Errorf("%s: want %s emptied:\n%s", test.name, test.want, plan)
		}
	}
}

// An empty image that cannot be pulled holds up no upgrade: the container that was to run it has stopped. (SCS-19)
func TestMissingEmptyImage(t *testing.T) {
	w := newWorld(t, strings.Replace(mesh, "mesh:empty", "mesh:broken", 1))
	w.add("a")
	w.settle()
	for _, upgrade := range []struct{ image, want string }{
		{"mesh:v2", "mesh:v1 mesh:v2 works mesh-2"}, {"mesh:v3", "mesh:v3 mesh:v2 works mesh-1"}, {"mesh:v4", "mesh:v3 mesh:v4 works mesh-2"},
	} {
		w.image("mesh", upgrade.image)
		plan := w.sync()
		if got, _, _ := strings.Cut(hotState(w, "mesh", nil), ": "); len(updates(plan)) != 1 || !strings.HasPrefix(got, upgrade.want) {
			t.Fatalf("to %s: %s\n%s", upgrade.image, got, plan)
		}
		w.kubelet()
		w.sync() // the reset
		w.kubelet()
	}
}

// A pod is out of service because of an update while a hot container of it is still to be emptied. That holds
// even if nothing is recorded of the update. (SCS-8, SCS-18)
func TestFlippingPodsCount(t *testing.T) {
	for what, act := range map[string]func(*world){
		"the update is recorded": func(*world) {},
		"the record is removed":  func(w *world) { delete(w.pod("a").Annotations, v1alpha1.SidecarSetInPlaceUpdateStateAnnotation) },
	} {
		w := newWorld(t, mesh)
		w.add("a", "b")
		w.settle()
		w.edit("{updateStrategy: {selector: {matchLabels: {first: 'true'}}}}")
		w.pod("a").Labels["first"] = "true"
		w.image("mesh", "mesh:v2")
		w.sync()
		w.kubelet()
		act(w)
		w.pod("b").Labels["first"] = "true"
		w.image("mesh", "mesh:v3")
		if plan := w.plan(); plan.Rollout.Unavailable != 1 || len(updates(plan)) > 0 || waits(plan, "b") != "MaxUnavailable" {
			t.Errorf("%s: %d out of service, want a:\n%s", what, plan.Rollout.Unavailable, plan)
		}
	}
}

// Another empty image in the spec does not reach a hot container that no upgrade has left
// behind: its own serves its purpose. (SCS-4, SCS-18)
func TestOtherEmptyImage(t *testing.T) {
	w := newWorld(t, mesh)
	w.add("a", "b", "c")
	w.settle()
	w.edit(strings.Replace(mesh, "mesh:empty", "mesh:broken", 1))
	if plan := w.sync(); len(plan.Patch) > 0 || plan.Rollout.Ready != 3 || len(plan.NotUpgradable) != 3 {
		t.Errorf("another one: %s", plan)
	}
	w.edit(strings.Replace(mesh, "mesh:v1", "mesh:v2", 1)) // the way back
	w.settle()
	if s := w.set.Status; s.UpdatedReadyPods != 3 {
		t.Errorf("the way back, and an update: %+v", s)
	}
}

// A sidecar beside that fails keeps the hot containers of an update from being emptied, and
// not from the next update, which is its repair. (SCS-18, SCS-19)
func TestHotUpgradeBesideBroken(t *testing.T) {
	for _, broken := range []string{"log:crash", "log:broken"} {
		w := newWorld(t, `{containers: [{name: log, image: "log:v1"}, {name: mesh, image: "mesh:v1", upgradeStrategy: {upgradeType: HotUpgrade, hotUpgradeEmptyImage: "mesh:empty"}}]}`)
		w.add("a")
		w.settle()
		w.image("mesh", "mesh:v2")
		w.image("log", broken)
		w.settle()
		w.image("mesh", "mesh:v3")
		w.image("log", "log:v3")
		w.settle()
		if s := w.set.Status; s.UpdatedReadyPods != 1 {
			t.Errorf("after %s: %s\n%s", broken, imageOf(w.pod("a"), "log"), w.plan())
		}
	}
}
