// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// SidecarContract is what the contract of SidecarSets says about their bytes. Tests of
// packages that know it give it, and tests with golden data see that these are right.
type SidecarContract struct {
	// Default sets the defaults of a SidecarSet.
	Default func(*v1alpha1.SidecarSet)
	// Hashes are those of its containers, with and without images.
	Hashes func(*v1alpha1.SidecarSet) (containers, withoutImage string, err error)
	// Owned says that pods are those of workloads. If one loses a pod amid an in-place update, the pod stays out of service: another
	// controller may not adopt it, nor open the gate. (CS-1, IP-26)
	Owned bool
	// Natives says that native sidecars count as containers. (SCI-42)
	Natives bool
	// These are what the controller does as OpenKruise 1.9. (SCS-30, SCS-32, SCS-33)
	PartitionRoundsUp, ReplacePatch, UpgradableCondition bool
}

// SidecarSet judges a write of the controller of SidecarSets. It must be known what its author knew.
func (p *Past) SidecarSet(w *Write) []Violation {
	var v violations
	checkPrecise(&v, w)
	set, ok := w.spec().(*v1alpha1.SidecarSet)
	if v.wrong(!ok, Ownership, "%s of %s %s, and the author knows no SidecarSet", w.Verb, w.Resource, w.name()) {
		return v
	}
	j := p.newSidecarSetJudge(&v, w, set)
	v.never(set.DeletionTimestamp != nil, Needless,
		"%s of %s %s, the SidecarSet is being deleted", w.Verb, w.Resource, w.name())
	switch w.Resource {
	case "pods":
		j.checkPod()
	case "controllerrevisions":
		j.checkRevision()
	case "sidecarsets":
		j.checkStatus()
	default:
		v.add(Ownership, "%s of %s %s", w.Verb, w.Resource, w.name())
	}
	return v
}

type sidecarSetJudge struct {
	*violations
	*Write
	past               *Past
	set                *v1alpha1.SidecarSet // with its defaults
	contract           *SidecarContract
	all                []v1alpha1.SidecarContainer // its containers, and native sidecars that count as such
	hash, withoutImage string                      // of its containers
	selector           labels.Selector
	namespaces         labels.Selector // nil: of any labels
	broken             bool            // it is not known which pods it selects
	confused           bool            // it is not known how they are updated

	matched                   int // pods, as the author observed them
	partition, maxUnavailable int
	chosen                    labels.Selector // of the pods to update
}

func (p *Past) newSidecarSetJudge(v *violations, w *Write, known *v1alpha1.SidecarSet) *sidecarSetJudge {
	j := &sidecarSetJudge{violations: v, Write: w, past: p, contract: &p.Sidecars, set: known.DeepCopy(), chosen: labels.Everything()}
	j.contract.Default(j.set)
	j.all = slices.Concat(j.set.Spec.Containers, j.natives())
	var hashErr, err error
	j.hash, j.withoutImage, hashErr = j.contract.Hashes(j.set)
	j.selector, err = metav1.LabelSelectorAsSelector(j.set.Spec.Selector)
	j.broken = hashErr != nil || err != nil || j.set.Spec.Selector == nil || j.selector.Empty()
	if of := j.set.Spec.NamespaceSelector; of != nil {
		j.namespaces, err = metav1.LabelSelectorAsSelector(of)
		j.broken = j.broken || err != nil
	}
	j.matched = len(j.matching(w.Observed))
	j.readStrategy()
	return j
}

// readStrategy reads how pods are updated. (SCS-7, SCS-8)
func (j *sidecarSetJudge) readStrategy() {
	strategy := &j.set.Spec.UpdateStrategy
	number := func(value *intstr.IntOrString, otherwise int, up bool) int {
		if value == nil {
			return otherwise
		}
		return max(scaled(value, j.matched, up, &j.confused), 0)
	}
	j.partition = number(strategy.Partition, 0, false)
	if j.contract.PartitionRoundsUp { // (SCS-30)
		j.partition = max(heldBack(strategy.Partition, j.matched, &j.confused), 0)
	}
	j.maxUnavailable = number(strategy.MaxUnavailable, 1, true)
	if strategy.Selector != nil {
		var err error
		j.chosen, err = metav1.LabelSelectorAsSelector(strategy.Selector)
		j.confused = j.confused || err != nil
	}
	j.priority(&corev1.Pod{}) // finds out whether it can be read
}

// matching are the pods that the SidecarSet injected into and selects, by name. (SCS-1, SCS-2)
func (j *sidecarSetJudge) matching(s *State) (found []*corev1.Pod) {
	for _, name := range slices.Sorted(maps.Keys(s.Pods)) {
		if pod := s.Pods[name]; j.matches(pod, s) {
			found = append(found, pod)
		}
	}
	return found
}

