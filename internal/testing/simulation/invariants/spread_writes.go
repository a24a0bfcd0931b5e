// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/testing/fakecluster/scheduler"
)

// workloadSpread judges a write of the controller of a WorkloadSpread, whose workload is a CloneSet or a Deployment of
// the same name.
func workloadSpread(w *Write) []Violation {
	var found violations
	f := spreadingOf(w.asKnown())
	before, after := w.pods()
	switch {
	case f == nil:
		found.add(Needless, "%s of %s %s for no WorkloadSpread", w.Verb, w.Resource, w.name())
	case w.Resource == "workloadspreads" && w.Subresource == "status" && w.Verb == "patch":
		f.checkStatusWrite(&found, w)
	case w.Resource == "pods" && w.Verb == "patch" && w.Subresource == "" && before != nil && after != nil:
		f.checkPatch(&found, w)
	case w.Resource == "pods" && w.Verb == "delete" && before != nil:
		f.checkDeletion(&found, w)
	default:
		found.add(Spec, "%s of %s/%s is none of its business", w.Verb, w.Resource, w.Subresource)
	}
	return found
}

// otherSpread judges the status of a WorkloadSpread beside the one that has the workload. By it, it has no pods. (WS-22)
func otherSpread(w *Write, known *State, after *v1alpha1.WorkloadSpread) []Violation {
	var found violations
	if f := withoutPods(known, known.Further[spreadResource][after.Name]); f == nil {
		found.add(Needless, "the status of %s is written, which is not there", after.Name)
	} else {
		f.checkStatusWrite(&found, w)
	}
	return found
}

// WorkloadSpreadWitness judges the writes of everybody else: replicas of the webhook write nothing but which pods they send
// to which subset. (WS-7.2)
func WorkloadSpreadWitness(w *Write) []Violation {
	var found violations
	if !strings.HasPrefix(w.By, "webhook") {
		return found
	}
	before, after := objects[*v1alpha1.WorkloadSpread](w)
	if found.wrong(before == nil || after == nil || w.Subresource != "status", Spec, "a webhook writes %s", w.Resource) {
		return found
	}
	found.never(before.Status.ObservedGeneration != after.Status.ObservedGeneration, Spec,
		"a webhook writes which generation was observed")
	for _, had := range before.Status.SubsetStatuses {
		for _, has := range after.Status.SubsetStatuses {
			if had.Name != has.Name {
				continue
			}
			for key, since := range had.CreatingPods {
				at, kept := has.CreatingPods[key]
				found.never(!kept || !at.Equal(&since), Spec, "a webhook drops the creation of %s from subset %s", key, had.Name)
			}
			found.never(had.Replicas != has.Replicas || !equality.Semantic.DeepEqual(had.Conditions, has.Conditions), Spec,
				"a webhook writes more of subset %s than what it creates", had.Name)
		}
	}
	return found
}

// own tells whether a pod is of the workload, as the author knew it.
func (f *spreading) own(pod *corev1.Pod) bool {
	ref := metav1.GetControllerOfNoCopy(pod)
	return ref != nil && f.owners[ref.UID]
}

// checkPatch judges what is written into a pod. That is its subset, its deletion cost, and, if it had none, the
// metadata of the subset's patch. (WS-12 to WS-16)
func (f *spreading) checkPatch(v *violations, w *Write) {
	before, after := w.pods()
	known := w.knownPod()
	if v.wrong(known == nil || !f.own(known), Ownership, "pod %s is written, which is none of the workload", before.Name) {
		return
	}
	checkPrecise(v, w)
	i := f.subsetOf(known)
	_, annotations := patchedMetadata(w.Sent)
	_, adopted := annotations[v1alpha1.MatchedWorkloadSpreadAnnotation] // which another manager perhaps has done already
	if adopted {
		i = f.subsetOf(after)
		f.checkAdoption(v, known, i)
	}
	rest := after.DeepCopy()
	rest.ResourceVersion, rest.ManagedFields, rest.Generation = before.ResourceVersion, before.ManagedFields, before.Generation
	mayLabel, mayAnnotate := map[string]string{}, map[string]string{v1alpha1.MatchedWorkloadSpreadAnnotation: "", corev1.PodDeletionCost: ""}
	if adopted && i >= 0 && !strings.EqualFold(f.Annotations[v1alpha1.IgnorePatchExistingPodsAnnotation], "true") {
		labels, annotations := patchedMetadata(f.Spec.Subsets[i].Patch.Raw)
		maps.Copy(mayLabel, labels)
		maps.Copy(mayAnnotate, annotations)
	}
	strays := func(had, has, may map[string]string) bool {
		return slices.ContainsFunc(changed(had, has), func(key string) bool {
			_, found := may[key]
			return !found
		})
	}
	rest.Labels, rest.Annotations = before.Labels, before.Annotations
	v.never(strays(before.Labels, after.Labels, mayLabel) || strays(before.Annotations, after.Annotations, mayAnnotate) ||
		!equality.Semantic.DeepEqual(rest.ObjectMeta, before.ObjectMeta) || !equality.Semantic.DeepEqual(rest.Spec, before.Spec), Spec,
		"more of pod %s is written than its subset and its cost", before.Name)
	if cost := after.Annotations[corev1.PodDeletionCost]; cost != before.Annotations[corev1.PodDeletionCost] {
		v.never(!active(known), Needless, "pod %s, which is going, gets a cost", before.Name)
		v.never(f.custom || !f.mayCost(i, cost), Order, "pod %s of subset %d costs %q", before.Name, i, cost)
	}
}

