// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/examples/tests/testbed/podstate"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// plainPod is a pod with the container main.
func plainPod(name string, edits ...func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "web:1"}}}}
	for _, edit := range edits {
		edit(pod)
	}
	return pod
}

func withGate(pod *corev1.Pod) {
	pod.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: lifecyclev1alpha1.KruisePodReady}}
}

// gated tells how often a pod has the gate.
func gated(pod *corev1.Pod) (n int) {
	for _, gate := range pod.Spec.ReadinessGates {
		if gate.ConditionType == lifecyclev1alpha1.KruisePodReady {
			n++
		}
	}
	return n
}

// awaitPodInService waits until a pod takes traffic.
func (s *cloneSetFixture) awaitPodInService(name string) {
	s.Helper()
	s.AwaitPod(name, "in service", func(p *corev1.Pod) string {
		if !podstate.InService(p) {
			return podstate.Describe(p, false)
		}
		return ""
	})
}

// CRR-4.3: pods of a controller of the group get the gate, whatever its kind, and others do not.
func TestReadinessGateOfOtherKinds(t *testing.T) {
	t.Parallel()
	s := newCloneSetFixture(t)
	distribution, err := client.NewForConfig(s.Config())
	if err != nil {
		t.Fatal(err)
	}
	nodes := (&images{Scene: s.Scene, client: distribution.NodeImages()}).awaitNodeImages()
	owner, err := distribution.NodeImages().Get(t.Context(), nodes[0], metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	owned := s.createPod(plainPod("owned", func(pod *corev1.Pod) {
		pod.OwnerReferences = []metav1.OwnerReference{{
			APIVersion: "apps.kruise.io/v1alpha1", Kind: "NodeImage", Name: owner.Name, UID: owner.UID, Controller: new(true),
		}}
	}))
	alone := s.createPod(plainPod("alone"))
	if gated(owned) != 1 || gated(alone) != 0 {
		t.Errorf("gates %v of the pod with an owner, %v of the other", owned.Spec.ReadinessGates, alone.Spec.ReadinessGates)
	}
	s.awaitPodInService("owned")
	s.run(cloneSet("web", 1))
	if pod := s.owned("web")[0]; gated(pod) != 1 {
		t.Errorf("gates of a pod of a CloneSet: %v", pod.Spec.ReadinessGates)
	}
}

// With the gate KruisePodReadinessGate every pod gets the readiness gate, so that each can be taken out of service while its
// container is recreated. It is among TestFaults: the manager is another one meanwhile.
func testReadinessGateOfAllPods(t *testing.T, b *bed) {
	s := b.cloneSetFixture(t)
	s.Manager.Kill()
	s.Cleanup(s.revive)
	all := s.Manager.With("--feature-gates=KruisePodReadinessGate=true")
	if err := all.Start(); err != nil {
		t.Fatal(err)
	}
	s.Cleanup(all.Kill)
	s.AwaitAsking("every pod gets the gate", func() string {
		pod, err := s.Core.CoreV1().Pods(s.Namespace).Create(s.Context(), plainPod("asked"), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err != nil {
			return err.Error()
		}
		if gated(pod) != 1 {
			return "it has none"
		}
		return ""
	})
	s.createPod(plainPod("lone"))
	s.awaitPodInService("lone")
	s.run(cloneSet("web", 1))
	if pod := s.owned("web")[0]; gated(pod) != 1 {
		t.Errorf("PR-2: gates of a pod of a CloneSet: %v", pod.Spec.ReadinessGates)
	}

	a := s.startAgent()
	a.ask(recreateRequest("restart", "lone", new(int64(1)), "main"))
	s.awaitOutOfService("lone", "restart")
	a.awaitEnd("restart")
	s.awaitRestarted("lone", 1, 0)

	all.Kill()
	pods := s.Core.CoreV1().Pods(s.Namespace)
	if _, err := pods.Create(s.Context(), plainPod("gated", withGate), metav1.CreateOptions{}); err != nil {
		t.Errorf("a pod that has the gate, with the manager down: %v", err)
	}
	if _, err := pods.Create(s.Context(), plainPod("without"), metav1.CreateOptions{}); err == nil || !strings.Contains(err.Error(), "mpod.kb.io") {
		t.Errorf("a pod without the gate, with the manager down: expected that it is refused, observed %v", err)
	}
	own, dryRun := s.Core.CoreV1().Pods("kruise-system"), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}
	if _, err := own.Create(s.Context(), plainPod("of-the-manager"), dryRun); err != nil {
		t.Errorf("a pod in the manager's own namespace, with the manager down: %v", err)
	}
	s.revive()
	s.AwaitAsking("pods are created as before", func() string {
		pod, err := pods.Create(s.Context(), plainPod("asked"), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err != nil {
			return err.Error()
		}
		if len(pod.Spec.ReadinessGates) > 0 {
			return "it has a gate"
		}
		return ""
	})
}
