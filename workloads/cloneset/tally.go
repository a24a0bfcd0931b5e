// SPDX-License-Identifier: Apache-2.0

package cloneset

import "math"

// class counts pods of one revision. A pod is counted in Total and in at most
// one of the others: the first that fits. (CS-7)
type class struct {
	// Total is the number of owned active pods.
	Total int32
	// PreparingDelete is the number of pods in the lifecycle state PreparingDelete.
	PreparingDelete int32
	// SpecifiedDelete is the number of further pods that were marked for deletion.
	SpecifiedDelete int32
	// Unavailable is the number of further pods that are not available.
	Unavailable int32
}

// add counts n such pods; a negative n takes them back.
func (c *class) add(n int32, preparingDelete, specifiedDelete, available bool) {
	c.Total += n
	switch {
	case preparingDelete:
		c.PreparingDelete += n
	case specifiedDelete:
		c.SpecifiedDelete += n
	case !available:
		c.Unavailable += n
	}
}

// tally is what the numbers of a rollout are computed from: the strategy, in
// pods, and the pods that there are. The zero tally wants nothing and has nothing.
type tally struct {
	// Replicas is the number of pods wanted, at least 0.
	Replicas int32
	// Partition is the number of pods that stay at the old revision, as
	// [rollout.Partition] returns it: 0 to Replicas.
	Partition int32
	// MaxUnavailable is as [rollout.MaxUnavailable] returns it.
	MaxUnavailable int32
	// MaxSurge is as [rollout.MaxSurge] returns it.
	MaxSurge int32
	// ScaleMaxUnavailable is as [rollout.ScaleMaxUnavailable] returns it; 0 creates no
	// pod, [math.MaxInt32] is no limit.
	ScaleMaxUnavailable int32

	// New counts the pods at the update revision.
	New class
	// Old counts all other pods.
	Old class
	// Settling is how many of the unavailable ones serve, and only wait for minReadySeconds. (CS-23)
	Settling int32
	// Evicted is how many pods a client wants to evict, and was denied. Pods in the state PreparingDelete and those marked for
	// deletion do not count. EvictedOld of them are old. (CS-10)
	Evicted, EvictedOld int32

	// SameRevision says that the current revision is the update revision.
	SameRevision bool
	// RollBack rolls pods back to the current revision if the partition
	// was raised (OpenKruise: feature gate CloneSetPartitionRollback).
	RollBack bool
	// OnDelete updates no pod, and makes no room for that. A user updates a pod by deleting it, and
	// what is created in its place is as the partition says. (CS-37)
	OnDelete bool
	// Paused makes no further room for an update: the pods beyond replicas that are there
	// stay. (CS-10)
	Paused bool
	// ExcludePreparingDelete does not count pods in the lifecycle state
	// PreparingDelete as replicas, so that they are replaced while they wait.
	// (CS-14)
	ExcludePreparingDelete bool
}

// Diff is what a plan follows from: numbers of pods. The zero Diff is a
// workload settled.
type Diff struct {
	// Surge is the number of pods wanted beyond replicas, at most maxSurge;
	// SurgeOld of them belong at the old revision. (CS-10)
	Surge, SurgeOld int32

	// ScaleUp is the number of pods that are missing.
	ScaleUp int32
	// Create is how many of them scaleStrategy.maxUnavailable lets be created
	// now. While ScaleUp is not 0 no pod is deleted. (CS-12, CS-17)
	Create int32
	// CreateOld is how many of Create belong at the old revision.
	CreateOld int32

	// ScaleDown is the number of surplus pods, beside those that were marked
	// for deletion. Those go before them.
	ScaleDown int32
	// ScaleDownOld is how many of ScaleDown go from the old revision.
	ScaleDownOld int32
	// DeleteReadyBudget is how many ready pods may be deleted now, among those
	// marked for deletion and the surplus ones. Pods that are not ready need
	// no budget. 0 if nothing is to be deleted.
	DeleteReadyBudget int32

	// Update is the number of pods to bring to the update revision or, if
	// negative, back to the current one. (CS-13)
	Update int32
	// UpdateMaxUnavailable is how many pods may be unavailable while they
	// move: maxUnavailable, and the pods beyond replicas. 0 if Update is 0.
	UpdateMaxUnavailable int32
}

