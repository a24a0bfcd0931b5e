// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/examples/tests/faults/invariants"
	"github.com/podwright/podwright/examples/tests/testbed"
	"github.com/podwright/podwright/examples/tests/testbed/mirror"
	"github.com/podwright/podwright/examples/tests/testbed/podstate"
	"github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// The workloads whose pods are placed, by name.
const (
	unitedCloned   = "united"   // a UnitedDeployment of CloneSets
	unitedOrdinals = "zoned"    // a UnitedDeployment of Advanced StatefulSets
	spreadCloned   = "spread"   // a CloneSet, recreated, with a WorkloadSpread
	spreadDeployed = "deployed" // a Deployment with a WorkloadSpread, whose pods the webhook places
	pinned         = "pinned"   // an Advanced StatefulSet, recreated, whose pods come back to their nodes
)

var (
	unitedDeployments = []string{unitedCloned, unitedOrdinals}
	spreads           = []string{spreadCloned, spreadDeployed}
	// zones are those of the nodes, and the names of subsets.
	zones = []string{"zone-a", "zone-b", "zone-c"}
)

func unitedDeployment(name string) *v1alpha1.UnitedDeployment {
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}
	set := &v1alpha1.UnitedDeployment{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha1.UnitedDeploymentSpec{
		Replicas: new(int32(4)), Selector: selector, Topology: v1alpha1.Topology{Subsets: unitedSubsets(3)}}}
	meta := metav1.ObjectMeta{Labels: selector.MatchLabels}
	if name == unitedCloned {
		spec := v1alpha1.CloneSetSpec{Selector: selector, Template: template(name)}
		spec.UpdateStrategy.Type = v1alpha1.InPlaceIfPossibleCloneSetUpdateStrategyType
		set.Spec.Template.CloneSetTemplate = &v1alpha1.CloneSetTemplateSpec{ObjectMeta: meta, Spec: spec}
		return set
	}
	spec := v1beta1.StatefulSetSpec{Selector: selector, Template: template(name), PodManagementPolicy: appsv1.ParallelPodManagement}
	spec.UpdateStrategy.RollingUpdate = &v1beta1.RollingUpdateStatefulSetStrategy{PodUpdatePolicy: v1beta1.InPlaceIfPossiblePodUpdateStrategyType}
	set.Spec.Template.AdvancedStatefulSetTemplate = &v1alpha1.AdvancedStatefulSetTemplateSpec{ObjectMeta: meta, Spec: spec}
	return set
}

// unitedSubsets are subsets in the first zones, the first ones with so many pods, if any.
func unitedSubsets(n int, replicas ...int32) (subsets []v1alpha1.Subset) {
	for i, zone := range zones[:n] {
		subsets = append(subsets, v1alpha1.Subset{Name: zone, NodeSelectorTerm: *inZone(zone)})
		if i < len(replicas) {
			subsets[i].Replicas = new(intstr.FromInt32(replicas[i]))
		}
	}
	return subsets
}

func inZone(zone string) *corev1.NodeSelectorTerm {
	return &corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: []string{zone}}}}
}

func workloadSpread(name string) *distributionv1alpha1.WorkloadSpread {
	target := &distributionv1alpha1.TargetReference{APIVersion: v1alpha1.SchemeGroupVersion.String(), Kind: "CloneSet", Name: name}
	if name == spreadDeployed {
		target.APIVersion, target.Kind = appsv1.SchemeGroupVersion.String(), "Deployment"
	}
	ws := &distributionv1alpha1.WorkloadSpread{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: distributionv1alpha1.WorkloadSpreadSpec{TargetReference: target}}
	for i, zone := range zones {
		subset := distributionv1alpha1.WorkloadSpreadSubset{Name: zone, RequiredNodeSelectorTerm: inZone(zone)}
		if i < len(zones)-1 {
			subset.MaxReplicas = new(intstr.FromInt32(2))
		}
		ws.Spec.Subsets = append(ws.Spec.Subsets, subset)
	}
	return ws
}

func deployment(name string) *appsv1.Deployment {
	t := template(name)
	t.Spec.ReadinessGates = nil
	return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: appsv1.DeploymentSpec{
		Replicas: new(int32(4)), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}, Template: t,
		Strategy: appsv1.DeploymentStrategy{RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: new(intstr.FromInt32(1)), MaxUnavailable: new(intstr.FromInt32(1))}},
	}}
}

// persistent are the annotations by which the pods of a StatefulSet come back to their nodes.
func persistent() map[string]string {
	return map[string]string{
		distributionv1alpha1.AutoGeneratePersistentPodStateAnnotation: "true",
		distributionv1alpha1.RequiredPersistentTopologyAnnotation:     corev1.LabelHostname,
	}
}

