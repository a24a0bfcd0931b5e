// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

func requires(zone string) *corev1.Affinity {
	return &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
		MatchExpressions: []corev1.NodeSelectorRequirement{{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: []string{zone}}}}}}}}
}

// united is a generation of a UnitedDeployment of CloneSets with subsets a and b.
func united(generation int64, replicas int32, edits ...func(*v1alpha1.UnitedDeployment)) *v1alpha1.UnitedDeployment {
	set := &v1alpha1.UnitedDeployment{ObjectMeta: metav1.ObjectMeta{Name: "web", UID: "united", Generation: generation}, Spec: v1alpha1.UnitedDeploymentSpec{
		Replicas: &replicas, Template: v1alpha1.SubsetTemplate{CloneSetTemplate: &v1alpha1.CloneSetTemplateSpec{Spec: v1alpha1.CloneSetSpec{Template: base().template()}}},
		Topology: v1alpha1.Topology{Subsets: []v1alpha1.Subset{{Name: "a"}, {Name: "b"}}},
	}}
	for _, edit := range edits {
		edit(set)
	}
	return set
}

// of is the CloneSet of a subset.
func of(subset string, replicas int32, edits ...func(*v1alpha1.CloneSet)) *v1alpha1.CloneSet {
	one := base()
	one.replicas, one.unavailable = replicas, 5
	set := one.cloneSet(metav1.ObjectMeta{Name: "web-" + subset, UID: types.UID(subset), Generation: int64(replicas) + 1, Labels: map[string]string{v1alpha1.SubsetNameLabel: subset},
		OwnerReferences: []metav1.OwnerReference{{Kind: "UnitedDeployment", Name: "web", UID: "united", Controller: new(true)}}}).(*v1alpha1.CloneSet)
	set.Spec.Template.Spec.Affinity, set.Spec.VolumeClaimTemplates = requires(subset), nil
	for _, edit := range edits {
		edit(set)
	}
	return set
}

func TestWorkloadsOfSubsetsAreJudged(t *testing.T) {
	first := united(1, 3)
	there := []Change{{New: first}, {New: of("a", 1)}, {New: of("b", 2)}}
	there = slices.Clip(there)
	without := united(2, 3, func(set *v1alpha1.UnitedDeployment) { set.Spec.Topology.Subsets = set.Spec.Topology.Subsets[:1] })
	fixed := united(2, 3, func(set *v1alpha1.UnitedDeployment) { set.Spec.Topology.Subsets[0].Replicas = new(intstr.FromInt32(3)) })
	second := func(set *v1alpha1.CloneSet) {
		set.Name, set.UID = "web-second", "second"
	}
	held := func(set *v1alpha1.CloneSet) { set.Spec.UpdateStrategy.Partition = new(intstr.FromInt32(1)) }
	for _, test := range []struct {
		name    string
		changes []Change
		wrong   []invariants.Invariant
	}{
		{"split", there, nil},
		{"one too many", []Change{{New: first}, {New: of("a", 3)}}, breaks(invariants.Placement)},
		{"scaled as the spec says", append(there, Change{New: united(2, 6)}, Change{Old: of("a", 1), New: of("a", 3)}), nil},
		{"scaled as a spec said before", append(there, Change{New: united(2, 6)}, Change{New: united(3, 3)}, Change{Old: of("a", 1), New: of("a", 3)}), nil},
		{"scaled, and no spread asks for it", append(there, Change{Old: of("a", 1), New: of("a", 3)}), breaks(invariants.Placement)},
		{"other than its own number", append(there, Change{New: fixed}, Change{Old: of("a", 1), New: of("a", 2)}), nil}, // by the spec before
		{"nothing is left for it", []Change{{New: fixed}, {New: of("b", 0)}}, nil},
		{"more than is left for it", []Change{{New: fixed}, {New: of("b", 1)}}, breaks(invariants.Placement)},
		{"in another zone", []Change{{New: first}, {New: of("a", 1, func(set *v1alpha1.CloneSet) { set.Spec.Template.Spec.Affinity = requires("b") })}}, breaks(invariants.Placement)},
		{"another image", []Change{{New: first}, {New: of("a", 1, func(set *v1alpha1.CloneSet) { set.Spec.Template.Spec.Containers[0].Image = "web:9" })}}, breaks(invariants.Placement)},
		{"holds back a pod", []Change{{New: first}, {New: of("a", 1, held)}}, breaks(invariants.Placement)},
		{"holds back a pod as the spec says", []Change{{New: united(1, 3, func(set *v1alpha1.UnitedDeployment) {
			set.Spec.UpdateStrategy.ManualUpdate = &v1alpha1.ManualUpdate{Partitions: map[string]int32{"a": 5}}
		})}, {New: of("a", 1, held)}}, nil},
		{"a second one", append(there, Change{New: of("a", 1, second)}), breaks(invariants.Identity)},
		{"of no subset", []Change{{New: first}, {New: of("c", 1)}}, breaks(invariants.Placement)},
		{"deleted", append(there, Change{Old: of("b", 2)}), breaks(invariants.Needless)},
		{"deleted with its subset", append(there, Change{New: without}, Change{Old: of("b", 2)}), nil},
	} {
		if diff := cmp.Diff(test.wrong, see(NewJudge(), test.changes...)); diff != "" {
			t.Errorf("%s: violated (-want +got):\n%s", test.name, diff)
		}
	}
}

