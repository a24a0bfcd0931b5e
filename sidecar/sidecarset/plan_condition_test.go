// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"strings"
	"testing"
	"time"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/lifecycle/readiness"
)

// A pod says whether it can be updated in place. It says false when more than images changes. It says true when that is
// changed back, or when the pod is updated. Nothing is written twice. (SCS-33)
func TestUpgradableCondition(t *testing.T) {
	w := newWorld(t, logs)
	w.add("a")
	w.settle()
	var gone map[string]bool
	// upgradable applies the plan's patches of the condition, and tells how many there were.
	upgradable := func() (written int) {
		s := w.snapshot()
		s.Features.UpgradableCondition, s.Gone = true, gone
		for _, patch := range NewPlan(s).Patch {
			if patch.Kind != patchUpgradable {
				continue
			}
			written++
			pod, err := patch.Patch.Apply(patch.Pod)
			if err != nil {
				t.Fatal(err)
			}
			if writes, err := patch.Patch.Writes(patch.Pod); err != nil || len(writes) != 1 || !strings.Contains(string(writes[0].Data), "resourceVersion") {
				t.Errorf("%v, %v", writes, err)
			}
			*w.pod(pod.Name) = *pod
		}
		return written
	}
	step := func(name string, written int, want string) {
		t.Helper()
		if got := upgradable(); got != written {
			t.Errorf("%s: %d patches, want %d", name, got, written)
		}
		if again := upgradable(); again != 0 {
			t.Errorf("%s: %d patches again", name, again)
		}
		got := "none"
		if c := readiness.Condition(w.pod("a"), "SidecarSetUpgradable"); c != nil {
			got = string(c.Status) + " " + c.Reason + " " + c.Message + " since " + c.LastTransitionTime.UTC().Format("15:04")
		}
		if got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	const no, yes = "False UpdateImmutableField ", "True AllSidecarsetUpgradable "
	step("as it was injected", 0, "none")
	w.edit(`{containers: [{name: log, image: "log:v0"}], updateStrategy: {partition: 1}}`)
	step("another image, which waits", 0, "none")
	w.edit(`{containers: [{name: log, image: "log:v1"}], updateStrategy: {partition: 0}}`)
	w.edit(`{containers: [{name: log, image: "log:v1", args: [x]}], updateStrategy: {selector: {matchLabels: {ring: a}}}}`)
	step("the selector does not match", 0, "none")
	w.set.Spec.UpdateStrategy.Selector, w.set.Spec.UpdateStrategy.Paused = nil, true
	step("paused", 0, "none")
	w.set.Spec.UpdateStrategy.Paused, w.set.Spec.UpdateStrategy.Type = false, "NotUpdate"
	step("NotUpdate", 0, "none")
	w.set.Spec.UpdateStrategy.Type = "RollingUpdate"
	step("args change", 1, no+`{"demo":false} since 12:00`)
	w.now = w.now.Add(time.Hour)
	w.edit(`{containers: [{name: log, image: "log:v1", args: null}]}`)
	step("args change back", 1, yes+`{"demo":true} since 13:00`)
	readiness.Condition(w.pod("a"), "SidecarSetUpgradable").Message = `{"other":false}`
	w.image("log", "log:v2")
	w.now = w.now.Add(time.Hour)
	w.settle()
	step("updated, and another SidecarSet says false", 1, no+`{"demo":true,"other":false} since 14:00`)
	gone = map[string]bool{"demo": false, "other": true}
	step("the other one is gone", 1, yes+`{"demo":true} since 14:00`)
	readiness.Condition(w.pod("a"), "SidecarSetUpgradable").Message = "no JSON"
	step("what cannot be read is replaced", 1, yes+`{"demo":true} since 14:00`)
}

// The feature is off by default, and takes the right to patch the status of pods. (SCS-33)
func TestUpgradableConditionIsOff(t *testing.T) {
	w := newWorld(t, logs)
	w.add("a")
	w.settle()
	w.edit(`{containers: [{name: log, image: "log:v1", args: [x]}]}`)
	for _, patch := range w.plan().Patch {
		if patch.Kind == patchUpgradable {
			t.Error(rollout.PodPatch(patch))
		}
	}
	for _, on := range []bool{false, true} {
		may := false
		for _, rule := range Rules(Options{Features: Features{UpgradableCondition: on}}) {
			may = may || len(rule.Resources) == 1 && rule.Resources[0] == "pods/status" && rule.Verbs[0] == "patch"
		}
		if may != on {
			t.Errorf("on %t: may patch pods/status %t", on, may)
		}
	}
}
