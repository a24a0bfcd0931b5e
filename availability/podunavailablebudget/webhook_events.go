// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/availability/v1alpha1"
)

// telling is the pod that an event is about. Another one of its name is told of anew.
type telling struct{ uid types.UID }

// tell tells of a pod that it may not go, by an event, once a minute at most: drains ask every few seconds. (PUB-44)
func (w *Webhook) tell(pod *corev1.Pod) {
	if w.Recorder == nil {
		return
	}
	key, now := types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}, w.Guard.options.Clock.Now()
	if !w.Guard.told.setUnless(key, telling{pod.UID}, now, func(before telling, at time.Time) bool {
		return before.uid == pod.UID && now.Sub(at) < noteAgain
	}) {
		return
	}
	about := &corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID, ResourceVersion: pod.ResourceVersion}
	w.Recorder.Event(about, corev1.EventTypeWarning, v1alpha1.PreventPodDeletionEvent, v1alpha1.PreventPodDeletionMessage)
}
