// SPDX-License-Identifier: Apache-2.0

package readiness_test

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/lifecycle/readiness"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// Two writers take a pod out of service. It is back when both are done.
func Example() {
	pod := &corev1.Pod{Status: corev1.PodStatus{Conditions: []corev1.PodCondition{
		{Type: corev1.PodReady, Status: corev1.ConditionTrue},
		{Type: corev1.ContainersReady, Status: corev1.ConditionTrue},
		{Type: v1alpha1.KruisePodReady, Status: corev1.ConditionTrue},
	}}}
	readiness.AddGate(&pod.Spec, v1alpha1.KruisePodReady)
	now := time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)

	backup := readiness.Key{UserAgent: "backup", Key: "nightly"}
	repair := readiness.Key{UserAgent: "repair", Key: "disk"}
	for _, step := range []struct {
		say    string
		change func(*podpatch.Patch, *corev1.Pod, readiness.Key, time.Time) bool
		key    readiness.Key
	}{
		{"backup starts", readiness.Add, backup},
		{"repair starts", readiness.Add, repair},
		{"backup is done", readiness.Remove, backup},
		{"repair is done", readiness.Remove, repair},
	} {
		var p podpatch.Patch
		step.change(&p, pod, step.key, now)
		pod, _ = p.Apply(pod) // a real writer sends p.Writes(pod)
		c := readiness.Condition(pod, v1alpha1.KruisePodReady)
		fmt.Printf("%s: %s %s\n", step.say, c.Status, c.Message)
	}
	// Output:
	// backup starts: False [{"userAgent":"backup","key":"nightly"}]
	// repair starts: False [{"userAgent":"backup","key":"nightly"},{"userAgent":"repair","key":"disk"}]
	// backup is done: False [{"userAgent":"repair","key":"disk"}]
	// repair is done: True []
}