// member is a pod in service of the CloneSet of a subset.
func member(subset string, n int, edits ...func(*corev1.Pod)) *corev1.Pod {
	p := pod(fmt.Sprint("web-", subset, "-", n), append([]func(*corev1.Pod){inZone(subset)}, edits...)...)
	p.OwnerReferences = []metav1.OwnerReference{{Kind: "CloneSet", Name: "web-" + subset, UID: types.UID(subset), Controller: new(true)}}
	return p
}

func inZone(zone string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Labels[corev1.LabelTopologyZone] = zone }
}

func TestSettledUnitedDeploymentsAreJudged(t *testing.T) {
	counting := func(replicas, ready, updated int32, subsets map[string]int32) func(*v1alpha1.UnitedDeployment) {
		return func(set *v1alpha1.UnitedDeployment) {
			set.Status = v1alpha1.UnitedDeploymentStatus{ObservedGeneration: set.Generation, Replicas: replicas, ReadyReplicas: ready, UpdatedReplicas: updated, SubsetReplicas: subsets}
		}
	}
	three := counting(3, 3, 3, map[string]int32{"a": 1, "b": 2})
	pods := objects(member("a", 0), member("b", 0), member("b", 1))
	for _, test := range []struct {
		name     string
		set      *v1alpha1.UnitedDeployment
		children []metav1.Object
		pods     []metav1.Object
		wrong    []invariants.Invariant
	}{
		{"as it should be", united(1, 3, three), objects(of("a", 1), of("b", 2)), pods, nil},
		{"late", united(1, 4, counting(3, 3, 3, map[string]int32{"a": 1, "b": 2})), objects(of("a", 1), of("b", 2)), pods, breaks(invariants.Settled)},
		{"a subset without a workload", united(1, 2, counting(1, 1, 1, map[string]int32{"a": 1})), objects(of("a", 1)), pods[:1], breaks(invariants.Settled)},
		{"a pod is missing", united(1, 3, counting(2, 2, 2, map[string]int32{"a": 1, "b": 2})), objects(of("a", 1), of("b", 2)), pods[:2], breaks(invariants.Settled)},
		{"a pod elsewhere", united(1, 3, three), objects(of("a", 1), of("b", 2)), objects(member("a", 0, inZone("b")), pods[1], pods[2]), breaks(invariants.Placement)},
		{"it counts wrongly", united(1, 3, counting(3, 3, 2, map[string]int32{"a": 1, "b": 2})), objects(of("a", 1), of("b", 2)), pods, breaks(invariants.Status)},
		{"the odd one twice", united(1, 3, counting(4, 4, 4, map[string]int32{"a": 2, "b": 2})), objects(of("a", 2), of("b", 2)), append(pods, member("a", 1)), breaks(invariants.Settled)},
	} {
		j := NewJudge()
		j.See([]Change{{New: test.set}}, false)
		for _, object := range slices.Concat(test.children, test.pods) {
			j.See([]Change{{New: object}}, true)
		}
		v := j.judgeUnitedSettled()
		if diff := cmp.Diff(test.wrong, kinds(v)); diff != "" {
			t.Errorf("%s: violated (-want +got):\n%s%v", test.name, diff, v)
		}
	}
}