// checkAdoption judges that a pod becomes one of a subset. (WS-12, WS-13)
func (f *spreading) checkAdoption(v *violations, known *corev1.Pod, i int) {
	had := f.subsetOf(known)
	v.never(had != nowhere, Placement, "pod %s is taken to subset %d, and was in %d", known.Name, i, had)
	node := f.state.Nodes[known.Spec.NodeName]
	switch {
	case i < 0:
		v.add(Placement, "pod %s is taken to a subset that is none", known.Name)
	case node == nil:
		v.add(Placement, "pod %s is taken to subset %d on a node that no cache knows", known.Name, i)
	case !f.fits(known, i, node):
		v.add(Placement, "pod %s is taken to subset %d, which does not fit its node %s", known.Name, i, node.Name)
	}
	for other := range f.Spec.Subsets {
		fits := i >= 0 && node != nil && f.fits(known, other, node)
		v.never(fits && preference(&f.Spec.Subsets[other], node) > preference(&f.Spec.Subsets[i], node), Placement,
			"pod %s is taken to subset %d, and %d prefers its node more", known.Name, i, other)
	}
}

// fits tells whether a subset could have sent a pod to its node. (WS-13)
func (f *spreading) fits(pod *corev1.Pod, i int, node *corev1.Node) bool {
	subset, spec := &f.Spec.Subsets[i], pod.Spec.DeepCopy()
	spec.NodeName = ""
	spec.Tolerations = append(spec.Tolerations, subset.Tolerations...)
	if slices.ContainsFunc(node.Spec.Taints, func(taint corev1.Taint) bool { return !scheduler.Tolerates(spec, &taint) }) {
		return false
	}
	needs := corev1.PodSpec{Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists}}}
	if subset.RequiredNodeSelectorTerm != nil { // what the pod itself requires, its node has met
		needs.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
			NodeSelectorTerms: []corev1.NodeSelectorTerm{*subset.RequiredNodeSelectorTerm}}}}
		if !scheduler.Selects(&corev1.PodSpec{Affinity: spec.Affinity}, node) {
			return false
		}
	}
	return scheduler.Takes(node, &needs)
}

// preference is the weight of the preferred terms of a subset that a node matches, which are about one label each.
func preference(subset *v1alpha1.WorkloadSpreadSubset, node *corev1.Node) (weight int32) {
	for term := range each(subset.PreferredNodeSelectorTerms) {
		for _, e := range term.Preference.MatchExpressions {
			if slices.Contains(e.Values, node.Labels[e.Key]) {
				weight += term.Weight
			}
		}
	}
	return weight
}

func patchedMetadata(patch []byte) (labels, annotations map[string]string) {
	var says struct {
		Metadata struct{ Labels, Annotations map[string]string }
	}
	_ = json.Unmarshal(patch, &says) // otherwise there are none
	return says.Metadata.Labels, says.Metadata.Annotations
}

// mayCost tells whether a pod of a subset may cost so much. (WS-15, WS-16)
func (f *spreading) mayCost(i int, text string) bool {
	cost, err := strconv.Atoi(text)
	n := len(f.Spec.Subsets)
	switch {
	case err != nil:
		return false
	case i < 0:
		return cost == -100*(n+1)
	case cost < 0:
		return cost == -100*(i+1)
	case f.inPercent():
		return cost > 0 && cost < 10_000_000
	}
	return cost == 100*(n-i)
}

