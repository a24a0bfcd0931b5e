// SPDX-License-Identifier: Apache-2.0

package podplan

import (
	"cmp"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Rejections are the pods of a revision that kubelets have rejected since the last one ran.
type Rejections struct {
	// pods is how many there are, and last the youngest of them; nil for none.
	pods int32
	last *corev1.Pod
}

// Rejected counts the pods that ended without any of their containers having run: a kubelet has rejected them, or they
// were evicted before. Those that are not younger than a pod that ran do not count. It needs no memory, so that a
// restart of the manager changes nothing. Pods are those of one revision, whatever their phase. (CT-8)
func Rejected(pods []*corev1.Pod) (r Rejections) {
	var ran time.Time
	for _, pod := range pods {
		if created := pod.CreationTimestamp.Time; HasRun(pod) && created.After(ran) {
			ran = created
		}
	}
	for _, pod := range pods {
		if pod.Status.Phase != corev1.PodFailed || HasRun(pod) || !pod.CreationTimestamp.After(ran) {
			continue
		}
		r.pods++
		if r.last == nil || pod.CreationTimestamp.After(r.last.CreationTimestamp.Time) {
			r.last = pod
		}
	}
	return r
}

// Repeated tells whether more pods were rejected than the workload wants: their replacements were, too. (CT-8)
func (r Rejections) Repeated(wanted int32) bool { return r.pods > max(wanted, 1) }

// Until is when the next pods are created. That is at once as long as no more were rejected than are wanted at a time.
// Then it is a second after the last one was created. It is twice as long for each further time that as many are rejected, 5 minutes at most. (CT-8)
func (r Rejections) Until(wanted int32) time.Time {
	if !r.Repeated(wanted) {
		return time.Time{}
	}
	return r.last.CreationTimestamp.Add(delayOf((r.pods - 1) / max(wanted, 1)))
}

// Reason is why the last pod was rejected, in a word.
func (r Rejections) Reason() string { return cmp.Or(r.last.Status.Reason, "no reason is given") }
