// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/availability/v1alpha1"
)

// Pod is a pod and what it tells budgets, read once: it is true until the pod changes. A count of thousands
// of pods mostly waits for memory, and a pod is spread over many places in it.
type Pod struct {
	*corev1.Pod
	// Active is that of the pod.
	Active bool
	// Controller is what controls it; nil for nothing.
	Controller *metav1.OwnerReference
	// Related is the name of the budget that protects it; empty for none.
	Related string

	ready, marked bool
	restarted     bool // with a startup probe, so that starting has to be asked
	waiting       string
}

// Read reads pods, in their order.
func Read(pods ...*corev1.Pod) []*Pod {
	read, all := make([]Pod, len(pods)), make([]*Pod, len(pods))
	for i, pod := range pods {
		read[i], all[i] = ReadPod(pod), &read[i]
	}
	return all
}

// Are tells whether these are the pods that were read.
func Are(read []*Pod, pods []*corev1.Pod) bool {
	return slices.EqualFunc(read, pods, func(r *Pod, pod *corev1.Pod) bool { return r.Pod == pod })
}

// seen are the pods as they were read, unless the caller gave others.
func (s *Selection) seen() []*Pod {
	if Are(s.read, s.Pods) {
		return s.read
	}
	return Read(s.Pods...)
}

// ReadPod reads one pod.
func ReadPod(pod *corev1.Pod) Pod {
	p := Pod{Pod: pod, Active: Active(pod), Controller: metav1.GetControllerOfNoCopy(pod), Related: pod.Annotations[v1alpha1.RelatedPubAnnotation],
		ready: Ready(pod), marked: marked(pod)}
	if p.ready { // otherwise that is why it does not count
		p.waiting, p.restarted = waiting(pod), mayStart(pod)
	}
	return p
}
