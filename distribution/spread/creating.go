// SPDX-License-Identifier: Apache-2.0

package spread

import (
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

// SeenFor is how long a reservation whose pod is there stays in the status. Caches of webhooks may be so much behind
// those of the controller. (WS-7.2)
const SeenFor = 10 * time.Second

// ReservationKey is the key of a pod without a name. It says by which controller and of which revision the pod is, so that other
// replicas know, and is as unique as random. (WS-7.2)
func ReservationKey(pod *corev1.Pod, random string) string {
	return string(controllerOf(pod)) + "." + revisionOf(pod) + "." + random
}

// readKey returns the controller and the revision that a key names; nothing of one that OpenKruise wrote, or of a name.
func readKey(key string) (owner types.UID, revision string) {
	first, last := strings.Index(key, "."), strings.LastIndex(key, ".")
	if first == last {
		return "", ""
	}
	return types.UID(key[:first]), key[first+1 : last]
}

// Creating returns the reservations that the status of a WorkloadSpread holds, by subset and key. (WS-7.2)
func Creating(ws *v1alpha1.WorkloadSpread) (reservations []Reservation) {
	for i := range ws.Status.SubsetStatuses {
		s := &ws.Status.SubsetStatuses[i]
		for _, key := range slices.Sorted(maps.Keys(s.CreatingPods)) {
			owner, revision := readKey(key)
			since := s.CreatingPods[key]
			reservations = append(reservations, Reservation{Key: key, Subset: s.Name, Owner: owner, Revision: revision,
				Since: since.Time, Expires: since.Add(ReservedFor)})
		}
	}
	return reservations
}

// Reserve returns the status of a WorkloadSpread with reservations added. It lists the subsets as the spec does, also if no
// controller has counted them yet. Wants is how many pods the workload wants. (WS-7.2)
func Reserve(ws *v1alpha1.WorkloadSpread, wants int32, reservations []Reservation) *v1alpha1.WorkloadSpreadStatus {
	status := &v1alpha1.WorkloadSpreadStatus{ObservedGeneration: ws.Status.ObservedGeneration}
	for i := range ws.Spec.Subsets {
		subset := &ws.Spec.Subsets[i]
		s := v1alpha1.WorkloadSpreadSubsetStatus{Name: subset.Name, MissingReplicas: limit(subset, wants)}
		if before := statusOf(&ws.Status, subset.Name); before != nil {
			s = *before.DeepCopy()
		}
		for _, r := range reservations {
			if r.Subset != subset.Name {
				continue
			}
			if s.CreatingPods == nil {
				s.CreatingPods = map[string]metav1.Time{}
			}
			s.CreatingPods[r.Key] = metav1.NewTime(r.Since)
			if s.MissingReplicas > 0 {
				s.MissingReplicas--
			}
		}
		status.SubsetStatuses = append(status.SubsetStatuses, s)
	}
	return status
}

// creating carries the reservations of a subset into its new status. It does so until their pods have been there for a
// while, or have not come in time. A pod that is still to come is no longer missing. (WS-7.2)
func (c *computer) creating(now, before *v1alpha1.WorkloadSpreadSubsetStatus) {
	if before == nil || c.Spread.DeletionTimestamp != nil {
		return
	}
	for key, since := range before.CreatingPods {
		age, lasts := c.Now.Sub(since.Time), ReservedFor
		if c.seen[key] {
			lasts = SeenFor
		}
		if age >= lasts || age < -ReservedFor { // or written by a clock that nothing can be told from
			continue
		}
		if now.CreatingPods == nil {
			now.CreatingPods = map[string]metav1.Time{}
		}
		now.CreatingPods[key] = since
		if !c.seen[key] && now.MissingReplicas > 0 {
			now.MissingReplicas--
		}
		c.again(lasts - age)
	}
}