// createPlaces creates the UnitedDeployments, and the WorkloadSpreads, which are older than their workloads.
func (s *story) createPlaces() {
	s.Helper()
	united, spread, states := workloads.UnitedDeployments(s.Namespace), distributions.WorkloadSpreads(s.Namespace), distributions.PersistentPodStates(s.Namespace)
	s.unitedDeployments = testbed.Follow(s.Scene, mirror.Of(united), invariants.Observe[*v1alpha1.UnitedDeployment](s.record))
	s.podStates = testbed.Follow(s.Scene, mirror.Of(states), invariants.Observe[*distributionv1alpha1.PersistentPodState](s.record))
	for _, name := range unitedDeployments {
		if _, err := united.Create(s.Context(), unitedDeployment(name), metav1.CreateOptions{}); err != nil {
			s.Fatalf("create UnitedDeployment %s: %v", name, err)
		}
	}
	for _, name := range spreads {
		if _, err := spread.Create(s.Context(), workloadSpread(name), metav1.CreateOptions{}); err != nil {
			s.Fatalf("create WorkloadSpread %s: %v", name, err)
		}
	}
	s.placesAreAsked()
	s.spreads = testbed.Follow(s.Scene, mirror.Of(spread), invariants.Observe[*distributionv1alpha1.WorkloadSpread](s.record))
	if _, err := bed.Core.AppsV1().Deployments(s.Namespace).Create(s.Context(), deployment(spreadDeployed), metav1.CreateOptions{}); err != nil {
		s.Fatalf("create Deployment %s: %v", spreadDeployed, err)
	}
}

// placesAreAsked waits until the API server asks the webhook about pods of ReplicaSets. The API server does so a moment after
// there is a WorkloadSpread of a Deployment. The story finds that out with a ReplicaSet that is spread too, and deletes it
// then.
func (s *story) placesAreAsked() {
	s.Helper()
	const name = "asked"
	ws := workloadSpread(name)
	ws.Spec.TargetReference = &distributionv1alpha1.TargetReference{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: name}
	if _, err := distributions.WorkloadSpreads(s.Namespace).Create(s.Context(), ws, metav1.CreateOptions{}); err != nil {
		s.Fatalf("create WorkloadSpread %s: %v", name, err)
	}
	of := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: appsv1.ReplicaSetSpec{
		Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}, Template: deployment(name).Spec.Template}}
	sets := bed.Core.AppsV1().ReplicaSets(s.Namespace)
	if _, err := sets.Create(s.Context(), of, metav1.CreateOptions{}); err != nil {
		s.Fatalf("create ReplicaSet %s: %v", name, err)
	}
	s.AwaitAsking("the API server asks the webhook about the pods of "+name, func() string {
		pods := s.active(name)
		for _, pod := range pods {
			if pod.Spec.Affinity != nil { // the annotation gets also who was there before
				return ""
			}
			if err := bed.Core.CoreV1().Pods(s.Namespace).Delete(s.Context(), pod.Name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
				return err.Error()
			}
		}
		return fmt.Sprintf("%d pods", len(pods))
	})
	if err := sets.Delete(s.Context(), name, metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground)}); err != nil {
		s.Fatalf("delete ReplicaSet %s: %v", name, err)
	}
	if err := distributions.WorkloadSpreads(s.Namespace).Delete(s.Context(), name, metav1.DeleteOptions{}); err != nil {
		s.Fatalf("delete WorkloadSpread %s: %v", name, err)
	}
}

func (s *story) editUnited(name, what string, change func(*v1alpha1.UnitedDeployment)) (version string) {
	s.Helper()
	return edit(s, workloads.UnitedDeployments(s.Namespace), name, what, change)
}

func (s *story) editSpread(name, what string, change func(*distributionv1alpha1.WorkloadSpread)) (version string) {
	s.Helper()
	return edit(s, distributions.WorkloadSpreads(s.Namespace), name, what, change)
}

func (s *story) editDeployment(what string, change func(*appsv1.Deployment)) {
	s.Helper()
	edit(s, bed.Core.AppsV1().Deployments(s.Namespace), spreadDeployed, what, change)
}

// unitedTemplate is the template of the pods.
func unitedTemplate(set *v1alpha1.UnitedDeployment) *corev1.PodTemplateSpec {
	if set.Name == unitedCloned {
		return &set.Spec.Template.CloneSetTemplate.Spec.Template
	}
	return &set.Spec.Template.AdvancedStatefulSetTemplate.Spec.Template
}