// The pods of a subset that is given up go with its workload, as the garbage collector deletes them.
func TestPodsOfASubsetThatIsGone(t *testing.T) {
	j := NewJudge()
	set := of("a", 1)
	p := member("a", 0)
	if wrong := see(j, Change{New: base().revision(t)}, Change{New: set}, Change{New: p}, Change{Old: set}, Change{Old: p}); wrong != nil {
		t.Errorf("violated: %v", wrong)
	}
}

// spreading is a generation of a WorkloadSpread of two pods in a and the others in b.
func spreading(generation int64, most int32, edits ...func(*distributionv1alpha1.WorkloadSpread)) *distributionv1alpha1.WorkloadSpread {
	ws := &distributionv1alpha1.WorkloadSpread{ObjectMeta: metav1.ObjectMeta{Name: "web", UID: "spread", Generation: generation}, Spec: distributionv1alpha1.WorkloadSpreadSpec{
		TargetReference: &distributionv1alpha1.TargetReference{APIVersion: "apps.kruise.io/v1alpha1", Kind: "CloneSet", Name: "web"},
		Subsets:         []distributionv1alpha1.WorkloadSpreadSubset{{Name: "a", MaxReplicas: new(intstr.FromInt32(most))}, {Name: "b"}},
	}}
	for _, edit := range edits {
		edit(ws)
	}
	return ws
}

func ofDeployment(ws *distributionv1alpha1.WorkloadSpread) {
	ws.Spec.TargetReference = &distributionv1alpha1.TargetReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"}
}

// spread is a pod of a subset, with what it costs to delete it.
func spread(name, subset string, cost int, edits ...func(*corev1.Pod)) *corev1.Pod {
	return pod(name, append([]func(*corev1.Pod){inZone(subset), func(p *corev1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{{Kind: "CloneSet", Name: "web", UID: "unknown", Controller: new(true)}}
		p.Spec.Affinity = requires(subset)
		p.Annotations = map[string]string{corev1.PodDeletionCost: fmt.Sprint(cost), distributionv1alpha1.MatchedWorkloadSpreadAnnotation: fmt.Sprintf(`{"name":"web","subset":%q}`, subset)}
	}}, edits...)...)
}

