// SPDX-License-Identifier: Apache-2.0

package readiness_test

import (
	"slices"
	"testing"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/lifecycle/readiness"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// FuzzMessage writes arbitrary messages and keys: a key that was added is
// listed, one that was removed is not, and other keys survive both.
func FuzzMessage(f *testing.F) {
	f.Add("", "Lifecycle", "preDeleteHook", false)
	f.Add("[]", "ContainerRecreateRequest", "shop/restart", true)
	f.Add("["+keyA+","+keyB+"]", "Lifecycle", "preDeleteHook", false)
	f.Add("closed by hand", "a<b>", `"\`, false)
	f.Add(`[{"userAgent":1}]`, "", "", true)
	f.Add(`[null,{}]`, "\u2028", "é\x00", false)
	f.Add(`null`, "x", "y", false)
	f.Fuzz(func(t *testing.T, message, userAgent, name string, open bool) {
		status := corev1.ConditionFalse
		if open {
			status = corev1.ConditionTrue
		}
		key := readiness.Key{UserAgent: userAgent, Key: name}
		pod := serving("gate=KruisePodReady", "true=")
		pod.Status.Conditions[2].Status, pod.Status.Conditions[2].Message = status, message
		others := slices.DeleteFunc(readiness.Keys(pod), func(k readiness.Key) bool { return k == key })

		var add podpatch.Patch
		readiness.Add(&add, pod, key, now)
		pod.Status.Conditions[2] = *add.Condition(pod, v1alpha1.KruisePodReady)
		if pod.Status.Conditions[2].Status != corev1.ConditionFalse {
			t.Fatalf("status %q after Add", pod.Status.Conditions[2].Status)
		}
		listed := readiness.Keys(pod)
		for _, k := range others {
			if !slices.Contains(listed, k) {
				t.Errorf("Add lost %+v of %q", k, message)
			}
		}
		if !utf8.ValidString(key.UserAgent) || !utf8.ValidString(key.Key) {
			return // JSON cannot carry it
		}
		if !slices.Contains(listed, key) {
			t.Errorf("%+v is not listed in %q", key, pod.Status.Conditions[2].Message)
		}

		var remove podpatch.Patch
		if !readiness.Remove(&remove, pod, key, now) {
			t.Fatalf("Remove does not find %+v in %q", key, pod.Status.Conditions[2].Message)
		}
		after := remove.Condition(pod, v1alpha1.KruisePodReady)
		if (after.Status == corev1.ConditionTrue) != (len(others) == 0) {
			t.Errorf("status %s with keys %v left", after.Status, others)
		}
	})
}