func (s *story) stirUnited(name string) {
	s.Helper()
	switch s.random.IntN(8) {
	default:
		chosen := s.image(name)
		s.editUnited(name, chosen, func(set *v1alpha1.UnitedDeployment) { unitedTemplate(set).Spec.Containers[0].Image = chosen })
	case 0, 1: // if the subsets give more, they get a part of it
		n := int32(2 + s.random.IntN(5))
		s.editUnited(name, fmt.Sprintf("%d replicas", n), func(set *v1alpha1.UnitedDeployment) { set.Spec.Replicas = &n })
	case 2, 3:
		n := 2 + s.random.IntN(2)
		var given []int32
		for range s.random.IntN(2) {
			given = append(given, int32(s.random.IntN(3)))
		}
		s.editUnited(name, fmt.Sprintf("%d subsets, the first of %v", n, given), func(set *v1alpha1.UnitedDeployment) {
			set.Spec.Topology.Subsets, set.Spec.UpdateStrategy.ManualUpdate = unitedSubsets(n, given...), nil
		})
	case 4:
		partitions := map[string]int32{zones[s.random.IntN(2)]: int32(s.random.IntN(3))}
		s.editUnited(name, fmt.Sprintf("partitions %v", partitions), func(set *v1alpha1.UnitedDeployment) {
			set.Spec.UpdateStrategy.ManualUpdate = &v1alpha1.ManualUpdate{Partitions: partitions}
		})
	}
}

func (s *story) stirSpread(name string) {
	s.Helper()
	if s.random.IntN(3) == 0 {
		i, limit := s.random.IntN(2), int32(1+s.random.IntN(3))
		s.editSpread(name, fmt.Sprintf("at most %d pods in %s", limit, zones[i]), func(ws *distributionv1alpha1.WorkloadSpread) {
			ws.Spec.Subsets[i].MaxReplicas = new(intstr.FromInt32(limit))
		})
		return
	}
	if name == spreadCloned {
		s.stirCloneSet(name)
		return
	}
	if s.random.IntN(3) == 0 {
		n := int32(3 + s.random.IntN(4))
		s.editDeployment(fmt.Sprintf("%d replicas", n), func(d *appsv1.Deployment) { d.Spec.Replicas = &n })
		return
	}
	chosen := s.image(name)
	s.editDeployment(chosen, func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Image = chosen })
}

// stirPinned changes what pods come back to, or the StatefulSet.
func (s *story) stirPinned() {
	s.Helper()
	if s.random.IntN(5) > 0 {
		s.stirStatefulSet(pinned)
		return
	}
	preferred := []string{"", corev1.LabelTopologyZone}[s.random.IntN(2)]
	s.editStatefulSet(pinned, fmt.Sprintf("prefers %q", preferred), func(set *v1beta1.StatefulSet) {
		set.Annotations = maps.Clone(set.Annotations)
		set.Annotations[distributionv1alpha1.PreferredPersistentTopologyAnnotation] = preferred
	})
}

// respread has all pods of the CloneSet replaced that is spread: each of them is in its subset then.
func (s *story) respread() {
	s.Helper()
	s.rounds++
	s.AwaitAsking(spreadCloned+" is settled", func() string {
		s.managers.revive()
		set, found := s.cloneSets.Named(spreadCloned)
		if !found {
			return "it is not there"
		}
		return s.cloneSetUnsettled(set)
	})
	chosen := fmt.Sprint("web:settled-", s.rounds)
	s.editCloneSet(spreadCloned, chosen, func(set *v1alpha1.CloneSet) {
		set.Spec.Template.Spec.Containers[0].Image, set.Spec.UpdateStrategy.Partition = chosen, new(intstr.FromInt32(0))
	})
}

// placesUnsettled says what is not as it should be; the invariants count the pods, when all is settled.
func (s *story) placesUnsettled() (all []string) {
	for _, set := range s.unitedDeployments.All() {
		if wrong := s.unitedUnsettled(set); wrong != "" {
			all = append(all, set.Name+": "+wrong)
		}
	}
	for _, ws := range s.spreads.All() {
		pods, counted := int32(0), int32(0)
		for _, pod := range s.pods.All() {
			if controlled(pod) && pod.Labels["app"] == ws.Name && podstate.Active(pod) {
				pods++
			}
		}
		for _, subset := range ws.Status.SubsetStatuses {
			counted += subset.Replicas
		}
		if counted != pods || ws.Status.ObservedGeneration != ws.Generation {
			all = append(all, fmt.Sprintf("WorkloadSpread %s: generation %d, %d pods, status %+v", ws.Name, ws.Generation, pods, ws.Status))
		}
	}
	if set, found := s.statefulSets.Named(pinned); found {
		keys := 1 + len(set.Annotations[distributionv1alpha1.PreferredPersistentTopologyAnnotation])
		state, found := s.podStates.Named(pinned)
		if !found || state.Status.ObservedGeneration != state.Generation || state.Status.Pods != *set.Spec.Replicas || (keys > 1) != (len(state.Spec.PreferredPersistentTopology) > 0) {
			all = append(all, fmt.Sprintf("PersistentPodState %s: %+v", pinned, state))
		}
	}
	return all
}

