// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// Past is what has happened so far, taken from the objects as they were and from nothing that a controller says of
// itself. It judges writes, and observes all changes. Nil knows nothing.
type Past struct {
	// Sidecars is required of those who judge SidecarSets.
	Sidecars SidecarContract
	// StatefulSets says what is switched on of the StatefulSets that are judged.
	StatefulSets StatefulSetFeatures
	// PartitionRoundsDown has partitions of DaemonSets in percent rounded down. (DS-25)
	PartitionRoundsDown bool

	worked  map[string]bool // short hashes of the revisions that a pod was ready at
	claims  map[string]bool // names of the claim templates that there ever were
	current map[string]bool // UIDs of workloads and short hashes of what they may call their current revision

	released map[types.UID]bool // claims that a controller took from its workload

	daemons  daemons
	sidecars sidecars
	budgets  budgets

	deadlines deadlines
}

// NewPast returns a past in which nothing has happened.
func NewPast() *Past {
	return &Past{
		worked: map[string]bool{}, claims: map[string]bool{}, current: map[string]bool{}, released: map[types.UID]bool{},
		deadlines: deadlines{},
		daemons: daemons{pods: map[types.UID]*corev1.Pod{}, ready: map[types.UID]bool{}, served: map[types.UID]time.Time{},
			names: map[string]types.UID{}, disrupted: map[string]string{}},
		sidecars: sidecars{idle: map[types.UID]time.Time{}, taken: map[types.UID]taking{}, spoilt: map[types.UID]bool{}, empties: map[string]bool{}},
		budgets: budgets{counted: map[types.UID]*budgetCount{}, bookings: map[types.UID]map[types.UID]budgetBooking{},
			allowed: map[allowance]bool{}, marked: map[types.UID]bool{}},
	}
}

// Observe takes note of a change.
func (p *Past) Observe(c *Change) {
	p.daemons.observe(c)
	p.observeSidecars(c)
	p.budgets.observe(c)
	p.deadlines.observe(c)
	switch object := c.After.(type) {
	case *corev1.PersistentVolumeClaim:
		before, _ := c.Before.(*corev1.PersistentVolumeClaim)
		if c.By != "" && before != nil && metav1.GetControllerOf(before) != nil && metav1.GetControllerOf(object) == nil {
			p.released[object.UID] = true
		}
	case *corev1.Pod:
		if hash := shortHash(object.Labels[revisionLabel]); hash != "" && ready(object) && runs(object) {
			p.worked[hash] = true
		}
	case *v1beta1.StatefulSet:
		for _, template := range object.Spec.VolumeClaimTemplates {
			p.claims[template.Name] = true
		}
	}
}

func (p *Past) hasWorked(hash string) bool { return p != nil && p.worked[hash] }

func (p *Past) hadClaims(template string) bool { return p != nil && p.claims[template] }

// wasReleased tells whether a controller took a claim from its workload. That it might was judged when it did.
func (p *Past) wasReleased(claim types.UID) bool { return p != nil && p.released[claim] }

// becomesCurrent takes note of a revision that a workload may call current from now on.
func (p *Past) becomesCurrent(uid types.UID, hash string) {
	if p != nil {
		p.current[string(uid)+hash] = true
	}
}

// wasCurrent tells whether a workload may have called a revision current; true if that is not known.
func (p *Past) wasCurrent(uid types.UID, hash string) bool {
	return p == nil || p.current[string(uid)+hash]
}

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
