// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/examples/tests/testbed"
)

// daemonGuarantee is something that Kubernetes promises about DaemonSets.
type daemonGuarantee struct {
	name string
	// promise is what the documentation says, in our words.
	promise string
	// spec is what the manifest's spec has that other guarantees do not need: a merge patch, in YAML.
	spec string
	// play makes it come true. It runs once on every side.
	play func(*daemonPlay)
}

// TestDaemonSetGuarantees tests that a manifest of Kubernetes' own DaemonSet, with nothing changed but its apiVersion, behaves
// here as it does there. As in TestGuarantees, every guarantee is played on both sides at the same time, each on three nodes of
// its own. Both must keep the promise, and at every settled moment pods, status and revisions must be the same.
//
// What differs on purpose stands in the package comment of workloads/daemonset, and no guarantee here is about it. The controllers
// differ in updates of pods that are not available, and of pods on nodes that take no new ones. Pods are named after their nodes. The
// selector may be changed. Beside that, the pods of Kubernetes have a label pod-template-generation, and its revisions the defaults
// of templates. The pod webhook gives ours the readiness gate KruisePodReady, which lets several writers take a pod out of service.
func TestDaemonSetGuarantees(t *testing.T) {
	t.Parallel()
	for _, g := range testbed.Sample(daemonGuarantees, 5) {
		t.Run(g.name, func(t *testing.T) {
			t.Parallel()
			plays := map[string]*daemonPlay{}
			t.Run("on", func(t *testing.T) {
				for name, side := range daemonSides {
					p := newDaemonPlay(t, side, g.spec)
					plays[name] = p
					t.Run(name, func(t *testing.T) {
						t.Parallel()
						p.T = t
						g.play(p)
					})
				}
			})
			theirs, ours := plays["kubernetes"], plays["podwright"]
			if t.Failed() {
				return
			}
			if diff := cmp.Diff(theirs.moments, ours.moments, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("settled moments (-kubernetes +podwright):\n%s", diff)
			}
		})
	}
}

