// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/availability/v1alpha1"
)

// ownerKind is a kind of what controls pods.
type ownerKind struct {
	name string
	// target is what a targetRef says; nothing if no budget can name it.
	version, kind string
	// creates creates one that wants three pods, and returns what pods name.
	creates func(s *stage) metav1.OwnerReference
	// wants changes how many it wants, and goes has it go and leave its pods; nil if that cannot be.
	wants func(s *stage, n int)
	goes  func(s *stage)
	// unknown says that it cannot be told how many it wants.
	unknown bool
}

// known is a kind that informers are for.
func known(name, version, resource, kind string) ownerKind {
	path := version + "/namespaces/default/" + resource + "/web"
	if version == "v1" {
		path = "../api/" + path
	}
	selector := `{"matchLabels":{"app":"web"}}`
	if version == "v1" {
		selector = `{"app":"web"}`
	}
	return ownerKind{name: name, version: version, kind: kind, creates: func(s *stage) metav1.OwnerReference {
		return s.workload(version, resource, kind, `{"replicas":3,"selector":`+selector+`,"template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"main","image":"nginx:1"}]}}}`)
	}, wants: func(s *stage, n int) { s.scale(path, n) }, goes: func(s *stage) { s.remove(path) }}
}

// machineVersion is that of a kind that no informer is for.
const machineVersion = "shop.io/v1"

// ownerKinds are the rows of TestOwners.
var ownerKinds = []ownerKind{
	known("CloneSet", "apps.kruise.io/v1alpha1", "clonesets", "CloneSet"),
	known("Advanced StatefulSet", "apps.kruise.io/v1beta1", "statefulsets", "StatefulSet"),
	known("StatefulSet", "apps/v1", "statefulsets", "StatefulSet"),
	known("ReplicaSet", "apps/v1", "replicasets", "ReplicaSet"),
	known("ReplicationController", "v1", "replicationcontrollers", "ReplicationController"),
	{name: "Deployment", version: "apps/v1", kind: "Deployment", creates: func(s *stage) metav1.OwnerReference {
		_, ref := s.deployment(3, 0, 3)
		return ref
	}, wants: func(s *stage, n int) { s.scale("apps/v1/namespaces/default/deployments/web", n) }, goes: func(s *stage) {
		s.remove("apps/v1/namespaces/default/replicasets/web-new")
		s.remove("apps/v1/namespaces/default/deployments/web")
	}},
	{name: "a kind with a scale", version: machineVersion, kind: "Machine", creates: func(s *stage) metav1.OwnerReference {
		s.scales.wants["web"] = 3
		return machine("web")
	}, wants: func(s *stage, n int) { s.scales.wants["web"] = int32(n) }, goes: func(s *stage) { delete(s.scales.wants, "web") }},
	{name: "a ReplicaSet of a kind with a scale", version: machineVersion, kind: "Machine", creates: func(s *stage) metav1.OwnerReference {
		s.scales.wants["web"] = 3
		return s.replicaSet(machineVersion, "Machine", "uid")
	}, wants: func(s *stage, n int) { s.scales.wants["web"] = int32(n) }},
	{name: "a kind without a scale", version: machineVersion, kind: "Machine", unknown: true, creates: func(s *stage) metav1.OwnerReference {
		s.scales.fails = ErrNotRead
		return machine("web")
	}},
	{name: "no owner", creates: func(*stage) metav1.OwnerReference { return noOwner }},
	{name: "Node", creates: func(*stage) metav1.OwnerReference { return ownerOf("v1", "Node", "n1", "uid-n1") }},
}

// ownerState is a column of TestOwners: what stands before the users ask.
type ownerState struct {
	name string
	// happens has it come to that with three pods of an owner; by is how a budget finds them. It returns how many are wanted.
	happens func(s *stage, k *ownerKind, by func(*v1alpha1.PodUnavailableBudget)) (wanted int32)
	unknown bool
}

// behindOrStopped creates a budget from which all may go, and tightens it after that.
func behindOrStopped(then func(*stage)) func(*stage, *ownerKind, func(*v1alpha1.PodUnavailableBudget)) int32 {
	return func(s *stage, k *ownerKind, by func(*v1alpha1.PodUnavailableBudget)) int32 {
		s.pods(k.creates(s), 3)
		s.createBudget(newBudget("web", "100%", by))
		s.Sleep("1s")
		then(s)
		s.edit("web", `{"spec":{"maxUnavailable":1}}`)
		return 3
	}
}