// checkDeletion judges why a pod is deleted. (WS-17, WS-19, WS-37)
func (f *spreading) checkDeletion(v *violations, w *Write) {
	before, _ := w.pods()
	known := w.knownPod()
	if v.wrong(known == nil || !f.own(known), Ownership, "pod %s is deleted, which is none of the workload", before.Name) {
		return
	}
	v.never(w.Asked != nil && w.Asked.ResourceVersion != known.ResourceVersion, Ownership,
		"pod %s is deleted whatever has become of it", before.Name)
	if ref := metav1.GetControllerOf(known); ref != nil && ref.Kind == "Job" && strings.HasPrefix(ref.APIVersion, "batch/") && !f.mayFail() {
		v.add(Needless, "pod %s of a Job is deleted, which counts it as failed, as too many others", before.Name)
	}
	i, age := f.subsetOf(known), f.state.Now.Sub(known.CreationTimestamp.Time)
	switch {
	case i < 0 || known.DeletionTimestamp != nil || known.Status.Phase != corev1.PodPending:
		v.add(Needless, "pod %s is deleted, which has started, is going or is in no subset", before.Name)
	case failedToSchedule(known):
		if limit := time.Duration(f.closes()) * time.Second; limit == 0 || age < limit || i == len(f.Spec.Subsets)-1 {
			v.add(Needless, "pod %s is deleted after %v, because it could not be scheduled", before.Name, age)
		} else if c := f.schedulable(i); c == nil || c.Status != corev1.ConditionFalse {
			v.add(Order, "pod %s is deleted, and its subset still takes pods", before.Name)
		}
	case age < time.Second || age > time.Minute:
		v.add(Needless, "pod %s is deleted at the age of %v", before.Name, age)
	default:
		f.checkMisplaced(v, known, i)
	}
}

// mayFail tells whether less than half of the backoffLimit of the Job has failed, as far as the process knew. (WS-37)
func (f *spreading) mayFail() bool {
	job, _ := f.state.Beside["jobs"].(*batchv1.Job)
	if job == nil {
		return false
	}
	failed := among(maps.Values(f.state.Pods), func(pod *corev1.Pod) bool {
		return controls(job.UID, pod) && len(pod.Finalizers) > 0 && (pod.DeletionTimestamp != nil || pod.Status.Phase == corev1.PodFailed)
	})
	return 2*(job.Status.Failed+int32(len(failed))) < *job.Spec.BackoffLimit
}

// checkMisplaced judges that a pod is deleted because it is one too many in its subset, and another one misses it.
// (WS-19)
func (f *spreading) checkMisplaced(v *violations, pod *corev1.Pod, subset int) {
	if v.wrong(f.custom, Needless, "pod %s of subset %d is deleted, and its workload is of another kind", pod.Name, subset) {
		return
	}
	has, left := make([]int32, len(f.Spec.Subsets)), f.wants
	latest := among(slices.Values(f.pods), func(other *corev1.Pod) bool { return f.isLatest(other) && (other == pod || active(other)) })
	for _, other := range latest {
		if i := f.subsetOf(other); i >= 0 {
			has[i]++
		} else {
			left--
		}
	}
	all := int32(len(latest))
	shares := f.shares(has, max(left, 0))
	missing := all - f.wants // less those that are still to be created
	for i := range has {
		missing += max(shares[i]-has[i], 0)
	}
	v.never(!f.isLatest(pod) || has[subset] <= shares[subset] || missing <= 0 || all > f.wants, Needless,
		"pod %s of subset %d is deleted, of which there are %v and should be %v", pod.Name, subset, has, shares)
}

// SpreadMoves are the pods that the processes of a controller of WorkloadSpreads have deleted lately, and judges how many. The zero value
// has seen none.
type SpreadMoves struct{ few fewAtOnce }

// WorkloadSpread judges a write of the controller, and how many pods go at once. If several WorkloadSpreads name the same workload, one of
// them has the pods, and of the others only the status is written. (WS-22)
func (m *SpreadMoves) WorkloadSpread(w *Write) []Violation {
	held := *w
	held.Truth, held.Known, held.Observed = WithHolder(w.Truth), WithHolder(w.Known), WithHolder(w.Observed)
	known := held.asKnown()
	after, isSpread := w.After.(*v1alpha1.WorkloadSpread)
	if holder := known.Workload; isSpread && holder != nil && after.UID != holder.GetUID() && w.Subresource == "status" && w.Verb == "patch" {
		return otherSpread(w, known, after)
	}
	return append(workloadSpread(&held), m.check(&held)...)
}

// check judges how many pods a process has deleted, this one among them. Those that it has deleted are of the workload, too.
func (m *SpreadMoves) check(w *Write) (v violations) {
	if w.Resource != "pods" || w.Verb != "delete" {
		return nil
	}
	f := spreadingOf(w.asKnown())
	if f == nil {
		return nil // which is judged elsewhere
	}
	gone, most := m.few.delete(w.By+string(f.UID), w.Truth.Now, func(gone int) int {
		return min(gone+len(among(slices.Values(f.pods), active)), int(f.wants))
	})
	v.never(gone > most, Availability,
		"%d pods are deleted in %v, and of a workload that wants %d at most %d may be", gone, fewWithin, f.wants, most)
	return v
}
