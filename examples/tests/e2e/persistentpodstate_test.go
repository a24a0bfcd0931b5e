// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/examples/tests/cluster"
	"github.com/podwright/podwright/examples/tests/testbed"
	"github.com/podwright/podwright/examples/tests/testbed/podstate"
)

// awaitStates waits until all pods are in service and the PersistentPodState web says where, and returns that: nodes by pod.
func (s *placedFixture) awaitStates(rule string, replicas int) map[string]string {
	s.Helper()
	at := map[string]string{}
	s.AwaitAsking(rule+": the nodes of the pods are recorded", func() string {
		clear(at)
		for _, pod := range s.active() {
			if podstate.InService(pod) {
				at[pod.Name] = pod.Spec.NodeName
			}
		}
		state, err := s.client.PersistentPodStates(s.Namespace).Get(s.Context(), "web", metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		recorded := map[string]string{}
		for name, pod := range state.Status.PodStates {
			recorded[name] = pod.NodeName
		}
		if diff := cmp.Diff(at, recorded); len(at) != replicas || diff != "" {
			return fmt.Sprintf("%d pods, (-pods +recorded) %s", len(at), diff)
		}
		return ""
	})
	return at
}

// placedBack tells whether a pod was sent to its node.
func placedBack(pod *corev1.Pod, node string) bool {
	return pod.Annotations[v1alpha1.InjectedPersistentPodStateAnnotation] == "web" && pod.Spec.NodeSelector[corev1.LabelHostname] == node
}

// A StatefulSet asks for a PersistentPodState by annotations, and its pods come back to their nodes. Their own controller
// places pods of apps.kruise.io, and the webhook places the others. What the annotations ask for changes with them, and goes
// with them.
func TestPersistentPodState(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"Advanced StatefulSet", "StatefulSet"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := newPlacedFixture(t, steady)
			states := s.client.PersistentPodStates(s.Namespace)
			s.run(kind, 3, map[string]string{
				v1alpha1.AutoGeneratePersistentPodStateAnnotation: "true", v1alpha1.RequiredPersistentTopologyAnnotation: corev1.LabelHostname})
			before := s.awaitStates("PPS-4, PPS-21", 3)
			again := &v1alpha1.PersistentPodState{ObjectMeta: metav1.ObjectMeta{Name: "again"}, Spec: v1alpha1.PersistentPodStateSpec{
				TargetReference: targetOf(kind), RequiredPersistentTopology: &v1alpha1.NodeTopologyTerm{NodeTopologyKeys: []string{corev1.LabelHostname}}}}
			if _, err := states.Create(t.Context(), again, metav1.CreateOptions{}); !apierrors.IsBadRequest(err) {
				t.Errorf("PPS-26: a second one of the same workload: %v", err)
			}
			for name, node := range before {
				s.awaitPlaced(kind, name, node)
			}
			if diff := cmp.Diff(before, s.awaitStates("PPS-12", 3)); diff != "" {
				t.Errorf("PPS-12: where the pods are (-before +now):\n%s", diff)
			}

			s.patch(kind, `{"spec":{"replicas":1},"metadata":{"annotations":{"`+v1alpha1.PreferredPersistentTopologyAnnotation+`":"`+corev1.LabelTopologyZone+`"}}}`)
			s.awaitStates("PPS-8", 1)
			s.AwaitAsking("PPS-22: the spec follows the annotations", func() string {
				state, err := states.Get(t.Context(), "web", metav1.GetOptions{})
				if err != nil || len(state.Spec.PreferredPersistentTopology) != 1 {
					return fmt.Sprintf("error %v, %+v", err, state.Spec)
				}
				return ""
			})
			s.patch(kind, `{"metadata":{"annotations":{"`+v1alpha1.AutoGeneratePersistentPodStateAnnotation+`":null}}}`)
			s.AwaitAsking("PPS-23: it goes with the annotation", func() string {
				if _, err := states.Get(t.Context(), "web", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
					return fmt.Sprint("error ", err)
				}
				return ""
			})
		})
	}
}

