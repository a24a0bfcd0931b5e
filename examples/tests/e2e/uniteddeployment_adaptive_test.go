// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/examples/tests/cluster"
	"github.com/podwright/podwright/examples/tests/testbed/podstate"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// withAdaptiveScheduling are the flags of a manager that reads the schedule strategy of UnitedDeployments. They take rights.
var withAdaptiveScheduling = []string{"--uniteddeployment-adaptive-scheduling"}

// A zone takes no more pods. Another zone runs those that find no node there, and those that are ready stay. All come back when there
// is room again, without a pod less meanwhile. It is among TestFaults: the manager is another one meanwhile. (UD-20, UD-21)
func testAdaptiveScheduling(t *testing.T, b *bed) {
	s := &unitedFixture{newFixture(t, b, unitedDeploymentKind), unitedCloneSets}
	s.Manager.Kill()
	s.Cleanup(s.revive)
	manager := s.Manager.With(withAdaptiveScheduling...)
	if err := manager.Start(); err != nil {
		t.Fatal(err)
	}
	s.Cleanup(manager.Kill)

	const zone = "zone-narrow"
	node := cluster.NewNode("narrow-"+s.Namespace, zone, 901)
	nodes := s.Core.CoreV1().Nodes()
	if _, err := nodes.Create(t.Context(), node, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	s.Cleanup(func() { _ = nodes.Delete(context.Background(), node.Name, metav1.DeleteOptions{}) })
	cordon := func(is bool) {
		t.Helper()
		if _, err := nodes.Patch(t.Context(), node.Name, types.MergePatchType, fmt.Appendf(nil, `{"spec":{"unschedulable":%t}}`, is), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
	}

	set := s.united(4, "zone-a", zone)
	set.Spec.Topology.ScheduleStrategy = v1alpha1.UnitedDeploymentScheduleStrategy{Type: v1alpha1.AdaptiveUnitedDeploymentScheduleStrategyType,
		Adaptive: &v1alpha1.AdaptiveUnitedDeploymentStrategy{RescheduleCriticalSeconds: new(int32(1)), UnschedulableDuration: new(int32(10))}}
	s.AwaitAsking("UnitedDeployments are accepted", func() string {
		if _, err := s.client.Create(t.Context(), set, metav1.CreateOptions{}); err != nil {
			return err.Error()
		}
		return ""
	})
	a, narrow := "zone-a node-0 web:1", zone+" "+node.Name+" web:1"
	s.awaitPods("UD-3.3", a, a, narrow, narrow)
	first := s.ready()

	cordon(true)
	s.edit("web", func(set *v1alpha1.UnitedDeployment) { set.Spec.Replicas = new(int32(8)) })
	s.awaitPods("UD-21.1, UD-21.2", a, a, a, a, a, a, narrow, narrow)
	s.awaitSchedulable(zone, corev1.ConditionFalse)
	elsewhere := s.ready()
	s.keeps("UD-21.2: where its neighbour finds no node", first, elsewhere)

	s.Await("UD-21.3, UD-21.4: the zone is tried again, and its pods are reserved", func() string {
		if !slices.ContainsFunc(s.Pods.All(), func(pod *corev1.Pod) bool { return pod.Labels[v1alpha1.ReservedPodLabel] == "true" }) {
			return "none is"
		}
		return ""
	})
	cordon(false)
	s.Await("UD-21.4: the pods come back", func() string {
		now := s.ready()
		if len(now) < 8 {
			s.Errorf("UD-21.4: %d pods are ready while pods come back, of 8", len(now))
		}
		back := 0
		for _, pod := range now {
			if pod.Labels[v1alpha1.SubsetNameLabel] == zone {
				back++
			}
		}
		return map[bool]string{false: fmt.Sprintf("%d pods, %d of them in %s", len(now), back, zone)}[back == 4 && len(now) == 8]
	})
	s.awaitPods("UD-21.4", a, a, a, a, narrow, narrow, narrow, narrow)
	s.awaitSchedulable(zone, corev1.ConditionTrue)
	s.keeps("UD-21.4: when there is room again", first, s.ready())
	for _, pod := range s.Pods.All() {
		if podstate.Active(pod) && pod.Labels[v1alpha1.ReservedPodLabel] != "" {
			t.Errorf("UD-21.3: pod %s is ready, and marked as reserved", pod.Name)
		}
	}
	for _, reason := range []string{"SubsetUnschedulable", "SubsetSchedulable"} {
		events, err := s.Core.CoreV1().Events(s.Namespace).List(t.Context(), metav1.ListOptions{FieldSelector: "involvedObject.name=web,reason=" + reason})
		if err != nil || len(events.Items) == 0 {
			t.Errorf("UD-21.5: %d events %s, error %v", len(events.Items), reason, err)
		}
	}
}

// ready are the pods in service.
func (s *unitedFixture) ready() []*corev1.Pod {
	return slices.DeleteFunc(s.Pods.All(), func(pod *corev1.Pod) bool { return !podstate.InService(pod) })
}

// keeps fails if a pod is gone that was ready before.
func (s *unitedFixture) keeps(rule string, before, now []*corev1.Pod) {
	s.Helper()
	for _, pod := range before {
		if !slices.ContainsFunc(now, func(other *corev1.Pod) bool { return other.UID == pod.UID }) {
			s.Errorf("%s: pod %s, which was ready, is gone", rule, pod.Name)
		}
	}
}

// awaitSchedulable waits for the condition Schedulable of a subset.
func (s *unitedFixture) awaitSchedulable(subset string, want corev1.ConditionStatus) {
	s.Helper()
	s.awaitStatus("web", fmt.Sprintf("UD-21.5: the condition Schedulable of %s is %s", subset, want), func(set *v1alpha1.UnitedDeployment) string {
		for _, status := range set.Status.SubsetStatuses {
			for _, c := range status.Conditions {
				if status.Name == subset && c.Type == v1alpha1.UnitedDeploymentSubsetSchedulable && c.Status == want {
					return ""
				}
			}
		}
		return fmt.Sprintf("%+v", set.Status.SubsetStatuses)
	})
}
