// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/internal/podplan"
	"github.com/podwright/podwright/lifecycle/readiness"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
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
			w.apply(plan)
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
	var out strings.Builder
	w.Settle(w.Reconcile, &out)
	w.ShowPods(0, &out)
	updated, wanted := 0, int(*w.set.Spec.Replicas)
	for ordinal := range wanted {
		pod := w.Pod(fmt.Sprint("web-", ordinal))
		if pod == nil || !w.serves(pod) {
			t.Fatalf("%s: pod %d does not serve:\n%s", what, ordinal, &out)
		}
		if pod.Labels[podplan.RevisionLabel] == w.set.Status.UpdateRevision {
			updated++
		}
	}
	if r := w.set.Spec.UpdateStrategy.RollingUpdate; r != nil && updated < wanted-int(ptr.Deref(r.Partition, 0)) {
		t.Fatalf("%s: %d pods are updated:\n%s", what, updated, &out)
	}
}

// serves tells whether a pod is available, and nothing takes it aside.
func (w *setScenario) serves(pod *corev1.Pod) bool {
	state, done := pod.Labels[lifecyclev1alpha1.StateLabel], true
	for i, c := range pod.Status.ContainerStatuses {
		done = done && c.Image == pod.Spec.Containers[i].Image
	}
	return done && pod.DeletionTimestamp == nil && readiness.ReadyFor(pod, w.MinReadySeconds(), w.Now) && (state == "" || state == "Normal")
}
