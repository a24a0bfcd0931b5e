// SPDX-License-Identifier: Apache-2.0

package podstate_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/distribution/podstate"
	"github.com/podwright/podwright/distribution/v1alpha1"
)

// PPS-19, PPS-20: which pods wait for a node that does not exist, and how long.
func TestStuck(t *testing.T) {
	placed := newState(requires(host, zone), ran("c1", "web-0"))
	by := annotated(v1alpha1.InjectedPersistentPodStateAnnotation, "web")
	got := func(keys string) func(*corev1.Pod) {
		return annotated(v1alpha1.InjectedNodeSelectorAnnotation, keys)
	}
	lost := func(second int, status metav1.ConditionStatus) func(*v1alpha1.PersistentPodState) {
		return func(s *v1alpha1.PersistentPodState) {
			s.Status.Conditions = []metav1.Condition{{Type: v1alpha1.TopologyLostCondition, Status: status, LastTransitionTime: metav1.NewTime(after(second))}}
		}
	}
	gone := []func(*corev1.Pod){by, got(host), selects(host, "c1")}
	for _, test := range []struct {
		name    string
		changes []func(*corev1.Pod)
		node    string
		state   func(*v1alpha1.PersistentPodState)
		now     time.Time
		want    time.Duration // -1: it is not stuck
	}{
		{"PPS-19: just created", gone, "", nil, start, 30 * time.Second},
		{"PPS-19: soon", gone, "", nil, after(29), time.Second},
		{"PPS-19: now", gone, "", nil, after(30), 0},
		{"PPS-19: long ago", gone, "", nil, after(3000), 0},
		{"PPS-19: the node has gone since", gone, "", lost(100, metav1.ConditionTrue), after(110), 20 * time.Second},
		{"PPS-19: the node has gone before", gone, "", lost(-100, metav1.ConditionTrue), after(10), 20 * time.Second},
		{"PPS-19: nothing else is lost", gone, "", lost(100, metav1.ConditionFalse), after(110), 0},
		{"PPS-19: the node is there", []func(*corev1.Pod){by, got(host), selects(host, "a1")}, "", nil, after(60), -1},
		{"PPS-19: the node has become another one", []func(*corev1.Pod){by, got(host), selects(host, "a1"), selects(zone, "zone-b")}, "", nil, after(60), 0},
		{"PPS-19: it has a node", gone, "a1", nil, after(60), -1},
		{"PPS-19: it is being deleted", append([]func(*corev1.Pod){deleting}, gone...), "", nil, after(60), -1},
		{"PPS-19: nobody has placed it", []func(*corev1.Pod){selects(host, "c1")}, "", nil, after(60), -1},
		{"PPS-19: somebody else has", []func(*corev1.Pod){annotated(v1alpha1.InjectedPersistentPodStateAnnotation, "other"), got(host), selects(host, "c1")}, "", nil, after(60), -1},
		{"PPS-20: its own node selector", []func(*corev1.Pod){by, got(""), selects(host, "c1")}, "", nil, after(60), -1},
		{"PPS-20: another key of its own", []func(*corev1.Pod){by, got(host), selects(zone, "zone-c")}, "", nil, after(60), -1},
		{"PPS-20: placed by OpenKruise", []func(*corev1.Pod){by, selects(zone, "zone-c")}, "", nil, after(60), 0},
		{"PPS-20: placed by OpenKruise, by preference", []func(*corev1.Pod){by, selects("disk", "nvme")}, "", nil, after(60), -1},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := placed.DeepCopy()
			if test.state != nil {
				test.state(s)
			}
			stuck := podstate.FindStuck(podstate.Input{State: s, Workload: newWorkload(1), Now: test.now, Nodes: newNodes("a1", "b1"),
				Pods: []*corev1.Pod{newPod("web-0", test.node, test.changes...)}})
			got := time.Duration(-1)
			if len(stuck) > 0 {
				got = stuck[0].After
			}
			if got != test.want {
				t.Errorf("stuck for %s still, want %s", got, test.want)
			}
		})
	}
}

// PPS-19: a pod that is created again after its node has gone is not stuck again.
func TestStuckOnce(t *testing.T) {
	s := newState(requires(host), prefers(1, zone), ran("c1", "web-0"))
	first := podstate.Place(s, newPod("web-0", ""), newNodes("a1", "c1")).Pod
	find := func(pod *corev1.Pod) []podstate.Stuck {
		return podstate.FindStuck(podstate.Input{State: s, Workload: newWorkload(1), Now: after(60), Nodes: newNodes("a1"), Pods: []*corev1.Pod{pod}})
	}
	if stuck := find(first); len(stuck) != 1 || stuck[0].Reason != "it ran at kubernetes.io/hostname=c1, and no node there is as it asks for: it is created again without that" {
		t.Errorf("PPS-19: stuck %+v", stuck)
	}
	second := podstate.Place(s, newPod("web-0", ""), newNodes("a1"))
	if !second.Changed() || len(second.Required) > 0 {
		t.Errorf("required %v, preferred %v", second.Required, second.Preferred)
	}
	if stuck := find(second.Pod); len(stuck) != 0 {
		t.Errorf("PPS-19: stuck again: %+v", stuck)
	}
	// Two are found by name.
	other := first.DeepCopy()
	other.Name = "web-1"
	stuck := podstate.FindStuck(podstate.Input{State: s, Workload: newWorkload(2), Now: after(60), Nodes: newNodes("a1"), Pods: []*corev1.Pod{other, first}})
	if diff := cmp.Diff([]string{"web-0", "web-1"}, []string{stuck[0].Pod.Name, stuck[1].Pod.Name}); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