// later creates a budget of one pod that may go, and has something happen a second later.
func later(wanted int32, then func(*stage, *ownerKind)) func(*stage, *ownerKind, func(*v1alpha1.PodUnavailableBudget)) int32 {
	return func(s *stage, k *ownerKind, by func(*v1alpha1.PodUnavailableBudget)) int32 {
		s.pods(k.creates(s), 3)
		s.createBudget(newBudget("web", "1", by))
		s.Sleep("1s")
		then(s, k)
		return wanted
	}
}

var ownerStates = []ownerState{
	{name: "steady", happens: later(3, func(*stage, *ownerKind) {})},
	{name: "scaled to 0", happens: later(0, func(s *stage, k *ownerKind) { k.wants(s, 0) })},
	{name: "the controller is gone", happens: later(0, func(s *stage, k *ownerKind) {
		k.goes(s)
		s.settled = "61s"
	})},
	{name: "two budgets", happens: func(s *stage, k *ownerKind, by func(*v1alpha1.PodUnavailableBudget)) int32 {
		s.pods(k.creates(s), 3)
		s.createBudget(newBudget("web", "0", by))
		s.Sleep("1s")
		s.createBudget(newBudget("former", "1", bySelector))
		return 3
	}},
	{name: "the budget is renamed", happens: func(s *stage, k *ownerKind, by func(*v1alpha1.PodUnavailableBudget)) int32 {
		s.pods(k.creates(s), 3)
		s.createBudget(newBudget("former", "2", by))
		s.Sleep("1s")
		s.removeBudget("former")
		s.createBudget(newBudget("web", "1", by))
		return 3
	}},
	{name: "the generation is behind", unknown: true, happens: behindOrStopped(func(s *stage) { s.stop() })},
	{name: "a cache is behind", happens: behindOrStopped(func(s *stage) { s.behind() })},
	{name: "a pod is out of service", happens: later(3, func(s *stage, _ *ownerKind) {
		s.patchPod("c", `{"metadata":{"labels":{"unavailable-pod.kruise.io/a":""}}}`)
		s.asked = []string{"a", "b"}
	})},
	{name: "a pod is taken aside", happens: func(s *stage, k *ownerKind, by func(*v1alpha1.PodUnavailableBudget)) int32 {
		s.pods(k.creates(s), 3)
		s.createBudget(newBudget("web", "0", by))
		s.Sleep("1s")
		s.patchPod("c", quarantined)
		s.asked = []string{"c"}
		return 0
	}},
}

// TestOwners is the table of budgets: each kind of owner, by selector and by targetRef, in each state. A cell shows the status, the conditions, the events, and of how many
// pods the deletion, eviction and update are allowed. Its judge knows the pods and their owners, and nothing of the status. (PUB-2 to PUB-4, PUB-13, PUB-14, PUB-20,
// PUB-23, PUB-34, PUB-35)
func TestOwners(t *testing.T) {
	datadriven.RunTest(t, "testdata/owners.txt", func(t *testing.T, d *datadriven.TestData) string {
		var lines []string
		for i := range ownerKinds {
			if ownerKinds[i].name == d.Input {
				lines = ownerKinds[i].row(t, d.Cmd)
			}
		}
		return strings.Join(lines, "\n") + "\n"
	})
}

// row plays each state of a kind.
func (k *ownerKind) row(t *testing.T, by string) (lines []string) {
	finds := bySelector
	if by == "targetRef" {
		finds = targeting(k.version, k.kind, "web")
	}
	for _, state := range ownerStates {
		if state.name == "scaled to 0" && k.wants == nil || state.name == "the controller is gone" && k.goes == nil {
			continue
		}
		played := situation{name: fmt.Sprintf("%s by %s, %s", k.name, by, state.name), unknown: state.unknown || k.unknown,
			stands: func(s *stage) int32 { return state.happens(s, k, finds) }}
		lines = append(lines, state.name+": "+played.play(t))
	}
	return lines
}

// Each kind has its rows. (PUB-2)
func TestOwnersHasAllKinds(t *testing.T) {
	rows := map[string]bool{}
	datadriven.RunTest(t, "testdata/owners.txt", func(_ *testing.T, d *datadriven.TestData) string {
		rows[d.Cmd+" "+d.Input] = true
		return d.Expected
	})
	for _, k := range ownerKinds {
		if !rows["selector "+k.name] || k.kind != "" && !rows["targetRef "+k.name] {
			t.Errorf("testdata/owners.txt lacks a row of %s", k.name)
		}
	}
}
