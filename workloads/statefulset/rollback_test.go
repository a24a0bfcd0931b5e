// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/podwright/podwright/internal/podplan"
)

// TestABrokenUpdateCanBeTakenBack breaks an update with an image that never becomes ready, at every stage and under every
// combination of policies. Then it gives the template a good image again: the one before, or another. No user deletes a pod by
// hand, and nothing but kubelets and reconciles happens.
func TestABrokenUpdateCanBeTakenBack(t *testing.T) {
	t.Parallel()
	const replicas = 3
	for _, policy := range []string{
		"policy=OrderedReady", "policy=Parallel maxUnavailable=1", "policy=Parallel maxUnavailable=2", "policy=Parallel maxUnavailable=100%",
		"policy=Parallel maxUnavailable=1 unordered=true", "policy=Parallel maxUnavailable=2 unordered=true", "policy=Parallel maxUnavailable=100% unordered=true",
	} {
		for _, pods := range []string{"ReCreate", "InPlaceIfPossible", "InPlaceOnly"} {
			for partition := range replicas + 1 {
				spec := fmt.Sprintf("%s podUpdatePolicy=%s partition=%d", policy, pods, partition)
				t.Run(strings.ReplaceAll(spec, " ", ","), func(t *testing.T) { takeBackAtEveryStage(t, replicas, spec) })
			}
		}
	}
}

// takeBackAtEveryStage takes an update back after so many reconciles, until they do
// nothing more.
func takeBackAtEveryStage(t *testing.T, replicas int, spec string) {
	before := newScenario(t)
	before.Spec(append(strings.Fields(spec), fmt.Sprint("replicas=", replicas), "gate=InPlaceUpdateReady")...)
	before.rollOut(t, "")
	for _, broken := range []string{"nginx:bad", "nginx:missing"} {
		w := before.fork()
		w.Spec("image=" + broken)
		idle := 0 // reconciles since the last one that did something
		for stage := 0; stage < 8 && idle <= 2; stage++ {
			for _, good := range []string{"nginx:1", "nginx:2"} {
				back := w.fork()
				back.Spec("image=" + good)
				back.rollOut(t, fmt.Sprintf("%s, after %d reconciles back to %s", broken, stage, good))
			}
			w.Kubelets()
			plan := NewPlan(w.snapshot())
			w.checkAndApply(plan)
			if idle++; acts(plan) {
				idle = 0
			}
		}
	}
}

// fork is the same scenario with a future of its own.
func (w *setScenario) fork() *setScenario {
	fork := *w
	fork.Cluster, fork.set = w.Fork(), w.set.DeepCopy()
	return &fork
}

// rollOut lets kubelets and controller act until there is nothing to do. It fails unless all pods serve then, and are at the
// update revision from the partition up.
func (w *setScenario) rollOut(t *testing.T, what string) {
	t.Helper()
	var plan *Plan
	for range 100 {
		w.Kubelets()
		if plan = NewPlan(w.snapshot()); !acts(plan) {
			break
		}
		w.checkAndApply(plan)
	}
	j := w.judge()
	updated := 0
	for _, ordinal := range j.wanted {
		pod := j.pods[ordinal]
		if pod == nil || !j.serves(pod, pod.Labels[podplan.RevisionLabel]) {
			t.Fatalf("%s: pod %d does not serve:\n%s", what, ordinal, w.shown(plan))
		}
		if pod.Labels[podplan.RevisionLabel] == w.set.Status.UpdateRevision {
			updated++
		}
	}
	if updated < len(j.wanted)-j.partition() {
		t.Fatalf("%s: %d pods are updated:\n%s", what, updated, w.shown(plan))
	}
}

// shown shows a plan, and the pods.
func (w *setScenario) shown(plan *Plan) string {
	var out strings.Builder
	w.show(plan, &out)
	w.ShowPods(0, &out)
	return out.String()
}

// TestABrokenUpdateCanBeTakenBackAmidOtherThings is the same amid changes of
// scale, partition, strategy and environment.
func TestABrokenUpdateCanBeTakenBackAmidOtherThings(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		w := newScenario(rt)
		w.begin(rt)
		for range rapid.IntRange(2, 12).Draw(rt, "reconciles") {
			w.Kubelets()
			w.checkAndApply(NewPlan(w.snapshot()))
		}
		w.Spec(rapid.SampledFrom([]string{"image=nginx:bad", "image=nginx:missing"}).Draw(rt, "broken"))
		for range rapid.IntRange(0, 30).Draw(rt, "steps") {
			switch rapid.SampledFrom([]string{"kubelets", "kubelets", "collect", "spec", "template"}).Draw(rt, "event") {
			case "kubelets":
				w.Kubelets()
			case "collect":
				w.Collect()
			case "spec":
				w.interfereSpec(rt)
			case "template":
				w.Spec(rapid.SampledFrom([]string{"image=nginx:bad", "image=nginx:missing", "env=1", "annotation=a:1"}).Draw(rt, "template"))
			}
			w.checkAndApply(NewPlan(w.snapshot()))
		}
		w.converge(rapid.SampledFrom([]string{"nginx:1", "nginx:2"}).Draw(rt, "good image"))
	})
}
