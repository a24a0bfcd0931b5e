// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/workloads/v1alpha1"
)

// unreadyFor is how long a pod that was ready is left, while an update waits for it. (UD-11)
const unreadyFor = 5 * time.Minute

// service is when a pod was ready.
type service struct{ since, until time.Time }

// services are those of pods, by UID.
type services map[types.UID]*service

// observe takes note of a change of a pod.
func (s *services) observe(c *Change) {
	before, _ := c.Before.(*corev1.Pod)
	after, _ := c.After.(*corev1.Pod)
	if *s == nil {
		*s = services{}
	}
	switch is, was := after != nil && ready(after), before != nil && ready(before); {
	case is && !was:
		(*s)[after.UID] = &service{since: c.At}
	case was && !is && (*s)[before.UID] != nil:
		if at := (*s)[before.UID]; c.At.Sub(at.since) > hidden {
			at.until = c.At
		} else {
			delete(*s, before.UID)
		}
	}
}

// checkStuck: an update waits for the pod, which never was ready, or has not been for long. (UD-11)
func (p *UnitedPast) checkStuck(v *violations, u *united, c *unitedChild, w *Write) {
	pod := w.Before
	if first := u.waitsFor(c); first != pod.GetName() {
		v.add(Needless, "pod %s is deleted, and StatefulSet %s waits for %q", pod.GetName(), c.GetName(), first)
	}
	if s := p.served[pod.GetUID()]; s != nil && w.Truth.Now.Sub(s.until) < unreadyFor-hidden {
		v.add(Needless, "pod %s is deleted, which was ready until %s", pod.GetName(), s.until.UTC().Format(time.TimeOnly))
	}
}

// waitsFor is the name of the pod that a StatefulSet waits for. It is the first, in the order of its update, that is
// not ready or does not exist.
func (u *united) waitsFor(c *unitedChild) string {
	set, ok := c.Object.(*appsv1.StatefulSet)
	if !ok {
		return ""
	}
	there := map[int32]*corev1.Pod{}
	for _, pod := range u.state.Pods {
		if ref := metav1.GetControllerOfNoCopy(pod); ref != nil && ref.UID == c.GetUID() && pod.Labels[v1alpha1.SubsetRevisionLabel] != "" {
			_, ordinal, _ := cutOrdinal(pod.Name)
			there[ordinal] = pod
		}
	}
	var ordinals []int32
	start := int32(0)
	if set.Spec.Ordinals != nil {
		start = set.Spec.Ordinals.Start
	}
	for i := range min(c.replicas, 100) {
		ordinals = append(ordinals, start+i)
	}
	if set.Spec.PodManagementPolicy == appsv1.ParallelPodManagement {
		slices.Reverse(ordinals)
	}
	for _, i := range ordinals {
		switch pod := there[i]; {
		case pod == nil:
			return ""
		case !ready(pod) || pod.DeletionTimestamp != nil:
			return pod.Name
		}
	}
	return ""
}

// nameTaken tells whether another owner's pod has the name of one of a workload with ordinals, which waits for that one for ever.
func (u *united) nameTaken(c *unitedChild) bool {
	for i := range min(c.replicas, 100) {
		if pod := u.state.Pods[fmt.Sprint(c.GetName(), "-", i)]; c.resource == "statefulsets" && pod != nil && !metav1.IsControlledBy(pod, c) {
			return true
		}
	}
	return false
}
