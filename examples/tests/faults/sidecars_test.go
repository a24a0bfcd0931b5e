// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/examples/tests/testbed/podstate"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// The SidecarSets, by their container. Pods of workloads that have a label of the same name are injected into.
const (
	sidecarCold = "log"  // updated in place
	sidecarHot  = "mesh" // upgraded hot
)

var sidecarSets = []string{sidecarCold, sidecarHot}

// withSidecars are the workloads into whose pods SidecarSets are injected: one has two of them, besides its own updates in place.
var withSidecars = map[string][]string{
	clonedInPlace:   {sidecarCold, sidecarHot},
	clonedRecreate:  {sidecarCold},
	parallelInPlace: {sidecarHot},
}

// sidecarSetName is the name of a SidecarSet, which is in no namespace.
func (s *story) sidecarSetName(container string) string { return container + "-" + s.Namespace }

// createSidecarSets creates the SidecarSets, until the test ends. It returns when the webhook injects them.
func (s *story) createSidecarSets() {
	s.Helper()
	for _, container := range sidecarSets {
		set := &v1alpha1.SidecarSet{ObjectMeta: metav1.ObjectMeta{Name: s.sidecarSetName(container)}, Spec: v1alpha1.SidecarSetSpec{
			Namespace: s.Namespace, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{container: "yes"}},
			Containers:     []v1alpha1.SidecarContainer{{Container: corev1.Container{Name: container, Image: image(1)}, PodInjectPolicy: v1alpha1.AfterAppContainerType}},
			UpdateStrategy: v1alpha1.SidecarSetUpdateStrategy{MaxUnavailable: new(intstr.FromInt32(2))},
		}}
		if container == sidecarHot {
			set.Spec.Containers[0].UpgradeStrategy = v1alpha1.SidecarContainerUpgradeStrategy{UpgradeType: v1alpha1.SidecarContainerHotUpgrade, HotUpgradeEmptyImage: "empty:1"}
		}
		if _, err := sidecars.SidecarSets().Create(s.Context(), set, metav1.CreateOptions{}); err != nil {
			s.Fatalf("create SidecarSet %s: %v", set.Name, err)
		}
		s.Cleanup(func() { _ = sidecars.SidecarSets().Delete(context.Background(), set.Name, metav1.DeleteOptions{}) })
		s.AwaitAsking(set.Name+" is injected", func() string {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "asked", Labels: map[string]string{container: "yes"}}, Spec: template("asked").Spec}
			pod, err := bed.Core.CoreV1().Pods(s.Namespace).Create(s.Context(), pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
			if err != nil {
				return err.Error()
			}
			if !strings.Contains(pod.Annotations[v1alpha1.SidecarSetInjectedListAnnotation], set.Name) {
				return "it is not"
			}
			return ""
		})
	}
}

func (s *story) editSidecarSet(name, what string, change func(*v1alpha1.SidecarSet)) (version string) {
	s.Helper()
	return edit(s, sidecars.SidecarSets(), name, what, change)
}

func (s *story) stirSidecarSet(name string) {
	s.Helper()
	switch s.random.IntN(8) {
	default:
		chosen := s.image(name)
		s.editSidecarSet(name, chosen, func(set *v1alpha1.SidecarSet) { set.Spec.Containers[0].Image = chosen })
	case 0:
		partition := intstr.FromInt32(int32(s.random.IntN(3)))
		s.editSidecarSet(name, "partition "+partition.String(), func(set *v1alpha1.SidecarSet) { set.Spec.UpdateStrategy.Partition = &partition })
	case 1:
		limit := intstr.FromInt32(int32(1 + s.random.IntN(3)))
		s.editSidecarSet(name, "maxUnavailable "+limit.String(), func(set *v1alpha1.SidecarSet) { set.Spec.UpdateStrategy.MaxUnavailable = &limit })
	case 2:
		paused := s.random.IntN(2) == 0
		s.editSidecarSet(name, fmt.Sprintf("paused %v", paused), func(set *v1alpha1.SidecarSet) { set.Spec.UpdateStrategy.Paused = paused })
	}
}

// sidecarSetUnsettled goes by the numbers of the status: the invariants count the pods, when all is settled.
func (s *story) sidecarSetUnsettled(set *v1alpha1.SidecarSet) string {
	matched := int32(0)
	for _, pod := range s.pods.All() {
		if pod.Labels[set.Spec.Containers[0].Name] == "yes" && podstate.Active(pod) {
			matched++
		}
	}
	left := int32(0)
	if p := set.Spec.UpdateStrategy.Partition; p != nil {
		left = p.IntVal
	}
	if st := set.Status; st.ObservedGeneration != set.Generation || st.MatchedPods != matched || st.ReadyPods != matched || st.UpdatedPods < matched-left ||
		st.UpdatedReadyPods != st.UpdatedPods || len(st.Conditions) > 0 {
		return fmt.Sprintf("generation %d, %d pods, partition %d, status %+v", set.Generation, matched, left, st)
	}
	return ""
}
