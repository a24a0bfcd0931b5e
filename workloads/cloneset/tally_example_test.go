// SPDX-License-Identifier: Apache-2.0

package cloneset_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/rollout"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/lifecycle/readiness"
	"github.com/podwright/podwright/workloads/cloneset"
)

// runningPod returns a pod on a node, ready or not.
func runningPod(name, node string, ready corev1.ConditionStatus) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       corev1.PodSpec{NodeName: node},
		Status: corev1.PodStatus{
			Phase:      corev1.PodRunning,
			Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: ready}},
		},
	}
}

// Which three of eight pods are updated next, and why not the others? Two pods stay
// at the old revision, three may be unavailable, one is broken already. The
// pods with the label "canary" go first.
func ExampleTally_SelectForUpdate() {
	const yes, no = corev1.ConditionTrue, corev1.ConditionFalse
	pods := []*corev1.Pod{
		runningPod("web-a", "node-1", yes), runningPod("web-b", "node-1", yes), runningPod("web-c", "node-2", yes), runningPod("web-d", "node-2", no),
		runningPod("web-e", "node-3", yes), runningPod("web-f", "node-3", yes), runningPod("web-g", "node-4", yes), runningPod("web-h", "node-4", yes),
	}
	for _, i := range []int{2, 6} {
		pods[i].Labels = map[string]string{"canary": "true"}
	}
	canariesFirst := &inplacev1alpha1.UpdatePriorityStrategy{
		WeightPriority: []inplacev1alpha1.UpdatePriorityWeightTerm{{
			Weight: 10, MatchSelector: metav1.LabelSelector{MatchLabels: map[string]string{"canary": "true"}},
		}},
	}

	// Count: all eight pods are old, and web-d is not available.
	tally := cloneset.Tally{Replicas: 8, Partition: 2, MaxUnavailable: 4}
	unavailable := cloneset.Unavailable{}
	for _, p := range pods {
		available := readiness.Ready(p)
		tally.Old.Add(false, false, available)
		if !available {
			unavailable.All++
		}
	}

	// Order, then select.
	sorted, err := rollout.SortForUpdate(pods, rollout.UpdateOptions{Priority: canariesFirst})
	if err != nil {
		fmt.Println(err)
		return
	}
	var candidates []cloneset.Candidate
	for _, p := range sorted {
		candidates = append(candidates, cloneset.Candidate{Pod: p, Available: readiness.Ready(p)})
	}
	move, wait := tally.SelectForUpdate(candidates, unavailable)

	for _, p := range move {
		fmt.Printf("%s  is updated\n", p.Name)
	}
	for _, w := range wait {
		fmt.Printf("%s  waits  %s\n", w.Pod.Name, w.Reason)
	}
	// Output:
	// web-g  is updated
	// web-c  is updated
	// web-h  is updated
	// web-d  is updated
	// web-f  waits  maxUnavailable 4: 1 pod is unavailable already and 3 pods are updated now
	// web-e  waits  maxUnavailable 4: 1 pod is unavailable already and 3 pods are updated now
	// web-b  waits  partition 2: 2 pods stay at the old revision
	// web-a  waits  partition 2: 2 pods stay at the old revision
}

// A surge pod makes room if maxUnavailable is 0.
func ExampleTally_Diff() {
	tally := cloneset.Tally{
		Replicas: 3, MaxUnavailable: 0, MaxSurge: 1, ScaleMaxUnavailable: 3,
		Old: cloneset.Class{Total: 3},
	}
	d := tally.Diff()
	fmt.Printf("create %d, update %d, of which %d may be unavailable\n", d.Create, d.Update, d.UpdateMaxUnavailable)

	tally.New = cloneset.Class{Total: 1}
	d = tally.Diff()
	fmt.Printf("create %d, update %d, of which %d may be unavailable\n", d.Create, d.Update, d.UpdateMaxUnavailable)

	tally.Old, tally.New = cloneset.Class{Total: 1}, cloneset.Class{Total: 3}
	d = tally.Diff()
	fmt.Printf("delete %d, of which %d from the old revision\n", d.ScaleDown, d.ScaleDownOld)
	// Output:
	// create 1, update 3, of which 0 may be unavailable
	// create 0, update 2, of which 1 may be unavailable
	// delete 1, of which 1 from the old revision
}
