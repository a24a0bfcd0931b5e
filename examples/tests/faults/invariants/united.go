// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/examples/tests/testbed/podstate"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// unitedDeployment is a UnitedDeployment whose subsets have the names of their zones. Its explicit replicas are numbers that add up.
// Its workloads are CloneSets or Advanced StatefulSets, and no other writer touches them.
type unitedDeployment struct {
	counting []*v1alpha1.UnitedDeployment // the versions whose spec counts; the last one is in force
}

// takeUnited takes note of a version of a UnitedDeployment.
func (j *Judge) takeUnited(object *v1alpha1.UnitedDeployment) {
	if j.united[object.UID] == nil {
		j.united[object.UID] = &unitedDeployment{}
	}
	u := j.united[object.UID]
	u.counting = countVersion(u.counting, object)
}

// countVersion has a version count, beside those of earlier generations. An older one than the last is no news.
func countVersion[T metav1.Object](counting []T, object T) []T {
	last := len(counting) - 1
	switch {
	case last < 0 || counting[last].GetGeneration() < object.GetGeneration():
		return append(counting, object)
	case counting[last].GetGeneration() == object.GetGeneration():
		counting[last] = object
	}
	return counting
}

// latest is the version in force.
func latest[T any](counting []T) T { return counting[len(counting)-1] }

// subsetWorkload is what the workload of a subset is told.
type subsetWorkload struct {
	subset              string
	replicas, partition int32
	images              string
	zones               []string
}

// subsetWorkloadOf returns what a workload is told; false if it is of no UnitedDeployment.
func subsetWorkloadOf(object metav1.Object) (w subsetWorkload, of types.UID, is bool) {
	owner := metav1.GetControllerOfNoCopy(object)
	if owner == nil || owner.Kind != "UnitedDeployment" {
		return w, "", false
	}
	w.subset = object.GetLabels()[v1alpha1.SubsetNameLabel]
	f, is := factsOf(object)
	if !is {
		return w, "", false
	}
	w.replicas, w.partition, w.images, w.zones = f.replicas, f.partition, images(f.template.Spec), zonesOf(&f.template.Spec)
	return w, owner.UID, true
}

// zonesOf are the zones that the node affinity of pods requires; nil for all.
func zonesOf(pods *corev1.PodSpec) (zones []string) {
	if pods.Affinity == nil || pods.Affinity.NodeAffinity == nil || pods.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return nil
	}
	for _, term := range pods.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		for _, e := range term.MatchExpressions {
			if e.Key == corev1.LabelTopologyZone && e.Operator == corev1.NodeSelectorOpIn {
				zones = append(zones, e.Values...)
			}
		}
	}
	return zones
}

// workloadsOf returns the workloads of a UnitedDeployment that are to stay.
func (j *Judge) workloadsOf(uid types.UID) (all []metav1.Object) {
	for _, object := range j.children {
		if _, of, _ := subsetWorkloadOf(object); of == uid && object.GetDeletionTimestamp() == nil {
			all = append(all, object)
		}
	}
	return all
}

// judgeSubsetWorkload: the workload of a subset is told what one of the specs that count asks for, all of it by the same one. There is one
// for each subset, and it stays while every spec has the subset.
func (j *Judge) judgeSubsetWorkload(v *verdict, c Change) {
	object := c.latest()
	w, of, is := subsetWorkloadOf(object)
	u := j.united[of]
	if !is || u == nil {
		return
	}
	has := func(set *v1alpha1.UnitedDeployment) bool { return subsetOf(set, w.subset) != nil }
	switch {
	case c.Old != nil && deleted(c.Old, c.New):
		v.expect(slices.ContainsFunc(u.counting, func(set *v1alpha1.UnitedDeployment) bool { return !has(set) }), invariants.Needless,
			"deleted, and every spec has the subset %q", w.subset)
		return
	case c.New == nil || c.Old != nil && c.Old.GetGeneration() == c.New.GetGeneration():
		return
	case c.Old == nil:
		for _, other := range j.workloadsOf(of) {
			o, _, _ := subsetWorkloadOf(other)
			v.expect(o.subset != w.subset || other.GetUID() == object.GetUID(), invariants.Identity, "created for subset %q, which has %s", w.subset, other.GetName())
		}
	}
	v.expect(slices.ContainsFunc(u.counting, w.isAskedBy), invariants.Placement, "told %+v, which no spec asks for", w)
}

