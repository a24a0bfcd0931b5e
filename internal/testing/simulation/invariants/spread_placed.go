// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"maps"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

// Placed remembers where pods that are about to be created were sent, by a controller or a replica of a webhook, and judges it.
// It knows what its caches show, and what they have shown. The zero value has sent nothing.
type Placed struct {
	// Counts is how long a pod counts that no cache has seen. Required.
	Counts time.Duration
	sent   []sent
}

type sent struct {
	name, key string // one of them
	subset    string
	hash      string
	owner     types.UID
	spread    types.UID
	at        time.Time
}

// See takes note of a pod that the caches show now.
func (p *Placed) See(pod *corev1.Pod) {
	p.sent = slices.DeleteFunc(p.sent, func(s sent) bool { return s.is(pod) })
}

func (s *sent) is(pod *corev1.Pod) bool {
	return s.name != "" && s.name == pod.Name || s.key != "" && s.key == says(pod).UID
}

func says(pod *corev1.Pod) v1alpha1.MatchedWorkloadSpread {
	return annotated[v1alpha1.MatchedWorkloadSpread](pod, v1alpha1.MatchedWorkloadSpreadAnnotation)
}

// Judge judges what became of a pod that is to be created. It judges by what the caches show and by which pods there
// are. Pods that were sent and are not seen yet count in any case. If others may count as well, because it is not known
// yet whether they are created, only that is judged which holds either way. (WS-4 to WS-11)
func (p *Placed) Judge(cached *State, truth map[string]*corev1.Pod, before, after *corev1.Pod) []Violation {
	var v violations
	f := spreadingOf(cached)
	ref := metav1.GetControllerOfNoCopy(before)
	if f == nil || f.DeletionTimestamp != nil || len(f.Spec.Subsets) == 0 || ref == nil || !f.owners[ref.UID] {
		return nil
	}
	if !f.selects(before) {
		v.never(!equality.Semantic.DeepEqual(before, after), Placement,
			"pod %s%s is changed, and the selector does not select it", before.GenerateName, before.Name)
		return v
	}
	p.sent = slices.DeleteFunc(p.sent, func(s sent) bool { return cached.Now.Sub(s.at) > p.Counts })
	i := f.subsetOf(after)
	if i >= 0 {
		checkGiven(&v, &f.Spec.Subsets[i], before, after)
	}
	if f.isOnly() {
		v.never(i != 0, Placement, "pod %s%s is not in the only subset", before.GenerateName, before.Name)
		return v
	}
	// One that was assigned before keeps its subset; and of more than its controller wants some were refused, and it is
	// not known which.
	again := f.tooMany(before, ref.UID, p.sent) || slices.ContainsFunc(p.sent, func(s sent) bool { return s.name != "" && s.name == before.Name })
	least, most := f.tally(before, p.sent, truth, true), f.tally(before, p.sent, truth, false)
	if first := least.choose(f, before); !again && slices.Equal(least.all, most.all) && slices.Equal(least.same, most.same) && least.loose == most.loose && i != first {
		v.add(Placement, "pod %s%s of revision %s goes to subset %d, not %d: there are %v, of its revision %v", before.GenerateName, before.Name, hashOf(before), i, first, least.all, least.same)
	}
	v.never(!again && i >= 0 && !least.mayTake(f, i, before), Placement,
		"pod %s%s goes to subset %d, which is full: there are %v, of its revision %v", before.GenerateName, before.Name, i, least.all, least.same)
	if i >= 0 {
		it := says(after)
		p.sent = append(p.sent, sent{name: before.Name, key: it.UID, subset: it.Subset, hash: hashOf(before), owner: ref.UID, spread: f.UID, at: cached.Now})
	}
	return v
}

// PlacedTogether judges into which subset a replica of a webhook sent a pod, if the replicas know of each other. The subset has
// room, though the caches of this replica may not show for ten seconds what the others have sent. Cached is what they showed when the
// replica decided, live the WorkloadSpread when the pod was sent, and truth the pods. (WS-7.2)
func PlacedTogether(cached *State, live Object, truth map[string]*corev1.Pod, before, after *corev1.Pod) []Violation {
	var v violations
	now := *cached
	now.Workload, now.Pods = live, truth
	f := spreadingOf(&now)
	if f == nil || f.DeletionTimestamp != nil || len(f.Spec.Subsets) < 2 {
		return nil
	}
	known := spreadingOf(cached)
	if known == nil || known.UID != f.UID || len(known.Spec.Subsets) == 0 {
		return nil
	}
	if known.isOnly() && says(after).UID == "" { // nothing is written then, so that the replica does not hear of a change of the spec
		ref := metav1.GetControllerOfNoCopy(before)
		if known.subsetOf(after) == 0 {
			checkGiven(&v, &known.Spec.Subsets[0], before, after)
		} else if ref != nil && known.owners[ref.UID] && known.selects(before) {
			v.add(Placement, "pod %s%s is not in the only subset", before.GenerateName, before.Name)
		}
		return v
	}
	i := f.subsetOf(after)
	if i < 0 {
		return nil
	}
	checkGiven(&v, &f.Spec.Subsets[i], before, after)
	f.pods = slices.DeleteFunc(f.pods, func(pod *corev1.Pod) bool {
		seen := cached.Pods[pod.Name]
		young := now.Now.Sub(pod.CreationTimestamp.Time) < 10*time.Second && says(pod).UID != ""
		return !young && (seen == nil || seen.UID != pod.UID || f.subsetOf(seen) != f.subsetOf(pod))
	})
	t := f.tally(before, nil, truth, true)
	v.never(!t.mayTake(f, i, before), Placement,
		"pod %s of revision %s goes to subset %d, which is full: there are %v, of its revision %v",
		before.GenerateName, hashOf(before), i, t.all, t.same)
	return v
}

