// SPDX-License-Identifier: Apache-2.0

package lifecycle_test

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/lifecycle"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// A workload wants to delete a pod; a controller of the user's holds it until
// the pod's shard has moved elsewhere.
func ExampleBeginDelete() {
	hooks := &v1alpha1.Lifecycle{PreDelete: &v1alpha1.LifecycleHook{
		LabelsHandler: map[string]string{"example.com/shard": "here"},
	}}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "db-4", Labels: map[string]string{"example.com/shard": "here"}}}
	now := time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)

	// The workload asks in every reconcile, and writes what the patch holds.
	var p podpatch.Patch
	deleteNow, reason := lifecycle.BeginDelete(&p, pod, hooks, now)
	fmt.Println(deleteNow, "-", reason)
	pod, _ = p.Apply(pod)
	fmt.Println("state:", lifecycle.StateOf(pod))

	// The shard has moved; its controller releases the pod.
	delete(pod.Labels, "example.com/shard")

	deleteNow, _ = lifecycle.BeginDelete(&podpatch.Patch{}, pod, hooks, now)
	fmt.Println(deleteNow)
	// Output:
	// false - the preDelete hook waits until the pod loses label "example.com/shard=here"
	// state: PreparingDelete
	// true
}

// An in-place update with a hook, seen from the workload. The owner of the
// hook takes its label off when the pod is drained, and puts it back when the
// pod may serve again.
func Example() {
	hooks := &v1alpha1.Lifecycle{InPlaceUpdate: &v1alpha1.LifecycleHook{
		LabelsHandler: map[string]string{"example.com/serving": "yes"},
	}}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web-x7k2p", Labels: map[string]string{
		v1alpha1.StateLabel: string(v1alpha1.StateNormal), "example.com/serving": "yes",
	}}}
	now := time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)

	begin := func() {
		var p podpatch.Patch
		step, _ := lifecycle.BeginUpdate(&p, pod, hooks, false, now)
		pod, _ = p.Apply(pod)
		fmt.Println("begin:", step, "→", lifecycle.StateOf(pod))
	}
	refresh := func() {
		var p podpatch.Patch
		lifecycle.Refresh(&p, pod, hooks, lifecycle.RefreshInput{AtTarget: true, InPlaceComplete: true}, now)
		pod, _ = p.Apply(pod)
		fmt.Println("refresh →", lifecycle.StateOf(pod))
	}

	begin()
	delete(pod.Labels, "example.com/serving") // drained
	begin()
	refresh()
	pod.Labels["example.com/serving"] = "yes" // serving again
	refresh()
	// Output:
	// begin: Hold → PreparingUpdate
	// begin: Start → Updating
	// refresh → Updated
	// refresh → Normal
}