// isAskedBy tells whether a spec may ask a workload for what it is told. Which of the open subsets gets the odd pods is not judged.
func (w subsetWorkload) isAskedBy(set *v1alpha1.UnitedDeployment) bool {
	subset := subsetOf(set, w.subset)
	if subset == nil || !slices.Equal(w.zones, []string{w.subset}) || w.images != images(unitedPods(set).Spec) {
		return false
	}
	rest, open := *set.Spec.Replicas, int32(0)
	for i := range set.Spec.Topology.Subsets {
		if n := set.Spec.Topology.Subsets[i].Replicas; n != nil {
			rest -= n.IntVal
		} else {
			open++
		}
	}
	least, most := int32(0), int32(0)
	switch {
	case rest < 0 || open == 0 && rest > 0: // they get a part of what there is
		most = *set.Spec.Replicas
	case subset.Replicas != nil:
		least, most = subset.Replicas.IntVal, subset.Replicas.IntVal
	default:
		least, most = rest/open, (rest+open-1)/open
	}
	partition := int32(0)
	if m := set.Spec.UpdateStrategy.ManualUpdate; m != nil {
		partition = min(m.Partitions[w.subset], w.replicas)
	}
	return w.replicas >= least && w.replicas <= most && w.partition == partition
}

func subsetOf(set *v1alpha1.UnitedDeployment, name string) *v1alpha1.Subset {
	for i := range set.Spec.Topology.Subsets {
		if set.Spec.Topology.Subsets[i].Name == name {
			return &set.Spec.Topology.Subsets[i]
		}
	}
	return nil
}

// unitedPods is the template of the pods.
func unitedPods(set *v1alpha1.UnitedDeployment) *corev1.PodTemplateSpec {
	if t := set.Spec.Template.CloneSetTemplate; t != nil {
		return &t.Spec.Template
	}
	return &set.Spec.Template.AdvancedStatefulSetTemplate.Spec.Template
}

// judgeZone: a pod of a subset, of a UnitedDeployment or of a WorkloadSpread, runs in its zone.
func judgeZone(v *verdict, pod *corev1.Pod, subset string) {
	zone := pod.Labels[corev1.LabelTopologyZone]
	v.expect(pod.Spec.NodeName == "" || zone == "" || zone == subset, invariants.Placement, "runs in %s, and is of %s", zone, subset)
}

// judgeUnitedSettled: each subset has a workload, no other one is left, together they have what there should be, and the status counts it.
func (j *Judge) judgeUnitedSettled() (wrong []invariants.Violation) {
	for uid, u := range j.united {
		set := latest(u.counting)
		u.counting = []*v1alpha1.UnitedDeployment{set}
		v := &verdict{about: "UnitedDeployment " + set.Name}
		sum, all, served, updated := int32(0), int32(0), int32(0), int32(0)
		there := map[string]int{}
		replicas := map[string]int32{}
		for _, object := range j.workloadsOf(uid) {
			w, _, _ := subsetWorkloadOf(object)
			there[w.subset]++
			sum, replicas[w.subset] = sum+w.replicas, w.replicas
			v.expect(w.isAskedBy(set), invariants.Settled, "%s is told %+v, which the spec does not ask for", object.GetName(), w)
			for _, pod := range j.podsOf(object.GetUID()) {
				judgeZone(v, pod, w.subset)
				if podstate.Active(pod) {
					all++
				}
				if podstate.InService(pod) {
					served++
				}
				if podstate.Active(pod) && images(pod.Spec) == w.images {
					updated++
				}
			}
		}
		v.expect(len(there) == len(set.Spec.Topology.Subsets), invariants.Settled, "%d subsets have workloads: %v", len(set.Spec.Topology.Subsets), there)
		for subset, n := range there {
			v.expect(n == 1 && subsetOf(set, subset) != nil, invariants.Settled, "%d workloads for subset %q", n, subset)
		}
		v.expect(sum == *set.Spec.Replicas && all == sum && served == sum, invariants.Settled, "its workloads are told %d pods, and %d there are, %d of them serving, of %d", sum, all, served, *set.Spec.Replicas)
		st := &set.Status
		v.expect(st.ObservedGeneration == set.Generation && st.Replicas == all && st.ReadyReplicas == served && st.UpdatedReplicas == updated && maps.Equal(st.SubsetReplicas, replicas), invariants.Status,
			"generation %d, status %+v; %d pods, %d in service, %d updated, subsets %v", set.Generation, *st, all, served, updated, replicas)
		wrong = append(wrong, v.wrong...)
	}
	return wrong
}

// number is the value of a number; -1 for none.
func number(n *intstr.IntOrString) int32 {
	if n == nil {
		return -1
	}
	return n.IntVal
}
