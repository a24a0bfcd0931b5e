// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/examples/tests/testbed"
	"github.com/podwright/podwright/examples/tests/testbed/podstate"
	workloadsv1alpha1 "github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// placedFixture is a namespace whose pods are placed.
type placedFixture struct {
	*testbed.Scene
	*bed
	client client.Interface
}

func newPlacedFixture(t *testing.T, b *bed) *placedFixture {
	t.Helper()
	clients, err := client.NewForConfig(b.Config())
	if err != nil {
		t.Fatal(err)
	}
	return &placedFixture{b.NewScene(t, nil), b, clients}
}

// run creates a workload of the name web.
func (s *placedFixture) run(kind string, replicas int32, annotations map[string]string) {
	s.Helper()
	meta := metav1.ObjectMeta{Name: "web", Annotations: annotations}
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	var err error
	switch kind {
	case "CloneSet":
		_, err = s.workloads.CloneSets(s.Namespace).Create(s.Context(), &workloadsv1alpha1.CloneSet{ObjectMeta: meta,
			Spec: workloadsv1alpha1.CloneSetSpec{Replicas: &replicas, Selector: selector, Template: template("web")}}, metav1.CreateOptions{})
	case "Advanced StatefulSet":
		_, err = s.workloads.StatefulSets(s.Namespace).Create(s.Context(), &v1beta1.StatefulSet{ObjectMeta: meta,
			Spec: v1beta1.StatefulSetSpec{Replicas: &replicas, Selector: selector, Template: template("web"), PodManagementPolicy: appsv1.ParallelPodManagement}}, metav1.CreateOptions{})
	case "StatefulSet":
		_, err = s.Core.AppsV1().StatefulSets(s.Namespace).Create(s.Context(), &appsv1.StatefulSet{ObjectMeta: meta,
			Spec: appsv1.StatefulSetSpec{Replicas: &replicas, Selector: selector, Template: template("web"), PodManagementPolicy: appsv1.ParallelPodManagement}}, metav1.CreateOptions{})
	case "Deployment":
		_, err = s.Core.AppsV1().Deployments(s.Namespace).Create(s.Context(), &appsv1.Deployment{ObjectMeta: meta,
			Spec: appsv1.DeploymentSpec{Replicas: &replicas, Selector: selector, Template: template("web")}}, metav1.CreateOptions{})
	}
	if err != nil {
		s.Fatalf("create %s web: %v", kind, err)
	}
}

// patch changes the workload.
func (s *placedFixture) patch(kind, patch string) {
	s.Helper()
	var err error
	switch data, o := []byte(patch), (metav1.PatchOptions{}); kind {
	case "CloneSet":
		_, err = s.workloads.CloneSets(s.Namespace).Patch(s.Context(), "web", types.MergePatchType, data, o)
	case "Advanced StatefulSet":
		_, err = s.workloads.StatefulSets(s.Namespace).Patch(s.Context(), "web", types.MergePatchType, data, o)
	case "StatefulSet":
		_, err = s.Core.AppsV1().StatefulSets(s.Namespace).Patch(s.Context(), "web", types.MergePatchType, data, o)
	case "Deployment":
		_, err = s.Core.AppsV1().Deployments(s.Namespace).Patch(s.Context(), "web", types.MergePatchType, data, o)
	}
	if err != nil {
		s.Fatalf("patch %s web with %s: %v", kind, patch, err)
	}
}

// active returns the pods that are there, all of them.
func (s *placedFixture) active() []*corev1.Pod {
	return slices.DeleteFunc(s.Pods.All(), func(pod *corev1.Pod) bool { return !podstate.Active(pod) })
}

// targetOf names the workload web.
func targetOf(kind string) v1alpha1.TargetReference {
	switch kind {
	case "CloneSet":
		return v1alpha1.TargetReference{APIVersion: "apps.kruise.io/v1alpha1", Kind: kind, Name: "web"}
	case "Advanced StatefulSet":
		return v1alpha1.TargetReference{APIVersion: "apps.kruise.io/v1beta1", Kind: "StatefulSet", Name: "web"}
	}
	return v1alpha1.TargetReference{APIVersion: "apps/v1", Kind: kind, Name: "web"}
}

// spreadOf is a WorkloadSpread of two pods in zone-a, with a label, and the others in zone-b.
func spreadOf(kind string) *v1alpha1.WorkloadSpread {
	subset := func(zone string) v1alpha1.WorkloadSpreadSubset {
		return v1alpha1.WorkloadSpreadSubset{Name: zone, RequiredNodeSelectorTerm: &corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{
			{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: []string{zone}}}}}
	}
	a, b, target := subset("zone-a"), subset("zone-b"), targetOf(kind)
	a.MaxReplicas, a.Patch = new(intstr.FromInt32(2)), runtime.RawExtension{Raw: []byte(`{"metadata":{"labels":{"tier":"first"}}}`)}
	return &v1alpha1.WorkloadSpread{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: v1alpha1.WorkloadSpreadSpec{
		TargetReference: &target, Subsets: []v1alpha1.WorkloadSpreadSubset{a, b}}}
}