// awaitPlaced deletes a pod and waits for its successor on its node. The API server asks the webhook a moment after the
// PersistentPodState is there: a pod that was missed is deleted once more. The StatefulSets of apps.kruise.io need no webhook.
func (s *placedFixture) awaitPlaced(kind, name, node string) {
	s.Helper()
	old, _ := s.Pods.Named(name)
	s.DeletePod(name)
	s.Await(fmt.Sprintf("PPS-12: pod %s comes back to %s", name, node), func() string {
		pod, found := s.Pods.Named(name)
		if !found || pod.UID == old.UID || pod.DeletionTimestamp != nil {
			return "it is not there"
		}
		if placedBack(pod, node) {
			return ""
		}
		if kind == "Advanced StatefulSet" {
			s.Fatalf("PPS-27: pod %s is not placed: %v %v", name, pod.Annotations, pod.Spec.NodeSelector)
		}
		if err := s.Core.CoreV1().Pods(s.Namespace).Delete(s.Context(), name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &pod.UID}}); err != nil && !apierrors.IsNotFound(err) {
			s.Fatal(err)
		}
		return "it was not placed"
	})
}

// A pod whose node is gone is placed elsewhere.
func TestPersistentPodStateWithoutItsNode(t *testing.T) {
	testbed.Long(t)
	t.Parallel()
	s := newPlacedFixture(t, steady)
	node := cluster.NewNode("gone-"+s.Namespace, "", 900)
	node.Labels[s.Namespace] = "yes"
	node.Spec.Taints = []corev1.Taint{{Key: "podstate", Effect: corev1.TaintEffectNoSchedule}} // pods of other tests stay away
	nodes := s.Core.CoreV1().Nodes()
	if _, err := nodes.Create(t.Context(), node, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	s.Cleanup(func() { _ = nodes.Delete(context.Background(), node.Name, metav1.DeleteOptions{}) })
	s.run("Advanced StatefulSet", 0, map[string]string{
		v1alpha1.AutoGeneratePersistentPodStateAnnotation: "true", v1alpha1.RequiredPersistentTopologyAnnotation: corev1.LabelHostname})
	const template = `{"spec":{"replicas":%d,"template":{"spec":{"affinity":%s,"tolerations":[{"key":"podstate","operator":"Exists"}]}}}}`
	s.patch("Advanced StatefulSet", fmt.Sprintf(template, 1, `{"nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":100,"preference":{"matchExpressions":[{"key":"`+s.Namespace+`","operator":"Exists"}]}}]}}`))
	if at := s.awaitStates("PPS-4", 1); !maps.Equal(at, map[string]string{"web-0": node.Name}) {
		t.Fatalf("the pod is on %v", at)
	}
	if _, err := nodes.Patch(t.Context(), node.Name, types.MergePatchType, []byte(`{"spec":{"unschedulable":true}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	s.awaitPlaced("Advanced StatefulSet", "web-0", node.Name) // and waits for a node that is cordoned
	if err := nodes.Delete(t.Context(), node.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	s.Await("PPS-19: the pod is placed elsewhere", func() string {
		pod, found := s.Pods.Named("web-0")
		if !found || !podstate.InService(pod) || pod.Spec.NodeName == node.Name {
			return "it is not"
		}
		return ""
	})
	s.AwaitAsking("PPS-18: the condition TopologyLost is over", func() string {
		state, err := s.client.PersistentPodStates(s.Namespace).Get(t.Context(), "web", metav1.GetOptions{})
		if err != nil || state.Status.Lost != 0 {
			return fmt.Sprintf("error %v, %+v", err, state.Status)
		}
		return ""
	})
	events, err := s.Core.CoreV1().Events(s.Namespace).List(t.Context(), metav1.ListOptions{FieldSelector: "reason=" + v1alpha1.TopologyLostEvent})
	if err != nil || len(events.Items) == 0 {
		t.Errorf("PPS-18, PPS-19: %d events, error %v", len(events.Items), err)
	}
}