var daemonGuarantees = []daemonGuarantee{
	{"EveryNode", "a pod runs on every node that the template selects", "", func(p *daemonPlay) {
		p.begin()
	}},
	{"NodesJoinAndLeave", "a node that begins to match gets a pod, one that ceases to loses its pod", "", func(p *daemonPlay) {
		p.begin()
		p.choose("b", "null")
		p.settled("a web:1", "c web:1")
		p.choose("b", `"yes"`)
		p.settled("a web:1", "b web:1", "c web:1")
	}},
	{"NoSchedule", "a taint NoSchedule keeps new pods away, and leaves those that run", "", func(p *daemonPlay) {
		p.begin()
		p.taint("a", "maintenance", corev1.TaintEffectNoSchedule)
		p.remind()
		p.settledApartFrom("a", "a web:1", "b web:1", "c web:1")
		p.delete("a")
		p.settled("b web:1", "c web:1")
		p.taint("a", "", "")
		p.settled("a web:1", "b web:1", "c web:1")
	}},
	{"NoExecute", "a taint NoExecute ends the pods that run", "", func(p *daemonPlay) {
		p.begin()
		p.taint("a", "maintenance", corev1.TaintEffectNoExecute)
		p.settled("b web:1", "c web:1")
	}},
	{"Cordoned", "nodes that are cordoned or in trouble get pods nevertheless", "", func(p *daemonPlay) {
		p.choose("a", "null")
		p.create()
		p.settled("b web:1", "c web:1")
		p.taint("a", corev1.TaintNodeDiskPressure, corev1.TaintEffectNoSchedule)
		p.cordon("a")
		p.choose("a", `"yes"`)
		p.settled("a web:1", "b web:1", "c web:1")
	}},
	{"DeletedPods", "a pod that is deleted comes back", "", func(p *daemonPlay) {
		p.begin()
		p.delete("b")
		p.settled("a web:1", "b web:1", "c web:1")
	}},
	{"FailedPods", "a pod that has failed is replaced", "", func(p *daemonPlay) {
		p.begin()
		p.SetPhase(p.on("b").Name, corev1.PodFailed)
		p.settled("a web:1", "b web:1", "c web:1")
	}},
	{"RollingUpdate", "by default pods are updated one at a time", "", func(p *daemonPlay) {
		p.begin()
		p.change(`{template: {spec: {containers: [{name: main, image: "web:2"}]}}}`)
		p.settled("a web:2", "b web:2", "c web:2")
		p.unavailableAtMost(1)
		p.podsAtMost(3)
	}},
	{"MaxUnavailable", "or as many as maxUnavailable says", `{updateStrategy: {rollingUpdate: {maxUnavailable: 50%}}}`, func(p *daemonPlay) {
		p.begin()
		p.change(`{template: {spec: {containers: [{name: main, image: "web:2"}]}}}`)
		p.settled("a web:2", "b web:2", "c web:2")
		p.unavailableAtMost(2)
	}},
	{"MaxSurge", "with maxSurge a second pod is there before the first one goes", `{updateStrategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}}`, func(p *daemonPlay) {
		p.begin()
		p.change(`{template: {spec: {containers: [{name: main, image: "web:2"}]}}}`)
		p.settled("a web:2", "b web:2", "c web:2")
		p.unavailableAtMost(0)
	}},
	{"OnDelete", "with OnDelete pods are updated when a user deletes them", `{updateStrategy: {type: OnDelete}}`, func(p *daemonPlay) {
		p.begin()
		p.change(`{template: {spec: {containers: [{name: main, image: "web:2"}]}}}`)
		p.settled("a web:1", "b web:1", "c web:1")
		p.delete("b")
		p.settled("a web:1", "b web:2", "c web:1")
	}},
	{"BadImage", "an update that does not work stops; one that does goes on from there", "", func(p *daemonPlay) {
		p.begin()
		p.change(`{template: {spec: {containers: [{name: main, image: "web:bad"}]}}}`)
		p.await("one pod is broken", func(pods []string) bool { return p.broken(pods) == 1 && len(pods) == 3 })
		p.change(`{template: {spec: {containers: [{name: main, image: "web:2"}]}}}`)
		p.settled("a web:2", "b web:2", "c web:2")
		p.unavailableAtMost(1)
	}},
	{"RollBack", "a template that was there before is the newest revision again", "", func(p *daemonPlay) {
		p.begin()
		p.change(`{template: {spec: {containers: [{name: main, image: "web:2"}]}}}`)
		p.settled("a web:2", "b web:2", "c web:2")
		p.change(`{template: {spec: {containers: [{name: main, image: "web:1"}]}}}`)
		p.settled("a web:1", "b web:1", "c web:1")
	}},
	{"HistoryLimit", "as many old revisions stay as revisionHistoryLimit says", `{revisionHistoryLimit: 0}`, func(p *daemonPlay) {
		p.begin()
		p.change(`{template: {spec: {containers: [{name: main, image: "web:2"}]}}}`)
		p.settled("a web:2", "b web:2", "c web:2")
	}},
	{"Orphans", "pods that are left behind are adopted by the next DaemonSet, and go on", "", func(p *daemonPlay) {
		p.begin()
		before := p.uids()
		p.deleteSet(metav1.DeletePropagationOrphan)
		p.await("the pods are orphans", func(pods []string) bool {
			return cmp.Equal(pods, []string{"a web:1 orphan", "b web:1 orphan", "c web:1 orphan"})
		})
		p.create()
		p.settled("a web:1", "b web:1", "c web:1")
		if diff := cmp.Diff(before, p.uids()); diff != "" {
			p.Errorf("other pods (-before +after):\n%s", diff)
		}
	}},
	{"Deletion", "the pods go with the DaemonSet", "", func(p *daemonPlay) {
		p.begin()
		p.deleteSet(metav1.DeletePropagationForeground)
		p.await("no pods", func(pods []string) bool { return len(pods) == 0 })
	}},
	{"Released", "a pod that the selector no longer matches is released, and another one comes", "", func(p *daemonPlay) {
		p.begin()
		p.Label(p.on("b").Name, "app", "debug")
		p.settled("a web:1", "b web:1", "b web:1 orphan", "c web:1")
	}},
	{"HostNetwork", "pods on the host's network tolerate that there is no other", `{template: {spec: {hostNetwork: true}}}`, func(p *daemonPlay) {
		p.begin()
	}},
	{"Affinity", "required node affinity decides about nodes, and preferences of the template stay", `
template: {spec: {affinity: {nodeAffinity: {
  requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: letter, operator: In, values: [a, c]}]}]},
  preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: {matchExpressions: [{key: letter, operator: Exists}]}}]}}}}`, func(p *daemonPlay) {
		p.create()
		p.settled("a web:1", "c web:1")
	}},
	{"MinReadySeconds", "a pod is available when it has been ready for minReadySeconds", `{minReadySeconds: 2}`, func(p *daemonPlay) {
		p.begin()
		p.change(`{template: {spec: {containers: [{name: main, image: "web:2"}]}}}`)
		p.settled("a web:2", "b web:2", "c web:2")
		p.unavailableAtMost(1)
	}},
}
