// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"testing"
)

func counting(s *Snapshot) { s.Features.PartitionCountsPods = true }

// STS-31 to STS-33: ordinals and the partition of OpenKruise 1.7 and 1.8.
func TestLaterOrdinals(t *testing.T) {
	off := func(s *Snapshot) { s.Features.StartOrdinal = false }
	runPlanCases(t, []planCase{
		{"STS-31: without the feature the start is ignored", "A", "A", "0A 1A", with(startAt(4), off), "", ""},
		{"STS-31: pods below the start go, when those from it up are there", "A", "A", "2A 3A", with(startAt(4)), "delete 3 Scale, delete 2 Scale, create 4A, create 5A", ""},
		{"STS-31: OrderedReady creates first", "A", "A", "2A 3A", with(ordered, startAt(4)), "create 4A", "OrderedReady new 3 2"},
		{"STS-31: and then deletes the highest", "A", "A", "2A 3A 4A 5A", with(ordered, startAt(4), replicas(2)), "delete 3 Scale", "OrderedReady 2"},
		{"STS-31: one lower", "A", "A", "2A 3A", with(startAt(1)), "delete 3 Scale, create 1A", ""},
		{"STS-31: the partition is an ordinal from 0", "B", "A", "2A 3A 4A", with(startAt(2), unavailable("3"), partition(3)), "delete 4 Update, delete 3 Update", "Partition 2"},
		{"STS-32: a range is reserved", "A", "A", "0A 1A 2A 3A", with(reserve("1-2")), "delete 2 Scale, delete 1 Scale, create 4A, create 5A", ""},
		{"STS-33: the partition counts pods, reserved ordinals do not", "B", "A", "0A 2A 3A 4A", with(counting, reserve(1), unavailable("4"), partition(2)), "delete 4 Update, delete 3 Update", "Partition 0 2"},
		{"STS-33: without the feature it is an ordinal", "B", "A", "0A 2A 3A 4A", with(reserve(1), unavailable("4"), partition(2)), "delete 4 Update, delete 3 Update, delete 2 Update", "Partition 0"},
		{"STS-33: it counts from the start", "B", "A", "5A 6A 7A", with(counting, startAt(5), unavailable("3"), partition(1)), "delete 7 Update, delete 6 Update", "Partition 5"},
		{"STS-33: a new pod is of the current revision", "B", "A", "0A 3B 4B", with(counting, reserve(1), replicas(4), partition(2)), "create 2A", "Partition 0"},
		{"STS-33: or of the update revision behind it", "B", "A", "0A 2A 4B", with(counting, reserve(1), replicas(4), partition(2)), "create 3B", "Partition 0 2"},
		{"STS-33: unordered it counted before", "B", "A", "0A 2A 3A", with(counting, unordered, reserve(1), unavailable("3"), partition(2)), "delete 3 Update", "Partition 2 0"},
	})
}

// STS-32: nothing is done while it cannot be told which ordinals are reserved.
func TestUnreadableOrdinals(t *testing.T) {
	for want, s := range map[string]*Snapshot{
		`FailedUpdatePod: spec.reserveOrdinals[1]: found "5", want a number, or a range of numbers such as "5-7"`:                              testSnapshot(t, "B", "A", "0A 2A", reserve(1, "5")),
		`FailedUpdatePod: spec.ordinals.start: found -1, want 0 or more`:                                                                       testSnapshot(t, "B", "A", "0A 2A", startAt(-1)),
		`FailedUpdatePod: spec: of 2 replicas, 1 have an ordinal: want a lower spec.ordinals.start, or fewer ordinals in spec.reserveOrdinals`: testSnapshot(t, "B", "A", "0A 2A", reserve("1-9223372036854775807")),
	} {
		plan := NewPlan(s)
		if got := problems(plan); got != want {
			t.Errorf("problems %s, want %s", got, want)
		}
		if got := summary(s, plan); got != "" {
			t.Errorf("%s: %s", want, got)
		}
	}
}