func TestSpreadPodsAreJudged(t *testing.T) {
	revision2 := func(p *corev1.Pod) { p.Labels[revisionLabel] = "web-2" }
	byReplicaSet := func(seconds int64) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.OwnerReferences = []metav1.OwnerReference{{Kind: "ReplicaSet", Name: "web-1", UID: "rs", Controller: new(true)}}
			p.CreationTimestamp = metav1.Unix(seconds, 0)
		}
	}
	unplaced := func(p *corev1.Pod) { p.Annotations = nil }
	x, y := spread("web-x", "a", 0), spread("web-y", "a", 0)
	full := slices.Clip([]Change{{New: spreading(1, 2)}, {New: x}, {New: y}})
	deployed := func(at int64) []Change {
		return []Change{{New: spreading(1, 1, ofDeployment)}, {New: spread("web-x", "a", 0, byReplicaSet(100))}, {New: spread("web-y", "a", 0, byReplicaSet(at))}}
	}
	for _, test := range []struct {
		name    string
		changes []Change
		wrong   []invariants.Invariant
	}{
		{"as many as it takes", full, nil},
		{"one too many", append(full, Change{New: spread("web-z", "a", 0)}), breaks(invariants.Placement)},
		{"one too many in the last", append(full, Change{New: spread("web-z", "b", 0)}), nil},
		{"of another revision", append(full, Change{New: spread("web-z", "a", 0, revision2)}), nil},
		{"after another one has gone", append(full, Change{Old: y, New: spread("web-y", "a", 0, leaving)}, Change{New: spread("web-z", "a", 0)}), nil},
		{"where there was room before", append(full, Change{New: spreading(2, 3)}, Change{New: spreading(3, 1)}, Change{New: spread("web-z", "a", 0)}), nil},
		{"while another one is in flight", deployed(104), nil},
		{"when nothing is in flight", deployed(105), breaks(invariants.Placement)},
		{"in no subset", append(full, Change{New: spread("web-z", "b", 0, unplaced)}), breaks(invariants.Placement)},
		{"in the wrong zone", append(full, Change{New: spread("web-z", "b", 0, inZone("a"))}), breaks(invariants.Placement)},
		{"without its zone", append(full, Change{New: spread("web-z", "b", 0, func(p *corev1.Pod) { p.Spec.Affinity = nil })}), breaks(invariants.Placement)},
		{"moved", append(full, Change{Old: y, New: spread("web-y", "b", 0)}), breaks(invariants.Placement)},
		{"a stranger", append(full, Change{New: spread("web-z", "a", 0, unplaced, func(p *corev1.Pod) { p.OwnerReferences = nil })}), nil},
	} {
		if diff := cmp.Diff(test.wrong, see(NewJudge(), test.changes...)); diff != "" {
			t.Errorf("%s: violated (-want +got):\n%s", test.name, diff)
		}
	}
}

func TestSettledSpreadsAreJudged(t *testing.T) {
	counting := func(a, missing, b int32) func(*distributionv1alpha1.WorkloadSpread) {
		return func(ws *distributionv1alpha1.WorkloadSpread) {
			ws.Status = distributionv1alpha1.WorkloadSpreadStatus{ObservedGeneration: ws.Generation, SubsetStatuses: []distributionv1alpha1.WorkloadSpreadSubsetStatus{
				{Name: "a", Replicas: a, MissingReplicas: missing}, {Name: "b", Replicas: b, MissingReplicas: -1}}}
		}
	}
	x, y, z := spread("web-x", "a", 200), spread("web-y", "a", 200), spread("web-z", "b", 100)
	for _, test := range []struct {
		name  string
		ws    *distributionv1alpha1.WorkloadSpread
		pods  []metav1.Object
		late  *distributionv1alpha1.WorkloadSpread // when there are the pods
		wrong []invariants.Invariant
	}{
		{"as it should be", spreading(1, 2, counting(2, 0, 1)), objects(x, y, z), nil, nil},
		{"all in the last", spreading(1, 2, counting(0, 2, 1)), objects(z), nil, breaks(invariants.Settled)},
		{"all in the last, when the limit is raised", spreading(1, 0), objects(z), spreading(2, 2, counting(0, 2, 1)), nil},
		{"beyond the limit since it is lower", spreading(1, 2), objects(x, spread("web-y", "a", -100), z), spreading(2, 1, counting(2, 0, 1)), nil},
		{"beyond the limit, and not to go first", spreading(1, 2), objects(x, y, z), spreading(2, 1, counting(2, 0, 1)), breaks(invariants.Order)},
		{"it counts wrongly", spreading(1, 2, counting(2, 0, 2)), objects(x, y, z), nil, breaks(invariants.Status)},
		{"it says wrongly what is missing", spreading(1, 2, counting(1, 0, 0)), objects(x), nil, breaks(invariants.Status)},
		{"it is late", spreading(1, 2), objects(x, y, z), spreading(2, 2, func(ws *distributionv1alpha1.WorkloadSpread) {
			counting(2, 0, 1)(ws)
			ws.Status.ObservedGeneration = 1
		}), breaks(invariants.Status)},
	} {
		j := NewJudge()
		j.See([]Change{{New: test.ws}}, false)
		for _, object := range test.pods {
			j.See([]Change{{New: object}}, true)
		}
		if test.late != nil {
			j.See([]Change{{New: test.late}}, false)
		}
		v := j.Settled()
		if diff := cmp.Diff(test.wrong, kinds(v)); diff != "" {
			t.Errorf("%s: violated (-want +got):\n%s%v", test.name, diff, v)
		}
	}
}

