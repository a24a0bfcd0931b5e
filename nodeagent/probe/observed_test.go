// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"testing"
	"time"

	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// PPM-4.11: the generation that the agent has seen goes with the states of probes, and by itself when a change of the spec
// brings none.
func TestObservedGeneration(t *testing.T) {
	play(t, func(n *node) {
		expect := func(moment string, late int64, requests ...string) {
			n.Helper()
			of := n.nodePodProbe()
			if of.Status.ObservedGeneration != of.Generation-late || of.Generation == 0 {
				n.Errorf("%s: the agent has seen generation %d of %d", moment, of.Status.ObservedGeneration, of.Generation)
			}
			n.want(moment, requests, n.sent())
		}
		n.run("web-0", "main")
		n.start()
		n.sleep(20 * time.Second)
		expect("a first probe: a state of its container, and one of its own", 0, "2 patch nodepodprobes/status")

		n.run("web-1", "main")
		n.edit(wants("web-1", "idle"))
		n.sleep(20 * time.Second)
		expect("another pod: its states, and no write beside", 0, "2 patch nodepodprobes/status")

		n.edit(func(of *v1alpha1.NodePodProbe) { of.Spec.PodProbes[0].Probes[0].Probe.PeriodSeconds = 7 })
		n.sleep(time.Second)
		expect("another period changes no state", 0, "1 patch nodepodprobes/status")

		n.edit(wants("web-2", "idle"))
		n.sleep(50 * time.Second)
		expect("a pod whose container has not started is waited for", 1)
		n.sleep(11 * time.Second)
		expect("but not for ever", 0, "1 patch nodepodprobes/status")
		n.sleep(time.Hour)
		expect("nothing changes", 0)

		n.edit(nothing)
		n.sleep(time.Second)
		expect("all are gone", 0, "1 patch nodepodprobes/status")
	}, wants("web-0", "idle"))
}

// PPM-4.11: a status that has no generation, as when the CRD does not have the field, is not written for it, whatever comes.
func TestNoObservedGeneration(t *testing.T) {
	for _, seen := range []int64{0, 6, 7} {
		of := newNodePodProbe(wants("web-0", "idle"), says("web-0", "idle", failed))
		of.Generation, of.Status.ObservedGeneration = 7, seen
		s := &Snapshot{NodePodProbe: of, Probes: []Probe{knows("web-0", "idle", ran(time.Second), is(failed))}, Began: now.Add(-time.Hour), Now: now}
		if plan := NewPlan(s); (plan.Status != nil) != (seen == 6) {
			t.Errorf("seen %d of 7: status %+v", seen, plan.Status)
		}
	}
}
