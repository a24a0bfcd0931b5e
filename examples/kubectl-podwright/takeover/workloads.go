// SPDX-License-Identifier: Apache-2.0

package takeover

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/podwright/podwright/examples/kubectl-podwright/plan"
)

// moves are the actions of a plan by which pods restart, come or go. Others write to a pod at most.
var moves = []string{"create", "delete", "recreate", "replace", "update in place", "prepare by its hook", "update", "scale"}

// workloads says what podwright's first reconcile does to workloads and their pods.
func (c *check) workloads() {
	for _, planned := range c.Plans {
		object, rule := title(planned.Of), revisionRule[planned.Of.GetKind()]
		moved, written := sorted(planned.Rows)
		look := "Pause it before the move, and look at it with plan."
		switch {
		case planned.NewRevision != "" && unseen(planned.Of):
			c.happens(object, rule, "OpenKruise has not seen its last change: podwright makes the revision "+planned.NewRevision+" of it.")
		case planned.NewRevision != "":
			c.answer(object, rule, "Its template means another revision to podwright, "+planned.NewRevision+". First it would "+cmp.Or(moved, "move no pod")+".", look)
		case moved != "" && (underWay(planned.Of) || unseen(planned.Of)):
			c.happens(object, rule, "Its rollout goes on: podwright begins with "+moved+".")
		case moved != "":
			c.answer(object, rule, "podwright would move pods at once, and OpenKruise has nothing left to do: "+moved+".", look)
		case underWay(planned.Of):
			c.happens(object, rule, "Its rollout goes on when what it waits for has come.")
		}
		if written != "" {
			c.happens(object, "KC-19", "podwright writes to pods without moving them: "+written+".")
		}
	}
}

// sorted says in words which pods move, and which are written to.
func sorted(rows []plan.Row) (moved, written string) {
	pods := map[string][]string{}
	for _, row := range rows {
		if row.Rule == "" && row.Action != "wait" {
			pods[row.Action] = append(pods[row.Action], row.Pod)
		}
	}
	var moving, writing []string
	for _, action := range slices.Sorted(maps.Keys(pods)) {
		said := action + " " + few(pods[action])
		if slices.Contains(moves, action) {
			moving = append(moving, said)
		} else {
			writing = append(writing, said)
		}
	}
	return strings.Join(moving, "; "), strings.Join(writing, "; ")
}

// unseen tells whether a workload has changed since OpenKruise wrote its status.
func unseen(workload *unstructured.Unstructured) bool {
	observed, _ := number(workload.Object, "status", "observedGeneration")
	return observed < workload.GetGeneration()
}

// ownWorkloads finds what OpenKruise holds in a state that never ends, and what it rounds otherwise.
func (c *check) ownWorkloads() {
	c.neverRefreshed()
	for _, set := range c.Objects[perNode] {
		c.percentOfNodes(set)
	}
	for _, set := range c.Objects[sidecars] {
		c.percentOfSidecars(set)
	}
}

// percentOfNodes says if podwright rounds the partition of a workload on nodes otherwise. OpenKruise has percentages there from 1.9 on.
func (c *check) percentOfNodes(set *unstructured.Unstructured) {
	percent, said := percentage(text(set.Object, "spec", "updateStrategy", "rollingUpdate", "partition"))
	if !said {
		return
	}
	c.happens(title(set), "DS-V3", "Its partition is a percentage: clients of v1alpha1 that know numbers alone cannot use it.")
	desired, _ := number(set.Object, "status", "desiredNumberScheduled")
	theirs := desired * percent / 100
	if ours := (desired*percent + 99) / 100; ours != theirs && !c.Gates.Enabled(nodesRoundDown) {
		c.answer(title(set), "DS-25", fmt.Sprintf("Its partition of %d%% keeps %s old with OpenKruise, and %d with podwright.", percent, count(int(theirs), "node"), ours),
			"Give podwright's manager --release=1.9, or write a number.")
	}
}

// percentOfSidecars says if podwright rounds the partition of sidecars otherwise. OpenKruise rounds up from 1.8 on.
func (c *check) percentOfSidecars(set *unstructured.Unstructured) {
	percent, said := percentage(text(set.Object, "spec", "updateStrategy", "partition"))
	if !said {
		return
	}
	matched, _ := number(set.Object, "status", "matchedPods")
	theirs, ours := kept(matched, percent, !before(c.release, "1.8")), kept(matched, percent, c.Gates.Enabled(sidecarsRoundUp))
	if theirs != ours {
		c.answer(title(set), "SCS-30", fmt.Sprintf("Its partition of %d%% keeps %s old with OpenKruise, and %d with podwright.", percent, count(int(theirs), "pod"), ours),
			fmt.Sprintf("Give podwright's manager --feature-gates=%s=%t, or write a number.", sidecarsRoundUp, !c.Gates.Enabled(sidecarsRoundUp)))
	}
}

// kept is how many of some pods a percentage keeps. Rounded up it leaves one of several to update, below 100 %.
func kept(pods, percent int64, up bool) int64 {
	if !up {
		return pods * percent / 100
	}
	n := (pods*percent + 99) / 100
	if n == pods && percent < 100 && pods > 1 {
		n--
	}
	return n
}

// percentage reads "25%".
func percentage(text string) (percent int64, said bool) {
	digits, said := strings.CutSuffix(text, "%")
	percent, err := strconv.ParseInt(digits, 10, 32)
	return percent, said && err == nil
}