// controlled tells whether a pod is of a workload, and no stranger.
func controlled(pod *corev1.Pod) bool {
	owner := metav1.GetControllerOf(pod)
	return owner != nil && owner.Kind != "ConfigMap"
}

func (s *story) unitedUnsettled(set *v1alpha1.UnitedDeployment) string {
	n, held := *set.Spec.Replicas, int32(0)
	if m := set.Spec.UpdateStrategy.ManualUpdate; m != nil {
		for zone, partition := range m.Partitions {
			held += min(partition, set.Status.SubsetReplicas[zone])
		}
	}
	all, atImage := int32(0), int32(0)
	for _, pod := range s.pods.All() {
		if !controlled(pod) || pod.Labels["app"] != set.Name {
			continue
		}
		if !podstate.InService(pod) {
			return podstate.Describe(pod, false)
		}
		all++
		if podstate.Image(pod, "main") == unitedTemplate(set).Spec.Containers[0].Image {
			atImage++
		}
	}
	st := &set.Status
	if all != n || atImage < n-held || st.ObservedGeneration != set.Generation || st.Replicas != n || st.ReadyReplicas != n || st.UpdatedReplicas != atImage ||
		st.UpdatedReadyReplicas != atImage || st.UpdateStatus == nil || atImage == n && st.CurrentRevision != st.UpdateStatus.UpdatedRevision {
		return fmt.Sprintf("generation %d, %d pods of %d, %d of them updated, %d held back, status %+v", set.Generation, all, n, atImage, held, *st)
	}
	return ""
}

// deploymentUnsettled asks the API server, as nothing follows Deployments.
func (s *story) deploymentUnsettled() string {
	ctx, cancel := s.within(userPatience)
	defer cancel()
	d, err := bed.Core.AppsV1().Deployments(s.Namespace).Get(ctx, spreadDeployed, metav1.GetOptions{})
	if err != nil {
		return err.Error()
	}
	if st, n := &d.Status, *d.Spec.Replicas; st.ObservedGeneration != d.Generation || st.Replicas != n || st.UpdatedReplicas != n || st.AvailableReplicas != n {
		return fmt.Sprintf("%s: generation %d, %d replicas, status %+v", d.Name, d.Generation, n, *st)
	}
	return ""
}

// touchPlaces is touch for what places pods.
func (s *story) touchPlaces() {
	s.Helper()
	for _, name := range unitedDeployments {
		version := s.editUnited(name, "touched", func(set *v1alpha1.UnitedDeployment) {
			set.Spec.RevisionHistoryLimit = new(21 - *set.Spec.RevisionHistoryLimit)
		})
		s.Await("the watch shows that "+name+" is touched", func() string { return s.unitedDeployments.Behind(version) })
	}
	for _, name := range spreads {
		version := s.editSpread(name, "touched", func(ws *distributionv1alpha1.WorkloadSpread) {
			strategy := &ws.Spec.ScheduleStrategy.Type
			if *strategy = distributionv1alpha1.FixedWorkloadSpreadScheduleStrategyType; s.rounds%2 == 0 {
				*strategy = ""
			}
		})
		s.Await("the watch shows that "+name+" is touched", func() string { return s.spreads.Behind(version) })
	}
	s.editStatefulSet(pinned, "touched", func(set *v1beta1.StatefulSet) {
		set.Annotations = maps.Clone(set.Annotations)
		set.Annotations[distributionv1alpha1.PersistentPodAnnotationsAnnotation] = fmt.Sprint("example.com/mark-", s.rounds)
	})
	s.Await("what is generated of "+pinned+" is touched", func() string {
		state, found := s.podStates.Named(pinned)
		if !found || len(state.Spec.PersistentPodAnnotations) != 1 || !strings.HasSuffix(state.Spec.PersistentPodAnnotations[0].Key, fmt.Sprint("-", s.rounds)) {
			return fmt.Sprintf("%+v", state)
		}
		return ""
	})
}

// ownSets leaves out those that a UnitedDeployment controls.
func ownSets[T metav1.Object](all []T) []T {
	return slices.DeleteFunc(all, func(set T) bool { return metav1.GetControllerOf(set) != nil })
}
