// SPDX-License-Identifier: Apache-2.0

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

// A percentage under 100% never holds all pods at the old revision.
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

// The pods that serve least are updated first, unless a strategy says otherwise.
func ExampleSortForUpdate() {
	labelled := func(name, weight string, ready corev1.ConditionStatus) *corev1.Pod {
		p := pod(name, "node", ready)
		p.Labels = map[string]string{"shard": weight}
		return p
	}
	pods := []*corev1.Pod{
		labelled("web-a", "shard-1", corev1.ConditionTrue),
		labelled("web-b", "shard-3", corev1.ConditionTrue),
		labelled("web-c", "shard-2", corev1.ConditionFalse),
	}
	for _, o := range []rollout.UpdateOptions{
		{},
		{Priority: &inplacev1alpha1.UpdatePriorityStrategy{OrderPriority: []inplacev1alpha1.UpdatePriorityOrderTerm{{OrderedKey: "shard"}}}},
	} {
		sorted, err := rollout.SortForUpdate(pods, o)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(sorted[0].Name, sorted[1].Name, sorted[2].Name)
	}
	// Output:
	// web-c web-a web-b
	// web-b web-c web-a
}
