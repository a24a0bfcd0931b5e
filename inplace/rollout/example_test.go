package rollout_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/inplace/rollout"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/lifecycle/readiness"
)

// pod returns a running pod on a node; ready or not.
func pod(name, node string, ready corev1.ConditionStatus) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       corev1.PodSpec{NodeName: node},
		Status: corev1.PodStatus{
			Phase:      corev1.PodRunning,
			Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: ready}},
		},
	}
}

// Which three of eight pods move next, and why not the others? Two pods stay
// at the old revision, three may be unavailable, one is broken already. The
// pods with the label "canary" go first.
func Example() {
	const yes, no = corev1.ConditionTrue, corev1.ConditionFalse
	pods := []*corev1.Pod{
		pod("web-a", "node-1", yes), pod("web-b", "node-1", yes), pod("web-c", "node-2", yes), pod("web-d", "node-2", no),
		pod("web-e", "node-3", yes), pod("web-f", "node-3", yes), pod("web-g", "node-4", yes), pod("web-h", "node-4", yes),
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
	tally := rollout.Tally{Replicas: 8, Partition: 2, MaxUnavailable: 4}
	unavailable := rollout.Unavailable{}
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
	var candidates []rollout.Candidate
	for _, p := range sorted {
		candidates = append(candidates, rollout.Candidate{Pod: p, Available: readiness.Ready(p)})
	}
	move, wait := tally.SelectForUpdate(candidates, unavailable)

	for _, p := range move {
		fmt.Printf("%s  moves\n", p.Name)
	}
	for _, w := range wait {
		fmt.Printf("%s  waits  %s\n", w.Pod.Name, w.Reason)
	}
	// Output:
	// web-g  moves
	// web-c  moves
	// web-h  moves
	// web-d  moves
	// web-f  waits  maxUnavailable 4: 1 pod is unavailable already and 3 pods are updated now
	// web-e  waits  maxUnavailable 4: 1 pod is unavailable already and 3 pods are updated now
	// web-b  waits  partition 2: 2 pods stay at the old revision
	// web-a  waits  partition 2: 2 pods stay at the old revision
}

// A percentage under 100% never keeps all pods at the old revision.
func ExamplePartition() {
	for _, percentage := range []string{"0%", "12.5%", "90%", "99.9%", "100%"} {
		partition := intstr.FromString(percentage)
		n, err := rollout.Partition(&partition, 10)
		fmt.Printf("%6s of 10: %d %v\n", percentage, n, err)
	}
	partition := intstr.FromString("50")
	_, err := rollout.Partition(&partition, 10)
	fmt.Println(err)
	// Output:
	//     0% of 10: 0 <nil>
	//  12.5% of 10: 2 <nil>
	//    90% of 10: 9 <nil>
	//  99.9% of 10: 9 <nil>
	//   100% of 10: 10 <nil>
	// partition: found "50", want a number such as 3 or a percentage such as "12.5%"
}

// The pod that would be missed least is deleted first.
func ExampleSortForDeletion() {
	cheap := pod("cheap", "node-1", corev1.ConditionTrue)
	cheap.Annotations = map[string]string{corev1.PodDeletionCost: "-10"}
	pods := []*corev1.Pod{
		pod("alone", "node-3", corev1.ConditionTrue),
		pod("crowded-a", "node-2", corev1.ConditionTrue),
		pod("crowded-b", "node-2", corev1.ConditionTrue),
		cheap,
		pod("broken", "node-4", corev1.ConditionFalse),
		pod("unscheduled", "", corev1.ConditionFalse),
	}
	for _, p := range rollout.SortForDeletion(pods, rollout.DeletionOptions{Available: readiness.Ready}) {
		fmt.Println(p.Name)
	}
	// Output:
	// unscheduled
	// broken
	// cheap
	// crowded-a
	// alone
	// crowded-b
}

// A surge pod makes room where maxUnavailable is 0.
func ExampleTally_Moves() {
	tally := rollout.Tally{
		Replicas: 3, MaxUnavailable: 0, MaxSurge: 1, ScaleMaxUnavailable: 3,
		Old: rollout.Class{Total: 3},
	}
	m := tally.Moves()
	fmt.Printf("create %d, update %d, of which %d may be unavailable\n", m.Create, m.Update, m.UpdateMaxUnavailable)

	tally.New = rollout.Class{Total: 1}
	m = tally.Moves()
	fmt.Printf("create %d, update %d, of which %d may be unavailable\n", m.Create, m.Update, m.UpdateMaxUnavailable)

	tally.Old, tally.New = rollout.Class{Total: 1}, rollout.Class{Total: 3}
	m = tally.Moves()
	fmt.Printf("delete %d, of which %d from the old revision\n", m.ScaleDown, m.ScaleDownOld)
	// Output:
	// create 1, update 3, of which 0 may be unavailable
	// create 0, update 2, of which 1 may be unavailable
	// delete 1, of which 1 from the old revision
}
