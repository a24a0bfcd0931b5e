// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

const mesh = `{updateStrategy: {maxUnavailable: 1}, containers: [
  {name: mesh, image: "mesh:v1", upgradeStrategy: {upgradeType: HotUpgrade, hotUpgradeEmptyImage: "mesh:empty"}}]}`

// hotState shows the images, the working container and the versions of a hot container of
// a pod. R1 and R2 stand for the resourceVersions of the SidecarSet.
func hotState(t testing.TB, pod *corev1.Pod, name string, versions map[string]string) string {
	t.Helper()
	is := func(prefix, container string) string {
		value := pod.Annotations[prefix+container]
		if named, known := versions[value]; known {
			return named
		}
		return value
	}
	var working map[string]string
	if err := json.Unmarshal([]byte(pod.Annotations[v1alpha1.SidecarSetWorkingHotUpgradeContainerAnnotation]), &working); err != nil {
		t.Error(err)
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
	got, versions := []string{hotState(t, w.pod("a"), "mesh", nil)}, map[string]string{}
	for i, image := range []string{"mesh:v2", "mesh:v3"} {
		w.image("mesh", image)
		versions[w.set.ResourceVersion] = fmt.Sprintf("R%d", i+1)
		plan := w.sync()
		got = append(got, strings.Join(updates(plan), ""), hotState(t, w.pod("a"), "mesh", versions))
		if plan := w.plan(); len(plan.Patch) > 0 || waits(plan, "a") != "HotUpgrade" {
			t.Errorf("before the new container runs:\n%s", plan)
		}
		w.kubelet()
		hash := w.pod("a").Annotations[v1alpha1.SidecarSetHashAnnotation]
		plan = w.sync()
		got = append(got, "reset "+strings.Join(resets(plan), ""), hotState(t, w.pod("a"), "mesh", versions))
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