// selects tells whether the SidecarSet selects a pod, whether it was injected or not.
func (j *sidecarSetJudge) selects(pod *corev1.Pod, s *State) bool {
	if j.broken || !active(pod) || mirror(pod) || !j.selector.Matches(labels.Set(pod.Labels)) || !j.inNamespace(pod) {
		return false
	}
	if j.namespaces == nil {
		return true
	}
	namespace := s.Namespaces[pod.Namespace]
	return namespace != nil && j.namespaces.Matches(labels.Set(namespace.Labels))
}

// mirror tells whether a pod shows what a kubelet runs from a file: writes do not reach its containers.
func mirror(pod *corev1.Pod) bool { return pod.Annotations[corev1.MirrorPodAnnotationKey] != "" }

func (j *sidecarSetJudge) inNamespace(pod *corev1.Pod) bool {
	return j.set.Spec.Namespace == "" || j.set.Spec.Namespace == pod.Namespace
}

func hot(c *v1alpha1.SidecarContainer) bool {
	return c.UpgradeStrategy.UpgradeType == v1alpha1.SidecarContainerHotUpgrade
}

func (j *sidecarSetJudge) hotOnes() []*v1alpha1.SidecarContainer {
	return among(each(j.set.Spec.Containers), hot)
}

func namesOf(c *v1alpha1.SidecarContainer) []string {
	if hot(c) {
		return []string{c.Name + "-1", c.Name + "-2"}
	}
	return []string{c.Name}
}

// latest is the revision that holds the spec, as far as a state has it, nil otherwise.
func (j *sidecarSetJudge) latest(s *State) *appsv1.ControllerRevision {
	var found *appsv1.ControllerRevision
	for _, name := range slices.Sorted(maps.Keys(s.Revisions)) {
		if r := s.Revisions[name]; metav1.IsControlledBy(r, j.set) && j.holdsSpec(r) && (found == nil || r.Revision > found.Revision) {
			found = r
		}
	}
	return found
}

// isLatest tells whether a name is that of the revision that holds the spec: of one of them,
// if two managers have created one each.
func (j *sidecarSetJudge) isLatest(s *State, name string) bool {
	latest, r := j.latest(s), s.Revisions[name]
	return latest != nil && r != nil && r.Revision == latest.Revision && metav1.IsControlledBy(r, j.set) && j.holdsSpec(r)
}

// revised is what a revision holds of the spec. (SCI-17)
type revised struct {
	Containers, InitContainers []v1alpha1.SidecarContainer
	Volumes                    []corev1.Volume
	ImagePullSecrets           []v1alpha1.SidecarSetPullSecret
	PatchPodMetadata           []v1alpha1.SidecarSetPatchPodMetadata
}

// holdsSpec tells whether a revision holds what revisions hold of the spec. (SCS-R2)
func (j *sidecarSetJudge) holdsSpec(r *appsv1.ControllerRevision) bool {
	held := j.held(r)
	if held == nil {
		return false
	}
	of := func(s v1alpha1.SidecarSetSpec) revised {
		return revised{s.Containers, s.InitContainers, s.Volumes, s.ImagePullSecrets, s.PatchPodMetadata}
	}
	return equality.Semantic.DeepEqual(of(held.Spec), of(j.set.Spec))
}

// held is the SidecarSet with what a revision holds of the spec; nil if it cannot be read.
func (j *sidecarSetJudge) held(r *appsv1.ControllerRevision) *v1alpha1.SidecarSet {
	var data struct{ Spec *revised }
	if json.Unmarshal(r.Data.Raw, &data) != nil || data.Spec == nil {
		return nil
	}
	held, is := &v1alpha1.SidecarSet{}, data.Spec
	held.Spec.Containers, held.Spec.InitContainers, held.Spec.Volumes = is.Containers, is.InitContainers, is.Volumes
	held.Spec.ImagePullSecrets, held.Spec.PatchPodMetadata = is.ImagePullSecrets, is.PatchPodMetadata
	j.contract.Default(held)
	return held
}

// historyLimit is how many revisions stay. (SCS-R5)
func (j *sidecarSetJudge) historyLimit() int {
	return max(int(ptr.Deref(j.set.Spec.RevisionHistoryLimit, 10)), 1)
}