func (f *spreading) isOnly() bool {
	return len(f.Spec.Subsets) == 1 && f.Spec.Subsets[0].MaxReplicas == nil
}

// tooMany tells whether the controller of a new pod would have more pods of its revision than it wants.
func (f *spreading) tooMany(pod *corev1.Pod, owner types.UID, all []sent) bool {
	alike, wants := int32(1), f.wants
	for _, rs := range f.state.Further["replicasets"] {
		if rs, ok := rs.(*appsv1.ReplicaSet); ok && rs.UID == owner {
			wants = *rs.Spec.Replicas
		}
	}
	for _, other := range f.pods {
		count(&alike, active(other) && hashOf(other) == hashOf(pod) && metav1.GetControllerOfNoCopy(other).UID == owner)
	}
	for s := range each(all) {
		count(&alike, s.owner == owner && s.hash == hashOf(pod) && !slices.ContainsFunc(f.pods, s.is))
	}
	return alike > wants
}

// tally is how many pods the subsets have, and how many of the revision of a new one.
type tally struct {
	all, same []int32
	loose     int32 // pods of the latest revision that are in no subset
}

// tally counts. Sure leaves out what was sent and may never be created.
func (f *spreading) tally(pod *corev1.Pod, all []sent, truth map[string]*corev1.Pod, sure bool) *tally {
	t := &tally{all: make([]int32, len(f.Spec.Subsets)), same: make([]int32, len(f.Spec.Subsets))}
	add := func(i int, hash string) {
		switch {
		case i >= 0:
			t.all[i]++
			count(&t.same[i], hash == hashOf(pod))
		case f.isLatestHash(hash):
			t.loose++
		}
	}
	for _, other := range f.pods {
		if active(other) && (other.Name != pod.Name || pod.Name == "") {
			add(f.subsetOf(other), hashOf(other))
		}
	}
	for s := range each(all) {
		if s.name != "" && s.name == pod.Name || slices.ContainsFunc(f.pods, s.is) {
			continue
		}
		if exists := s.spread == f.UID && slices.ContainsFunc(slices.Collect(maps.Values(truth)), s.is); exists || !sure {
			add(f.named(s.subset), s.hash)
		}
	}
	return t
}

// choose is the subset that a pod goes to; nowhere if none takes it. (WS-8)
func (t *tally) choose(f *spreading, pod *corev1.Pod) int {
	shares, isLatest := f.shares(t.all, max(f.wants-t.loose, 0)), f.isLatest(pod)
	for _, takes := range []func(int) bool{
		func(i int) bool { return t.all[i] < shares[i] && (!isLatest || t.same[i] < shares[i]) },
		func(i int) bool { return isLatest && t.same[i] < shares[i] },
		func(i int) bool { return t.all[i] < f.limit(i) },
	} {
		for i := range shares {
			if f.open(i) && takes(i) {
				return i
			}
		}
	}
	return nowhere
}

// mayTake tells whether a subset may take one more pod at all. (WS-8)
func (t *tally) mayTake(f *spreading, i int, pod *corev1.Pod) bool {
	return f.open(i) && (t.all[i] < f.limit(i) || f.isLatest(pod) && t.same[i] < f.shares(t.all, max(f.wants-t.loose, 0))[i])
}

// checkGiven judges that a pod has what its subset asks for, and still requires of its node what it did before. (WS-10, WS-11)
func checkGiven(v *violations, subset *v1alpha1.WorkloadSpreadSubset, before, pod *corev1.Pod) {
	had, has := requiredTerms(&before.Spec), requiredTerms(&pod.Spec)
	requires := func(term corev1.NodeSelectorTerm, e corev1.NodeSelectorRequirement) bool {
		return slices.ContainsFunc(term.MatchExpressions, func(has corev1.NodeSelectorRequirement) bool { return equality.Semantic.DeepEqual(has, e) })
	}
	for i := range had {
		for _, e := range had[i].MatchExpressions {
			v.never(len(has) != len(had) || !requires(has[i], e), Placement,
				"pod %s%s of subset %s does not require %s of its node any more", pod.GenerateName, pod.Name, subset.Name, e.Key)
		}
	}
	for _, t := range subset.Tolerations {
		v.never(!slices.Contains(pod.Spec.Tolerations, t), Placement,
			"pod %s%s of subset %s has no toleration of %s", pod.GenerateName, pod.Name, subset.Name, t.Key)
	}
	labels, annotations := patchedMetadata(subset.Patch.Raw)
	for _, patched := range []struct{ want, have map[string]string }{{labels, pod.Labels}, {annotations, pod.Annotations}} {
		for key, value := range patched.want {
			v.never(patched.have[key] != value, Placement,
				"pod %s%s of subset %s has not %s of its patch", pod.GenerateName, pod.Name, subset.Name, key)
		}
	}
	if subset.RequiredNodeSelectorTerm == nil {
		return
	}
	if v.wrong(len(has) == 0, Placement, "pod %s%s of subset %s requires nothing of its node", pod.GenerateName, pod.Name, subset.Name) {
		return
	}
	for _, term := range has {
		for _, e := range subset.RequiredNodeSelectorTerm.MatchExpressions {
			v.never(!requires(term, e), Placement,
				"pod %s%s of subset %s does not require %s of its node", pod.GenerateName, pod.Name, subset.Name, e.Key)
		}
	}
}

func requiredTerms(pod *corev1.PodSpec) []corev1.NodeSelectorTerm {
	if a := pod.Affinity; a != nil && a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		return a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	}
	return nil
}