// awaitSpread waits until the pods are these, all in service, shown as "subset node cost", and the status counts them.
func (s *placedFixture) awaitSpread(rule string, want ...string) {
	s.Helper()
	slices.Sort(want)
	s.AwaitAsking(fmt.Sprintf("%s: the pods are %q", rule, want), func() string {
		var got []string
		for _, pod := range s.active() {
			var matched v1alpha1.MatchedWorkloadSpread
			if err := json.Unmarshal([]byte(pod.Annotations[v1alpha1.MatchedWorkloadSpreadAnnotation]), &matched); err != nil {
				s.missed(pod)
			}
			if first := pod.Labels["tier"] == "first"; first != (matched.Subset == "zone-a") {
				s.Errorf("WS-11: pod %s of the subset %q has the labels %v", pod.Name, matched.Subset, pod.Labels)
			}
			got = append(got, fmt.Sprint(matched.Subset, " ", pod.Spec.NodeName, " ", pod.Annotations[corev1.PodDeletionCost]))
		}
		slices.Sort(got)
		if !slices.Equal(got, want) || slices.ContainsFunc(s.active(), func(pod *corev1.Pod) bool { return !podstate.InService(pod) }) {
			return fmt.Sprintf("%q", got)
		}
		ws, err := s.client.WorkloadSpreads(s.Namespace).Get(s.Context(), "web", metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		counted := int32(0)
		for _, subset := range ws.Status.SubsetStatuses {
			counted += subset.Replicas
		}
		if counted != int32(len(want)) || ws.Status.ObservedGeneration != ws.Generation {
			return fmt.Sprintf("status %+v", ws.Status)
		}
		return ""
	})
}

// missed deletes a pod that the API server has not asked the webhook about, which it does a moment after the WorkloadSpread
// is there. CloneSets and StatefulSets of apps.kruise.io need no webhook: none of their pods is missed.
func (s *placedFixture) missed(pod *corev1.Pod) {
	owner := metav1.GetControllerOf(pod)
	if owner == nil || strings.HasPrefix(owner.APIVersion, v1alpha1.GroupName) {
		s.Fatalf("WS-4: pod %s has no subset", pod.Name)
	}
	if err := s.Core.CoreV1().Pods(s.Namespace).Delete(s.Context(), pod.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &pod.UID}}); err != nil && !apierrors.IsNotFound(err) {
		s.Fatal(err)
	}
}

// Two pods are in one zone and the others in another one, from their creation on. That holds for workloads that place their pods
// themselves, and for workloads whose pods the webhook places. A pod that goes has its successor in its subset, and a scale
// keeps the first one.
func TestWorkloadSpread(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"CloneSet", "Advanced StatefulSet", "Deployment"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			a, b := "zone-a node-0 200", "zone-b node-1 100"
			if kind == "Advanced StatefulSet" { // which goes by ordinals
				a, b = "zone-a node-0 ", "zone-b node-1 "
			}
			s := newPlacedFixture(t, steady)
			spreads := s.client.WorkloadSpreads(s.Namespace)
			if _, err := spreads.Create(t.Context(), spreadOf(kind), metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			again := spreadOf(kind)
			again.Name = "again"
			if _, err := spreads.Create(t.Context(), again, metav1.CreateOptions{}); !apierrors.IsBadRequest(err) || !strings.Contains(err.Error(), "WorkloadSpread web") {
				t.Errorf("WS-22: a second one of the same workload: %v", err)
			}
			s.run(kind, 5, nil)
			s.awaitSpread("WS-4", a, a, b, b, b)
			for _, pod := range s.active() {
				if pod.Spec.NodeName == "node-0" {
					s.DeletePod(pod.Name)
					break
				}
			}
			s.awaitSpread("WS-4", a, a, b, b, b)
			s.patch(kind, `{"spec":{"replicas":3}}`)
			s.awaitSpread("WS-15", a, a, b)
		})
	}
}

// A subset that no node is in takes no pods for five minutes once one of them could not be scheduled in time.
func TestWorkloadSpreadAdapts(t *testing.T) {
	t.Parallel()
	s := newPlacedFixture(t, steady)
	ws := spreadOf("CloneSet")
	ws.Spec.Subsets[0].RequiredNodeSelectorTerm.MatchExpressions[0].Values = []string{"zone-none"}
	ws.Spec.ScheduleStrategy = v1alpha1.WorkloadSpreadScheduleStrategy{Type: v1alpha1.AdaptiveWorkloadSpreadScheduleStrategyType,
		Adaptive: &v1alpha1.AdaptiveWorkloadSpreadStrategy{RescheduleCriticalSeconds: new(int32(2))}}
	spreads := s.client.WorkloadSpreads(s.Namespace)
	if _, err := spreads.Create(t.Context(), ws, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	s.run("CloneSet", 3, nil)
	s.awaitSpread("WS-17", "zone-b node-1 100", "zone-b node-1 100", "zone-b node-1 100")
	stored, err := spreads.Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if c := stored.Status.SubsetStatuses[0].Conditions; len(c) != 1 || c[0].Status != corev1.ConditionFalse {
		t.Errorf("WS-17: the conditions of the subset that no node is in: %+v", c)
	}
}
