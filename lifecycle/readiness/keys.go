// SPDX-License-Identifier: Apache-2.0

package readiness

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// Key names one reason for which a pod is out of service: whose it is, and which.
type Key struct {
	// UserAgent is the writer, for example "Lifecycle".
	UserAgent string `json:"userAgent"`
	// Key tells the reasons of one writer apart, for example "preDeleteHook".
	Key string `json:"key"`
}

// Add puts key on the KruisePodReady condition: the condition becomes False,
// and Ready with it (see Withdraw). It returns whether it changed the patch.
// Nothing changes if the pod lacks the readiness gate, or if the key is
// in force already.
//
// The list of keys is shared with other writers, so a change makes the patch
// conditional on the pod being as it was read (podpatch.Patch.IfUnchanged).
func Add(p *podpatch.Patch, pod *corev1.Pod, key Key, now time.Time) bool {
	if !HasGate(pod, v1alpha1.KruisePodReady) {
		return false
	}
	var keys []Key
	if c := p.Condition(pod, v1alpha1.KruisePodReady); c != nil {
		keys = decode(c.Message)
		if c.Status != corev1.ConditionTrue && slices.Contains(keys, key) {
			return false
		}
	}
	write(p, corev1.ConditionFalse, append(keys, key), now)
	Withdraw(p, pod, now)
	return true
}

// Remove takes key off the KruisePodReady condition, which becomes True when
// no key of any writer is left. Ready is left to the kubelet. It returns
// whether it changed the patch. It does not if the pod lacks the readiness
// gate or the condition, or if the key is not listed. As with Add, a change
// makes the patch conditional.
func Remove(p *podpatch.Patch, pod *corev1.Pod, key Key, now time.Time) bool {
	c := p.Condition(pod, v1alpha1.KruisePodReady)
	if c == nil || !HasGate(pod, v1alpha1.KruisePodReady) || !mayList(c.Message, key) {
		return false
	}
	keys := decode(c.Message)
	if !slices.Contains(keys, key) {
		return false
	}
	keys = slices.DeleteFunc(keys, func(k Key) bool { return k == key })
	status := corev1.ConditionFalse
	if len(keys) == 0 || c.Status == corev1.ConditionTrue {
		status = corev1.ConditionTrue
	}
	write(p, status, keys, now)
	return true
}

// Initial sets the KruisePodReady condition of a pod to True. It does so if the
// pod has the readiness gate, has no such condition yet and is not being
// deleted. A condition that exists is never touched, whatever its status. It
// returns whether it changed the patch.
//
// Once the pod is running, another writer may be adding its key at the same
// time: the patch becomes conditional. A pod that has not started serves
// no requests and so has no other writer, but scheduler and kubelet write to it all
// the time. A condition would only make the patch fail.
func Initial(p *podpatch.Patch, pod *corev1.Pod, now time.Time) bool {
	if pod.DeletionTimestamp != nil || !HasGate(pod, v1alpha1.KruisePodReady) ||
		p.Condition(pod, v1alpha1.KruisePodReady) != nil {
		return false
	}
	p.SetCondition(corev1.PodCondition{
		Type:               v1alpha1.KruisePodReady,
		Status:             corev1.ConditionTrue,
		LastTransitionTime: metav1.NewTime(now),
	})
	if pod.Status.Phase == corev1.PodRunning {
		p.IfUnchanged = true
	}
	return true
}

// Settled tells, without decoding anything, that no key keeps the pod out of service, and that Initial changes nothing: most
// pods are like that. Of a pod for which it does not tell so, Remove and Initial decide.
func Settled(pod *corev1.Pod) bool {
	c := Condition(pod, v1alpha1.KruisePodReady)
	return c != nil && (c.Message == "" || c.Message == "[]") || !HasGate(pod, v1alpha1.KruisePodReady)
}

// Keys returns the keys listed on the pod's KruisePodReady condition: who
// wants it out of service. A message that is no list of keys counts as empty.
func Keys(pod *corev1.Pod) []Key {
	c := Condition(pod, v1alpha1.KruisePodReady)
	if c == nil {
		return nil
	}
	return decode(c.Message)
}

func write(p *podpatch.Patch, status corev1.ConditionStatus, keys []Key, now time.Time) {
	p.SetCondition(corev1.PodCondition{
		Type:               v1alpha1.KruisePodReady,
		Status:             status,
		Message:            encode(keys),
		LastTransitionTime: metav1.NewTime(now),
	})
	p.IfUnchanged = true
}
