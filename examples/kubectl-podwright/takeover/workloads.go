// SPDX-License-Identifier: Apache-2.0

package takeover

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

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
	partition := percentage(set, "spec", "updateStrategy", "rollingUpdate", "partition")
	if partition == nil {
		return
	}
	c.happens(title(set), "DS-V3", "Its partition is a percentage: clients of v1alpha1 that know numbers alone cannot use it.")
	theirs, ours := rounded(set, "desiredNumberScheduled", partition, roundNodesAs19, ownNodes(c.Gates))
	if theirs != ours {
		c.answer(title(set), "DS-25", fmt.Sprintf("Its partition of %s keeps %s old with OpenKruise, and %d with podwright.", partition, count(int(theirs), "node"), ours),
			"Give podwright's manager --release=1.9, or write a number.")
	}
}

// percentOfSidecars says if podwright rounds the partition of sidecars otherwise. OpenKruise rounds up from 1.8 on.
func (c *check) percentOfSidecars(set *unstructured.Unstructured) {
	partition := percentage(set, "spec", "updateStrategy", "partition")
	if partition == nil {
		return
	}
	theirs, ours := rounded(set, "matchedPods", partition, roundSidecars(!before(c.release, "1.8")), ownSidecars(c.Gates))
	if theirs != ours {
		c.answer(title(set), "SCS-30", fmt.Sprintf("Its partition of %s keeps %s old with OpenKruise, and %d with podwright.", partition, count(int(theirs), "pod"), ours),
			fmt.Sprintf("Give podwright's manager --feature-gates=%s=%t, or write a number.", sidecarsRoundUp, !c.Gates.Enabled(sidecarsRoundUp)))
	}
}

// rounded are what OpenKruise and podwright make of a partition, of as many as a field of the status says. One that cannot be read is a
// problem of its plan, and 0 here.
func rounded(of *unstructured.Unstructured, field string, partition *intstr.IntOrString, openKruise, own rounds) (theirs, ours int32) {
	n, _ := number(of.Object, "status", field)
	theirs, err := openKruise(partition, int32(n))
	if err == nil {
		ours, err = own(partition, int32(n))
	}
	if err != nil {
		return 0, 0
	}
	return theirs, ours
}

// percentage returns a field that is a text, which a percentage is; nil if it is none.
func percentage(of *unstructured.Unstructured, path ...string) *intstr.IntOrString {
	if said := text(of.Object, path...); said != "" {
		return ptr.To(intstr.FromString(said))
	}
	return nil
}