// TestPinsAreJudged: what has settled on a node comes back to it, while it is wanted.
func TestPinsAreJudged(t *testing.T) {
	state := func(nodes map[string]string) *distributionv1alpha1.PersistentPodState {
		s := &distributionv1alpha1.PersistentPodState{ObjectMeta: metav1.ObjectMeta{Name: "web", UID: "state", Generation: 1}}
		s.Spec.TargetReference = distributionv1alpha1.TargetReference{APIVersion: "apps.kruise.io/v1beta1", Kind: "StatefulSet", Name: "web"}
		s.Status = distributionv1alpha1.PersistentPodStateStatus{ObservedGeneration: 1, Pods: int32(len(nodes)), PodStates: map[string]distributionv1alpha1.PodState{}}
		for name, node := range nodes {
			s.Status.PodStates[name] = distributionv1alpha1.PodState{NodeName: node}
		}
		return s
	}
	set := func(generation int64, edits ...func(*spec)) metav1.Object {
		of := base()
		of.recreate = true
		for _, edit := range edits {
			edit(of)
		}
		return of.statefulSet(metav1.ObjectMeta{Name: "web", UID: setUID, Generation: generation})
	}
	successor := func(name, node string) *corev1.Pod {
		p := pod(name, on(node))
		p.UID += "-2"
		return p
	}
	for _, test := range []struct {
		name  string
		then  []Change
		wrong []invariants.Invariant
	}{
		{"back on its node", []Change{{New: successor("web-2", "node-2")}}, nil},
		{"back on another node", []Change{{New: successor("web-2", "node-0")}}, breaks(invariants.Placement)},
		{"bound to another node", []Change{{New: successor("web-2", "")}, {Old: successor("web-2", ""), New: successor("web-2", "node-1")}}, breaks(invariants.Placement)},
		{"on another node after it was not wanted", []Change{{New: set(3, two)}, {New: set(4)}, {New: successor("web-2", "node-0")}}, nil},
		{"on another node after its ordinal was reserved", []Change{{New: set(3, func(s *spec) { s.reserved = []int{2} })}, {New: set(4)}, {New: successor("web-2", "node-0")}}, nil},
		{"on another node after another one was not wanted", []Change{{New: set(3, func(s *spec) { s.reserved = []int{1} })}, {New: set(4)}, {New: successor("web-2", "node-0")}}, breaks(invariants.Placement)},
		{"another one where it likes", []Change{{New: set(3, five)}, {New: successor("web-3", "node-0")}}, nil},
	} {
		j := NewJudge()
		see(j, Change{New: base().revision(t)}, Change{New: set(1)}, Change{New: state(map[string]string{"web-0": "node-0", "web-1": "node-1", "web-2": "node-2"})})
		last := pod("web-2", on("node-2"))
		j.See([]Change{{New: pod("web-0", on("node-0"))}, {New: pod("web-1", on("node-1"))}, {New: last}}, true)
		if v := j.judgePodStatesSettled(); v != nil {
			t.Fatal(v)
		}
		j.See([]Change{{New: set(2)}, {Old: last}}, true)
		if diff := cmp.Diff(test.wrong, see(j, test.then...)); diff != "" {
			t.Errorf("%s: violated (-want +got):\n%s", test.name, diff)
		}
	}
	j := NewJudge()
	see(j, Change{New: set(1)}, Change{New: state(map[string]string{"web-0": "node-1"})})
	j.See([]Change{{New: pod("web-0", on("node-0"))}}, true)
	if diff := cmp.Diff(breaks(invariants.Status), kinds(j.judgePodStatesSettled())); diff != "" {
		t.Errorf("a record of another node: violated (-want +got):\n%s", diff)
	}
}
