// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"fmt"
	"strconv"

	"github.com/podwright/podwright/inplace/rollout"
)

// targetUnavailable is why no further pod may be updated to the target revision.
func (t tally) targetUnavailable(d Diff, words string, limit, unavailable, accepted int32) *rollout.Reason {
	revision := "update"
	if d.Update < 0 {
		revision = "current"
	}
	return &rollout.Reason{
		Rule: rollout.RuleMaxUnavailable, Limit: limit, Observed: unavailable + accepted,
		Message: words + ": " + taken(unavailable, " at the "+revision+" revision", accepted, "updated"),
	}
}

// allUnavailable is why no further available pod may be updated.
func (t tally) allUnavailable(d Diff, unavailable, disrupted int32) *rollout.Reason {
	return &rollout.Reason{
		Rule: rollout.RuleMaxUnavailable, Limit: d.UpdateMaxUnavailable, Observed: unavailable + disrupted,
		Message: t.maxUnavailableWords() + ": " + taken(unavailable, "", disrupted, "updated"),
	}
}

// deleteReason is why no further ready pod may be deleted.
func (t tally) deleteReason(unavailable, used int32) *rollout.Reason {
	return &rollout.Reason{
		Rule: rollout.RuleMaxUnavailable, Limit: positive(t.maxUnavailable()), Observed: unavailable + used,
		Message: t.maxUnavailableWords() + ": " + taken(unavailable, "", used, "deleted"),
	}
}

// revisionReason is why no more pods have to be updated, whatever is available.
func (t tally) revisionReason(d Diff) *rollout.Reason {
	if d.Update < 0 {
		n := t.Replicas - t.Partition
		return &rollout.Reason{Rule: rollout.RulePartition, Limit: t.Partition, Observed: n, Message: fmt.Sprintf(
			"partition %d of %s: %s at the update revision",
			t.Partition, count(t.Replicas, "replica", "replicas"), count(n, "pod stays", "pods stay"))}
	}
	diffOld, diffNew := t.revisionDiff()
	if abs(diffOld) <= abs(diffNew) && t.Partition > 0 {
		return &rollout.Reason{Rule: rollout.RulePartition, Limit: t.Partition, Observed: t.Partition, Message: fmt.Sprintf(
			"partition %d: %s at the old revision", t.Partition, count(t.Partition, "pod stays", "pods stay"))}
	}
	return &rollout.Reason{Rule: rollout.RuleReplicas, Limit: t.Replicas - t.Partition, Observed: t.New.Total + d.Update, Message: fmt.Sprintf(
		"replicas %d, partition %d: the update revision gets no more than %s",
		t.Replicas, t.Partition, count(t.Replicas-t.Partition, "pod", "pods"))}
}

// maxUnavailableWords names the limit, and how the number of pods widens or
// narrows it.
func (t tally) maxUnavailableWords() string {
	words := "maxUnavailable " + strconv.Itoa(int(t.MaxUnavailable))
	switch extra := t.extra(); {
	case extra > 0:
		words += " and " + count(extra, "pod", "pods") + " beyond replicas"
	case extra < 0:
		words += " less " + count(-extra, "missing pod", "missing pods")
	}
	return words
}

// brokenWords names the limit for pods that are unavailable already.
func (t tally) brokenWords() string {
	switch {
	case t.MaxUnavailable <= 0 && t.extra() <= 0:
		return "maxUnavailable 0, and 1 pod that is unavailable already"
	case t.extra() < 0:
		return "maxUnavailable " + strconv.Itoa(int(t.MaxUnavailable))
	default:
		return t.maxUnavailableWords()
	}
}

// taken says what uses a limit up: the pods that are unavailable, and those
// that will be.
func taken(unavailable int32, where string, chosen int32, fate string) string {
	are := count(unavailable, "pod", "pods") + where + verb(unavailable) + " unavailable already"
	going := count(chosen, "pod", "pods") + verb(chosen) + " " + fate + " now"
	switch {
	case chosen == 0 && unavailable == 0:
		return "no pod may be " + fate
	case chosen == 0:
		return are
	case unavailable == 0:
		return going
	default:
		return are + " and " + going
	}
}

func verb(n int32) string {
	if n == 1 {
		return " is"
	}
	return " are"
}

// count puts a number before the right form of a phrase: "1 pod is", "2 pods are".
func count[N int32 | int64](n N, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.FormatInt(int64(n), 10) + " " + many
}
