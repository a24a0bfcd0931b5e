// SPDX-License-Identifier: Apache-2.0

package budget_test

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/availability/budget"
	"github.com/podwright/podwright/availability/v1alpha1"
)

// The total is what the annotation says, whatever the workloads want. (PUB-43)
func TestSelectAnnotated(t *testing.T) {
	web, app := workload("apps.kruise.io", "CloneSet", "web", 3, ""), map[string]string{"app": "web"}
	stopped, going := workload("apps.kruise.io", "CloneSet", "web", 0, ""), workload("apps.kruise.io", "CloneSet", "web", 3, "")
	older := workload("apps.kruise.io", "CloneSet", "web", 3, "")
	older.UID, older.Deleting, going.Deleting = "older", true, true
	ofWeb := controlledBy("apps.kruise.io/v1alpha1", "CloneSet", "web")
	unknown := controlledBy("x.io/v1", "CloneSet", "y")
	for _, tt := range []struct {
		name      string
		budget    *v1alpha1.PodUnavailableBudget
		pods      []*corev1.Pod
		workloads budget.Workloads
		want      string // total, pods and how many are desired, with maxUnavailable 1
	}{
		{"a target that wants fewer", newBudget(protectTotal("8")), newPods(2), workloads(web), "8 pod-0 pod-1: 7"},
		{"a selector whose workload wants fewer", newBudget(selecting(app), protectTotal("8")), newPods(1), workloads(web), "8 pod-0: 7"},
		{"a target that wants more", newBudget(protectTotal("2")), newPods(3), workloads(web), "2 pod-0 pod-1 pod-2: 1"},
		{"a target that wants none: its pods count, since they are judged", newBudget(protectTotal("8")), newPods(1), workloads(stopped), "8 pod-0: 7"},
		{"a target that is being deleted", newBudget(protectTotal("8")), newPods(1, ofWeb), workloads(going), "8 pod-0: 7"},
		{"a target that is gone, as was one of its name", newBudget(protectTotal("8")), []*corev1.Pod{newPod("a", ofWeb), newPod("b", ofWeb, ownedBy("older")), newPod("c", controlledBy("apps.kruise.io/v1alpha1", "CloneSet", "other"))},
			workloads(going, older), "8 a b: 7"},
		{"a target that is gone", newBudget(protectTotal("8")), nil, nil, "8: 7"},
		{"a selector whose workload wants none", newBudget(selecting(app), protectTotal("8")), newPods(1), workloads(stopped), "8 pod-0: 7"},
		{"of some it is not known what they want", newBudget(selecting(app), protectTotal("3")), []*corev1.Pod{newPod("a", unknown), newPod("b", unknown), newPod("c", unknown), newPod("d")}, workloads(web), "3 a b c d: 2"},
		{"0: nothing is protected", newBudget(protectTotal("0")), newPods(1), workloads(web), "0 pod-0: 0"},
		{"a negative number that is stored", newBudget(protectTotal("-2")), newPods(1), workloads(web), "0 pod-0: 0"},
		{"what is stored and no number", newBudget(protectTotal("many")), newPods(1), workloads(web), "3 pod-0: 2"},
		{"none", newBudget(), newPods(1), workloads(web), "3 pod-0: 2"},
		{"an empty one", newBudget(protectTotal("")), newPods(1), workloads(web), "3 pod-0: 2"},
	} {
		t.Run("PUB-43: "+tt.name, func(t *testing.T) {
			s, err := budget.SelectAnnotated(tt.budget, budget.Candidates(tt.budget, budget.Read(tt.pods...)), tt.workloads)
			if err != nil {
				t.Fatal(err)
			}
			r, err := budget.Compute(tt.budget, s, start)
			if err != nil {
				t.Fatal(err)
			}
			got := fmt.Sprint(s.Total)
			for _, pod := range s.Pods {
				got += " " + pod.Name
			}
			if got += fmt.Sprintf(": %d", r.Status.DesiredAvailable); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
	if _, err := budget.SelectAnnotated(newBudget(selecting(map[string]string{"app": "?"}), protectTotal("8")), nil, nil); err == nil || !strings.Contains(err.Error(), "spec.selector") {
		t.Errorf("a wrong selector gives %v", err)
	}
}

// A pod whose containers do not run yet what its spec says may go as one that is not ready may. (PUB-14.3)
func TestInconsistentMayGo(t *testing.T) {
	behind := func(pod *corev1.Pod) { pod.Spec.Containers[0].Image = "nginx@sha256:bb" }
	mirrored := func(pod *corev1.Pod) {
		pod.Spec.Containers[0].Image, pod.Status.ContainerStatuses[0].ImageID = "nginx@sha256:aa", "mirror.io/library/nginx@sha256:aa"
	}
	const update, remove, evict = v1alpha1.PubUpdateOperation, v1alpha1.PubDeleteOperation, v1alpha1.PubEvictOperation
	full := newBudget(func(b *v1alpha1.PodUnavailableBudget) { b.Status.UnavailableAllowed = 0 })
	for _, tt := range []struct {
		name      string
		budget    *v1alpha1.PodUnavailableBudget
		pod       *corev1.Pod
		operation v1alpha1.PubOperation
		want      string // the reason, or what is written
	}{
		{"deleted", full, newPod("pod", behind), remove, "the pod does not run yet what its spec says"},
		{"updated", full, newPod("pod", behind), update, "the pod does not run yet what its spec says"},
		{"evicted: it may be consistent before it has gone", full, newPod("pod", behind), evict, "10 available, 9 desired, 0 allowed"},
		{"of a budget that is gone", nil, newPod("pod", behind), evict, "the pod does not run yet what its spec says"},
		{"consistent", full, newPod("pod"), remove, budget.ReasonNothingAllowed},
		{"consistent, with the image of a mirror", full, newPod("pod", mirrored), remove, budget.ReasonNothingAllowed},
	} {
		t.Run("PUB-14.3: "+tt.name, func(t *testing.T) {
			d := budget.Decide(tt.budget, tt.pod, budget.Request{Operation: tt.operation, InconsistentMayGo: true, Now: after(1)})
			got := d.Reason
			if d.Status != nil {
				if got = numbers(d.Status); len(d.Status.DisruptedPods) != 1 {
					t.Errorf("recorded: %v", d.Status.DisruptedPods)
				}
			}
			if got != tt.want || d.Allowed == (d.Reason == budget.ReasonNothingAllowed) {
				t.Errorf("got %q (allowed %t), want %q", got, d.Allowed, tt.want)
			}
			if d := budget.Decide(tt.budget, tt.pod, budget.Request{Operation: tt.operation, Now: after(1)}); tt.budget != nil && d.Allowed {
				t.Errorf("without the switch it may go as well: %s", d.Reason)
			}
		})
	}
}