// diff computes how many pods to create, to delete and to update. It never
// asks to create and to scale down at once. Negative numbers of the tally count
// as 0. (CS-8 to CS-14)
func (t tally) diff() Diff {
	t = t.counts()
	var d Diff
	diffOld, diffNew := t.revisionDiff()
	surge, surgeOld := t.surge(diffOld, diffNew)
	d.Surge, d.SurgeOld = positive(surge), positive(surgeOld)
	t.scale(&d, surge, surgeOld)
	t.update(&d, diffOld, diffNew)
	return d
}

// revisionDiff returns by how many pods each revision is over (positive) or
// under its share, as far as pods are updated for that. (CS-8, CS-37)
func (t tally) revisionDiff() (diffOld, diffNew int64) {
	if t.OnDelete {
		return 0, 0
	}
	activeOld := int64(t.Old.Total) - int64(t.Old.PreparingDelete)
	activeNew := int64(t.New.Total) - int64(t.New.PreparingDelete)
	diffOld = activeOld - int64(t.Partition)
	diffNew = activeNew - (int64(t.Replicas) - int64(t.Partition))
	if t.SameRevision || !t.RollBack {
		return max(diffOld, 0), min(diffNew, 0)
	}
	return diffOld, diffNew
}

// surge returns the number of pods wanted beyond replicas. It lets the pods marked for deletion be replaced before they go, the
// update have room, or pods be evicted. The largest number counts. (CS-10)
func (t tally) surge(diffOld, diffNew int64) (surge, surgeOld int64) {
	if t.MaxSurge <= 0 {
		return 0, 0
	}
	specified := t.specified()
	forDelete := min(max(t.unavailable()+specified-int64(t.MaxUnavailable), 0), specified)
	forDeleteOld := max(forDelete-int64(t.New.SpecifiedDelete), 0)

	surge, surgeOld = forDelete, forDeleteOld
	if forUpdate := t.surgeForUpdate(diffOld, diffNew); forUpdate > forDelete {
		surge, surgeOld = forUpdate, 0
		if diffOld < 0 { // old pods are missing: pods are rolled back
			surgeOld = forUpdate
		}
	}
	if int64(t.Evicted) > surge {
		surge, surgeOld = int64(t.Evicted), int64(t.EvictedOld)
	}
	surge = min(surge, int64(t.MaxSurge))
	return surge, min(surge, surgeOld)
}

// surgeForUpdate is how many pods beyond replicas would let all pods be updated. While the update is paused it is no more than
// there are, which stay: they have users. (CS-10)
func (t tally) surgeForUpdate(diffOld, diffNew int64) int64 {
	n := exchange(diffOld, diffNew)
	if t.Paused {
		n = min(n, max(t.counted()-int64(t.Replicas), 0))
	}
	return n
}

// scale fills in what to create and what to delete. (CS-11, CS-12)
func (t tally) scale(d *Diff, surge, surgeOld int64) {
	total, totalOld := t.counted(), t.totalOld()
	want, wantOld := int64(t.Replicas)+surge, int64(t.Partition)+surgeOld

	d.ScaleUp = positive(want - total)
	d.Create = min(d.ScaleUp, positive(int64(t.ScaleMaxUnavailable)-t.unavailable()))
	d.CreateOld = min(d.Create, positive(wantOld-totalOld))

	d.ScaleDown = positive(total - t.specified() - want)
	d.ScaleDownOld = min(d.ScaleDown, positive(totalOld-int64(t.Old.SpecifiedDelete)-wantOld))
	if t.specified() > 0 || d.ScaleDown > 0 {
		d.DeleteReadyBudget = positive(t.maxUnavailable() - t.unavailable())
	}
}

