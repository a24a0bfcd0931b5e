// SPDX-License-Identifier: Apache-2.0

package toy

import (
	"fmt"
	"regexp"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/testing/fakecluster/mutation"
	"github.com/podwright/podwright/internal/testing/toy/v1alpha1"
)

// A toy counts the pods that name it, and no others.
func ExampleNewPlan() {
	toy, pod, other := &v1alpha1.Toy{}, &corev1.Pod{}, &corev1.Pod{}
	toy.Name, pod.Labels = "blocks", map[string]string{"toy": "blocks"}
	fmt.Println(NewPlan(&Snapshot{toy, []*corev1.Pod{pod, other}}).Status.Pods)
	// Output: 1
}

// Whatever changes about a pod, if that changes the plan of a toy, the toy is enqueued.
func TestPodsThatMatter(t *testing.T) {
	toy, pod, reads := &v1alpha1.Toy{}, &corev1.Pod{}, mutation.Reads{}
	toy.Name, pod.Labels = "blocks", map[string]string{"toy": "blocks"}
	mutation.Plan[corev1.Pod]{
		Copy: (*corev1.Pod).DeepCopy, Can: regexp.MustCompile(mutation.Metadata),
		Of: func(pod *corev1.Pod) string { return fmt.Sprint(NewPlan(&Snapshot{toy, []*corev1.Pod{pod}}).Status) },
		Matters: func(before, after *corev1.Pod) (enqueued bool) {
			if controller.Changed(before, after, podFields) != 0 {
				podChanged(before, after, func(types.NamespacedName) { enqueued = true })
			}
			return enqueued
		},
	}.Check(t, reads, pod)
	reads.Require(t, ".ObjectMeta.Labels[toy]")
}
