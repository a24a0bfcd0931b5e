// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/workloads/v1alpha1"
)

// A repair may be wrong about all pods of a workload. In fewWithin it deletes at most fewPods of them, or a tenth. (CT-18)
const (
	fewWithin = 5 * time.Second
	fewPods   = 10
)

// fewAtOnce are the pods that repairs have deleted lately. The zero value has seen none.
type fewAtOnce struct {
	at map[string][]time.Time // by process and object
}

// delete takes note of a pod that goes now, and tells how many have gone lately, this one among them. Most is how many may be, of a
// workload that has so many pods beside those that have gone.
func (f *fewAtOnce) delete(key string, now time.Time, pods func(gone int) int) (gone, most int) {
	if f.at == nil {
		f.at = map[string][]time.Time{}
	}
	lately := slices.DeleteFunc(f.at[key], func(at time.Time) bool { return now.Sub(at) >= fewWithin })
	most = max(fewPods, (pods(len(lately))+9)/10)
	f.at[key] = append(lately, now)
	return len(lately) + 1, most
}

// JobMoves judges the controller of BroadcastJobs, and how many pods go at once from nodes that do not take them any more. The zero value has seen none. (BJ-32)
type JobMoves struct{ few fewAtOnce }

// BroadcastJob judges a write.
func (m *JobMoves) BroadcastJob(w *Write) []Violation {
	v := violations(broadcastJob(w))
	job, ok := w.spec().(*v1alpha1.BroadcastJob)
	if !ok || w.Resource != "pods" || w.Verb != "delete" || over(job) || job.Status.Phase == v1alpha1.PhaseFailed {
		return v
	}
	j := newJobJudge(&v, w, job)
	gone, most := m.few.delete(w.By+string(job.UID), w.Truth.Now, func(gone int) int {
		return gone + len(among(maps.Values(j.Known.Pods), func(pod *corev1.Pod) bool { return j.owned(pod) && pod.DeletionTimestamp == nil }))
	})
	v.never(gone > most, Availability, "%d pods are deleted in %v, and at most %d may be", gone, fewWithin, most)
	return v
}