// update fills in what to update: pods leave only a revision that has too
// many to one that has too few. (CS-13)
func (t tally) update(d *Diff, diffOld, diffNew int64) {
	n := exchange(diffOld, diffNew)
	if n == 0 {
		return
	}
	d.Update = positive(n)
	if diffOld < 0 {
		d.Update = -d.Update
	}
	d.UpdateMaxUnavailable = positive(t.maxUnavailable())
}

// exchange is the number of pods that one revision has too many and the other too few. It is 0 if both have too many, or too few.
func exchange(diffOld, diffNew int64) int64 {
	if diffOld < 0 && diffNew > 0 || diffOld > 0 && diffNew < 0 {
		return min(abs(diffOld), abs(diffNew))
	}
	return 0
}

// lacksOld tells whether the next pod that is created is of the old revision. (CS-12)
func (t tally) lacksOld() bool {
	return int64(t.Partition)+int64(t.diff().SurgeOld) > t.totalOld()
}

// counted is the number of pods that count as replicas. (CS-11)
func (t tally) counted() int64 {
	if t.ExcludePreparingDelete {
		return t.owned() - t.preparingDelete()
	}
	return t.owned()
}

// totalOld is the number of old pods that count as replicas. (CS-11)
func (t tally) totalOld() int64 {
	if t.ExcludePreparingDelete {
		return int64(t.Old.Total) - int64(t.Old.PreparingDelete)
	}
	return int64(t.Old.Total)
}

// owned is the number of all pods.
func (t tally) owned() int64 { return int64(t.New.Total) + int64(t.Old.Total) }

// specified is the number of pods marked for deletion.
func (t tally) specified() int64 {
	return int64(t.New.SpecifiedDelete) + int64(t.Old.SpecifiedDelete)
}

// preparingDelete is the number of pods in the state PreparingDelete.
func (t tally) preparingDelete() int64 {
	return int64(t.New.PreparingDelete) + int64(t.Old.PreparingDelete)
}

// unavailable is the number of pods that serve no client, beside those marked for
// deletion. (CS-9)
func (t tally) unavailable() int64 {
	return t.preparingDelete() + int64(t.New.Unavailable) + int64(t.Old.Unavailable)
}

// maxUnavailable is how many of the pods that there are may be unavailable. It is one more for each pod beyond replicas, and one
// less for each that is missing.
func (t tally) maxUnavailable() int64 { return int64(t.MaxUnavailable) + t.extra() }

// extra is the number of pods beyond replicas; negative if pods are missing.
func (t tally) extra() int64 { return t.owned() - int64(t.Replicas) }

// positive makes a number of pods of a difference: 0 if it is negative.
func positive(n int64) int32 { return int32(min(max(n, 0), math.MaxInt32)) }

func abs(n int64) int64 { return max(n, -n) }

// counts is the tally with what can be counted: a negative number is 0, and a
// partition holds back all replicas at most.
func (t tally) counts() tally {
	t.Replicas, t.MaxUnavailable = max(t.Replicas, 0), max(t.MaxUnavailable, 0)
	t.MaxSurge, t.ScaleMaxUnavailable = max(t.MaxSurge, 0), max(t.ScaleMaxUnavailable, 0)
	t.Partition = min(max(t.Partition, 0), t.Replicas)
	t.New, t.Old = t.New.counts(), t.Old.counts()
	t.Evicted, t.Settling = max(t.Evicted, 0), max(t.Settling, 0)
	t.EvictedOld = min(max(t.EvictedOld, 0), t.Evicted)
	return t
}

func (c class) counts() class {
	c.Total, c.PreparingDelete = max(c.Total, 0), max(c.PreparingDelete, 0)
	c.SpecifiedDelete, c.Unavailable = max(c.SpecifiedDelete, 0), max(c.Unavailable, 0)
	return c
}