// neededRevisions says by name for what a revision is needed. Pods of other namespaces than
// that of the SidecarSet need none, but may keep one. (SCS-R5)
func (j *sidecarSetJudge) neededRevisions(s *State, elsewhere bool) map[string]string {
	needed := map[string]string{}
	for _, pod := range s.Pods {
		if active(pod) && !j.broken && j.selector.Matches(labels.Set(pod.Labels)) && (elsewhere || j.inNamespace(pod)) {
			needed[j.record(pod, v1alpha1.SidecarSetHashAnnotation).SidecarSetControllerRevision] = "pod " + pod.Name
		}
	}
	if wanted := j.wanted(s); wanted != nil {
		needed[wanted.Name] = "injectionStrategy"
	}
	if latest := j.latest(s); latest != nil {
		needed[latest.Name] = "the spec"
	}
	return needed
}

// wanted is the revision that the injectionStrategy names, nil if there is none.
func (j *sidecarSetJudge) wanted(s *State) *appsv1.ControllerRevision {
	if j.set.Spec.InjectionStrategy.Revision == nil {
		return nil
	}
	return j.named(s, func(r *appsv1.ControllerRevision) bool { return metav1.IsControlledBy(r, j.set) })
}

// named is the revision that the injectionStrategy names among some: the last one if it names a custom version.
func (j *sidecarSetJudge) named(s *State, among func(*appsv1.ControllerRevision) bool) (found *appsv1.ControllerRevision) {
	strategy := j.set.Spec.InjectionStrategy.Revision
	for _, r := range s.Revisions {
		switch {
		case !among(r):
		case strategy.RevisionName != nil:
			if r.Name == *strategy.RevisionName {
				return r
			}
		case strategy.CustomVersion != nil && r.Labels[v1alpha1.SidecarSetCustomVersionLabel] == *strategy.CustomVersion && (found == nil || r.Revision > found.Revision):
			found = r
		}
	}
	return found
}

// checkRevision judges a write of a revision. (SCS-R1 to SCS-R5)
func (j *sidecarSetJudge) checkRevision() {
	before, after := objects[*appsv1.ControllerRevision](j.Write)
	switch {
	case before == nil:
		j.never(!metav1.IsControlledBy(after, j.set) || after.Labels[v1alpha1.SidecarSetNameLabel] != j.set.Name, Ownership,
			"creates revision %s, which does not belong to the SidecarSet", after.Name)
		j.never(!j.holdsSpec(after), History, "creates revision %s, which does not hold the spec", after.Name)
		is := strings.HasPrefix(string(after.Data.Raw), `{"spec":{"$patch":"replace",`)
		j.never(is != j.contract.ReplacePatch, History, "creates revision %s, which says that it replaces: %t", after.Name, is)
		for _, r := range j.Observed.Revisions { // of what it wrote since the answer may be lost
			j.never(metav1.IsControlledBy(r, j.set) && (r.Revision >= after.Revision || j.holdsSpec(r)), History,
				"creates revision %s with number %d, and %s has %d", after.Name, after.Revision, r.Name, r.Revision)
		}
	case !metav1.IsControlledBy(before, j.set) && (j.Known.Revisions[before.Name] == nil || !metav1.IsControlledBy(j.Known.Revisions[before.Name], j.set)):
		j.add(Ownership, "%s of revision %s, which the SidecarSet does not control", j.Verb, before.Name)
	case after == nil:
		j.checkDropped(before)
	case !j.holdsSpec(after) && after.Revision != before.Revision:
		j.add(History, "raises revision %s, which does not hold the spec", before.Name)
	}
}

// checkDropped: a revision goes when nothing needs it, and no more than the limit asks for.
func (j *sidecarSetJudge) checkDropped(gone *appsv1.ControllerRevision) {
	j.never(j.Asked != nil && j.Asked.ResourceVersion == "", History,
		"deletes revision %s whatever has become of it since", gone.Name)
	needed := j.neededRevisions(j.Known, false)
	why := needed[gone.Name]
	j.never(why != "", History, "deletes revision %s, which is that of %s", gone.Name, why)
	maps.Copy(needed, j.neededRevisions(j.Observed, false)) // before the same reconcile updated pods
	n, older := 0, 0
	all := maps.Clone(j.Known.Revisions)
	maps.Copy(all, j.Observed.Revisions) // also those that the same reconcile has deleted
	for name, r := range all {
		if !metav1.IsControlledBy(r, j.set) {
			continue
		}
		n++
		count(&older, needed[name] == "" && r.Revision < gone.Revision)
	}
	if surplus := n - j.historyLimit(); older >= surplus {
		j.add(History, "deletes revision %s, number %d, and %d of %d are older and not needed, revisionHistoryLimit %d",
			gone.Name, gone.Revision, older, n, j.historyLimit())
	}
}
