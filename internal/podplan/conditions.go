// SPDX-License-Identifier: Apache-2.0

package podplan

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The types of two conditions for consumers that know only the JSON of a kind (kstatus: Flux, Helm). These conditions tell them
// whether an object has reached its spec. They are there only while they are True, and never both. A kind that has them lists
// them in Kept.
const (
	reconciling = "Reconciling"
	stalled     = "Stalled"
)

// Reconcile says in a status that the spec is not reached. The message follows from the numbers of the status, and has none
// itself, so that the condition costs no write of its own.
func (k *Status[S, C, T]) Reconcile(status *S, reason, message string, now time.Time) {
	k.Drop(status, stalled)
	k.Put(status, reconciling, corev1.ConditionTrue, reason, message, now)
}

// Stall says in a status that the spec is not reached, and that waiting does not help.
func (k *Status[S, C, T]) Stall(status *S, reason, message string, now time.Time) {
	k.Drop(status, reconciling)
	k.Put(status, stalled, corev1.ConditionTrue, reason, message, now)
}

// uncounted says in a status why it counts nothing.
func (k *Status[S, C, T]) uncounted(status *S, unreadable error, now time.Time) {
	switch {
	case !slices.Contains(k.Kept, reconciling):
	case unreadable != nil:
		k.Stall(status, "InvalidSpec", unreadable.Error(), now)
	default:
		k.Reconcile(status, "NoRevision", "the revision of the template is not known", now)
	}
}

// unobserved says in the first status of a workload that the spec is not reached, if nothing has been counted yet. Otherwise a
// reader that finds no observedGeneration does not look for one, and takes the spec for reached.
func (k *Status[S, C, T]) unobserved(status *S, now time.Time) {
	if *k.Fields(status).ObservedGeneration == 0 && slices.Contains(k.Kept, reconciling) && len(k.kept(status)) == 0 {
		k.Reconcile(status, "NotObserved", "the spec has not been read to its end yet", now)
	}
}

// Drift is what keeps the pods of a workload from its spec: nothing in the zero value. What users asked for holds no pod
// back from it. Those that a partition holds back, and those that OnDelete leaves to users, are not outdated.
type Drift struct {
	Missing  bool // there are fewer pods than wanted
	Outdated bool // pods are to be updated
	// Paused is the field of the spec that pauses the update; empty if it is not paused.
	Paused      string
	Surplus     bool // there are pods that are not wanted
	Unavailable bool // pods that are wanted are not available
}

// Judge says in a status that the spec is not reached, and for which reasons, or that it is. (CS-S5, STS-S3, DS-20)
func (k *Status[S, C, T]) Judge(status *S, d Drift, now time.Time) {
	switch {
	case d.Missing:
		k.Reconcile(status, "PodsMissing", "pods are missing", now)
	case d.Outdated && d.Paused != "":
		k.Reconcile(status, "UpdatePaused", "pods are to be updated, and "+d.Paused+" is true", now)
	case d.Outdated:
		k.Reconcile(status, "PodsOutdated", "pods are to be updated", now)
	case d.Surplus:
		k.Reconcile(status, "PodsSurplus", "there are more pods than wanted", now)
	case d.Unavailable:
		k.Reconcile(status, "PodsUnavailable", "pods are not available", now)
	default:
		k.Reach(status)
	}
}

// Reach says in a status that the spec is reached.
func (k *Status[S, C, T]) Reach(status *S) {
	k.Drop(status, reconciling)
	k.Drop(status, stalled)
}

// kept are the conditions of a status that report no problem.
func (k *Status[S, C, T]) kept(status *S) (kept []C) {
	for _, t := range k.Kept {
		if c := k.Find(status, t); c != nil {
			kept = append(kept, *c)
		}
	}
	return kept
}

// Find returns the condition of a type, nil if the status has none.
func (k *Status[S, C, T]) Find(status *S, t T) *C {
	conditions := *k.Fields(status).Conditions
	for i := range conditions {
		if *k.Condition(&conditions[i]).Type == t {
			return &conditions[i]
		}
	}
	return nil
}

// Put gives a status the condition of a type, in the place of the one that it has, and returns
// it. If that has the same value, it keeps its time.
func (k *Status[S, C, T]) Put(status *S, t T, value corev1.ConditionStatus, reason, message string, now time.Time) *C {
	since := metav1.NewTime(now.Truncate(time.Second))
	c := k.Find(status, t)
	if c == nil {
		conditions := k.Fields(status).Conditions
		*conditions = append(*conditions, *new(C))
		c = &(*conditions)[len(*conditions)-1]
	} else if fields := k.Condition(c); *fields.Status == value {
		since = *fields.LastTransitionTime
	}
	k.set(c, t, value, since, reason, message)
	return c
}

func (k *Status[S, C, T]) set(c *C, t T, value corev1.ConditionStatus, since metav1.Time, reason, message string) {
	f := k.Condition(c)
	*f.Type, *f.Status, *f.LastTransitionTime, *f.Reason, *f.Message = t, value, since, reason, message
}

// Drop removes the condition of a type from a status.
func (k *Status[S, C, T]) Drop(status *S, t T) {
	conditions := k.Fields(status).Conditions
	*conditions = slices.DeleteFunc(*conditions, func(c C) bool { return *k.Condition(&c).Type == t })
}
