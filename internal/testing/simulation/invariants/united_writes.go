// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/workloads/v1alpha1"
)

// UnitedPast is what has become of a UnitedDeployment so far. Its zero value knows nothing.
type UnitedPast struct {
	// AdaptiveScheduling says that minReplicas, maxReplicas and the schedule strategy are read.
	AdaptiveScheduling bool
	// UpdatedCondition says that the status tells how far an update is. (UD-12.5)
	UpdatedCondition bool
	// SubsetStatuses says that the status tells of subsets with every strategy. (UD-21.7)
	SubsetStatuses bool
	// ReservedLabels says that pods which are not reserved are labelled, too. (UD-21.6)
	ReservedLabels bool

	sets   []*v1alpha1.UnitedDeployment
	served services
}

func (p *UnitedPast) of(s *State) *united {
	u := unitedOf(s)
	if u != nil {
		u.reads, u.tellsUpdated, u.tellsSubsets, u.labelsAll = p.AdaptiveScheduling, p.UpdatedCondition, p.SubsetStatuses, p.ReservedLabels
	}
	return u
}

// Observe takes note of a change.
func (p *UnitedPast) Observe(c *Change) {
	p.served.observe(c)
	if set, ok := c.After.(*v1alpha1.UnitedDeployment); ok {
		p.sets = append(p.sets, set)
	}
}

// at is the UnitedDeployment as the API server had it at a version; nil if that is not known.
func (p *UnitedPast) at(version int64) (found *v1alpha1.UnitedDeployment) {
	for _, set := range p.sets {
		if versionOf(set) <= version {
			found = set
		}
	}
	return found
}

// Write judges a write of the controller of a UnitedDeployment.
func (p *UnitedPast) Write(w *Write) []Violation {
	var v violations
	observed := *w.asSeen()
	observed.Refused = w.Refused // whether or not another manager has created the revision meanwhile, of which this one does not know
	u := p.of(&observed)
	if v.wrong(u == nil || u.DeletionTimestamp != nil, Needless, "%s of %s %s for no UnitedDeployment", w.Verb, w.Resource, w.name()) {
		return v
	}
	switch {
	case w.Resource == "uniteddeployments" && w.Subresource == "status":
		u.checkStatusWrite(&v, w)
	case w.Resource == "controllerrevisions":
		u.checkRevisionWrite(&v, w)
	case w.Resource == "pods" && w.Verb == "delete":
		p.checkPodDeletion(&v, u, w)
	case w.Resource == "pods" && w.Verb == "patch" && p.AdaptiveScheduling:
		u.checkPodPatch(&v, w)
	case slices.Contains(unitedKinds, w.Resource) && w.Subresource == "":
		p.checkChildWrite(&v, u, w)
	default:
		v.add(Spec, "%s of %s/%s is none of its business", w.Verb, w.Resource, w.Subresource)
	}
	return v
}

func (p *UnitedPast) checkChildWrite(v *violations, u *united, w *Write) {
	switch {
	case w.Before == nil:
		after := childOf(w.Resource, w.After)
		if had := u.childOf(after.subset); had != nil {
			v.add(Identity, "%s %s is created for subset %s, which has %s", w.Resource, w.name(), after.subset, had.GetName())
		}
		v.never(!u.controls(w.After), Ownership, "%s %s is created, which has no controller", w.Resource, w.name())
		u.checkChild(v, &after)
		u.checkMade(v, &after)
	case w.After == nil || w.After.GetDeletionTimestamp() != nil && w.Before.GetDeletionTimestamp() == nil:
		p.checkChildDeletion(v, u, w)
	default:
		u.checkChange(v, w)
	}
}

// checkChildDeletion: a workload is deleted whose subset, or kind, is gone, or that is beside another, when all others are
// there. (UD-5, UD-19)
func (p *UnitedPast) checkChildDeletion(v *violations, u *united, w *Write) {
	checkPrecise(v, w)
	gone := func(u *united) bool {
		c := first(u.children, func(c *unitedChild) bool { return c.GetUID() == w.Before.GetUID() })
		if c == nil || !u.controls(c) || !u.counts(c) {
			return false
		}
		chosen := u.childOf(c.subset)
		return u.resource != c.resource || u.subset(c.subset) == nil || chosen != nil && chosen.GetUID() != c.GetUID()
	}
	if v.wrong(!gone(u), Ownership, "%s %s is deleted, which is that of its subset, or of another owner", w.Resource, w.name()) {
		return
	}
	if set := p.at(w.Known.Version); set != nil && set.UID == u.UID { // it has asked since
		state := *u.state
		state.Workload = set
		if asked := unitedOf(&state); asked.resource != "" && !gone(asked) {
			v.add(Ownership, "%s %s is deleted, which the UnitedDeployment wanted when it was asked", w.Resource, w.name())
		}
	}
	there := *w.Truth
	there.Workload = u.UnitedDeployment
	known, truth := unitedOf(w.Known), unitedOf(&there)
	for i := range u.Spec.Topology.Subsets { // it may have asked, if another manager has created one
		if name := u.Spec.Topology.Subsets[i].Name; known.childOf(name) == nil && truth.childOf(name) == nil {
			v.add(Order, "%s %s is deleted, and subset %s has no workload yet", w.Resource, w.name(), name)
		}
	}
}

// checkChange judges a change of a workload: it is adopted, released, or gets what it should have. (UD-2, UD-10)
func (u *united) checkChange(v *violations, w *Write) {
	before, after := childOf(w.Resource, w.Before), childOf(w.Resource, w.After)
	checkPrecise(v, w)
	known := u.state.Further[w.Resource][w.name()]
	if known == nil || known.GetUID() != w.Before.GetUID() {
		v.add(Ownership, "%s %s is changed, which was not known", w.Resource, w.name())
		return
	}
	c := childOf(w.Resource, known)
	if !equality.Semantic.DeepEqual(w.Before.GetOwnerReferences(), w.After.GetOwnerReferences()) {
		switch chosen := u.childOf(c.subset); {
		case u.controls(w.After) && (chosen == nil || chosen.GetUID() != c.GetUID() || u.subset(c.subset) == nil || metav1.GetControllerOfNoCopy(w.Before) != nil):
			v.add(Ownership, "%s %s is adopted, which is that of no subset", w.Resource, w.name())
		case !u.controls(w.After) && (!u.controls(known) || matches(u.Spec.Selector, known.GetLabels())):
			v.add(Ownership, "%s %s is given up, which is one of those it selects", w.Resource, w.name())
		}
		return
	}
	if chosen := u.childOf(c.subset); chosen == nil || chosen.GetUID() != c.GetUID() {
		v.add(Ownership, "%s %s is changed, which is that of no subset", w.Resource, w.name())
		return
	}
	v.never(before.paused != after.paused, Spec, "%s %s is paused or not, which no template says", w.Resource, w.name())
	if before.subset == after.subset { // a user may have changed it meanwhile
		after.subset = c.subset
	}
	u.checkChild(v, &after)
	if !equality.Semantic.DeepEqual(before.pods, after.pods) || before.revision != after.revision {
		u.checkMade(v, &after)
	}
}

// checkChild judges the number of pods and the partition of a workload. (UD-3, UD-4, UD-10.1)
func (u *united) checkChild(v *violations, c *unitedChild) {
	all, readable := u.allocated()
	if u.subset(c.subset) == nil || c.resource != u.resource || !readable {
		v.add(Placement, "%s %s is written for subset %q, which there is not", c.resource, c.GetName(), c.subset)
		return
	}
	v.never(!u.mayHave(c.subset, c.replicas, all), Placement,
		"%s %s gets %d pods, and subset %s is to have %d", c.resource, c.GetName(), c.replicas, c.subset, all[c.subset])
	part := all[c.subset]
	if u.moves() {
		part = c.replicas
	}
	if want := u.partitioned(c.subset, part); c.partition >= 0 && c.partition != want {
		v.add(Partition, "%s %s holds back %d pods, and subset %s is to hold back %d", c.resource, c.GetName(), c.partition, c.subset, want)
	}
}

// checkMade judges a workload that is made of the template. (UD-7, UD-8)
func (u *united) checkMade(v *violations, c *unitedChild) {
	subset := u.subset(c.subset)
	if subset == nil || c.pods == nil {
		return
	}
	for key, value := range map[string]string{v1alpha1.SubsetNameLabel: c.subset, v1alpha1.SubsetRevisionLabel: c.revision, "app": "web"} {
		v.never(c.pods.Labels[key] != value || c.GetLabels()[key] != value || value == "", Spec,
			"%s %s has the label %s %q, and its pods %q", c.resource, c.GetName(), key, c.GetLabels()[key], c.pods.Labels[key])
	}
	v.never(!equality.Semantic.DeepEqual(c.pods.Spec.Containers, u.pods.Spec.Containers), Spec,
		"%s %s has the containers %v, and the template %v", c.resource, c.GetName(), images(c.pods), images(u.pods))
	v.never(!slices.Equal(c.pods.Spec.Tolerations, append(slices.Clone(u.pods.Spec.Tolerations), subset.Tolerations...)), Spec,
		"%s %s has the tolerations %v", c.resource, c.GetName(), c.pods.Spec.Tolerations)
	terms := requiredTerms(&c.pods.Spec)
	if e := subset.NodeSelectorTerm.MatchExpressions; len(e) > 0 && (len(terms) != 1 || !equality.Semantic.DeepEqual(terms[0].MatchExpressions, e)) || len(e) == 0 && len(terms) > 0 {
		v.add(Spec, "%s %s restricts its pods to %v", c.resource, c.GetName(), terms)
	}
	if _, annotations := patchedMetadata(ptr.Deref(subset.Patch, runtime.RawExtension{}).Raw); !equality.Semantic.DeepEqual(c.pods.Annotations, annotations) {
		v.add(Spec, "%s %s gives its pods the annotations %v, and the patch is %v", c.resource, c.GetName(), c.pods.Annotations, annotations)
	}
}

func images(pods *corev1.PodTemplateSpec) (images []string) {
	for _, c := range pods.Spec.Containers {
		images = append(images, c.Image)
	}
	return images
}

// checkPodDeletion: a pod is deleted that keeps a StatefulSet from updating. (UD-11)
func (p *UnitedPast) checkPodDeletion(v *violations, u *united, w *Write) {
	before, _ := w.pods()
	pod := w.knownPod()
	if v.wrong(pod == nil, Ownership, "pod %s is deleted, which was not known", before.Name) {
		return
	}
	checkPrecise(v, w)
	c := u.childOf(pod.Labels[v1alpha1.SubsetNameLabel])
	if c == nil || !controls(c.GetUID(), pod) || c.resource != "statefulsets" {
		v.add(Ownership, "pod %s is deleted, which is of no StatefulSet", pod.Name)
		return
	}
	_, ordinal, _ := cutOrdinal(pod.Name)
	if ready(pod) || pod.Labels[v1alpha1.SubsetRevisionLabel] == c.revision || ordinal < c.partition || pod.DeletionTimestamp != nil {
		v.add(Needless, "pod %s is deleted: ready %t, of revision %s", pod.Name, ready(pod), pod.Labels[v1alpha1.SubsetRevisionLabel])
		return
	}
	p.checkStuck(v, u, c, w)
}

func cutOrdinal(name string) (set string, ordinal int32, ok bool) {
	i := strings.LastIndex(name, "-")
	if i < 0 {
		return name, 0, false
	}
	n, err := strconv.ParseInt(name[i+1:], 10, 32)
	return name[:i], int32(n), err == nil
}

// checkRevisionWrite: revisions are its own, and stay while they are used. (UD-R3, UD-R5)
func (u *united) checkRevisionWrite(v *violations, w *Write) {
	v.never(w.Before != nil && !u.controls(w.Before) && (metav1.GetControllerOfNoCopy(w.Before) != nil || w.Verb == "delete"), Ownership,
		"%s of revision %s, which is not its own", w.Verb, w.name())
	u.history().checkWrite(v, w)
}

// history is that of its own revisions.
func (u *united) history() *history {
	return &history{uid: u.UID, limit: u.Spec.RevisionHistoryLimit, needed: func(s *State) map[string]string {
		needed := map[string]string{}
		if u := unitedOf(s); u != nil {
			needed[shortHash(u.Status.CurrentRevision)] = "status.currentRevision"
			for c := range each(u.children) {
				needed[shortHash(c.revision)] = c.resource + " " + c.GetName()
			}
			if status := u.Status.UpdateStatus; status != nil {
				needed[shortHash(status.UpdatedRevision)] = "the template"
			}
		}
		for _, pod := range s.Pods {
			needed[shortHash(pod.Labels[v1alpha1.SubsetRevisionLabel])] = "pod " + pod.Name
		}
		return needed
	}}
}

// unreadyFor is how long a pod that was ready is left, while an update waits for it. (UD-11)
const unreadyFor = 5 * time.Minute

type service struct{ since, until time.Time }

type services map[types.UID]*service

func (s *services) observe(c *Change) {
	before, _ := c.Before.(*corev1.Pod)
	after, _ := c.After.(*corev1.Pod)
	if *s == nil {
		*s = services{}
	}
	switch is, was := after != nil && ready(after), before != nil && ready(before); {
	case is && !was:
		(*s)[after.UID] = &service{since: c.At}
	case was && !is && (*s)[before.UID] != nil:
		if at := (*s)[before.UID]; c.At.Sub(at.since) > hidden {
			at.until = c.At
		} else {
			delete(*s, before.UID)
		}
	}
}

// checkStuck: an update waits for the pod, which never was ready, or has not been for long. (UD-11)
func (p *UnitedPast) checkStuck(v *violations, u *united, c *unitedChild, w *Write) {
	pod := w.Before
	first := u.waitsFor(c)
	v.never(first != pod.GetName(), Needless, "pod %s is deleted, and StatefulSet %s waits for %q", pod.GetName(), c.GetName(), first)
	if s := p.served[pod.GetUID()]; s != nil && w.Truth.Now.Sub(s.until) < unreadyFor-hidden {
		v.add(Needless, "pod %s is deleted, which was ready until %s", pod.GetName(), s.until.UTC().Format(time.TimeOnly))
	}
}

// waitsFor is the name of the pod that a StatefulSet waits for. It is the first, in the order of its update, that is
// not ready or does not exist.
func (u *united) waitsFor(c *unitedChild) string {
	set, ok := c.Object.(*appsv1.StatefulSet)
	if !ok {
		return ""
	}
	there := map[int32]*corev1.Pod{}
	for _, pod := range u.state.Pods {
		if controls(c.GetUID(), pod) && pod.Labels[v1alpha1.SubsetRevisionLabel] != "" {
			_, ordinal, _ := cutOrdinal(pod.Name)
			there[ordinal] = pod
		}
	}
	var ordinals []int32
	for i := range min(c.replicas, 100) {
		ordinals = append(ordinals, ptr.Deref(set.Spec.Ordinals, appsv1.StatefulSetOrdinals{}).Start+i)
	}
	if set.Spec.PodManagementPolicy == appsv1.ParallelPodManagement {
		slices.Reverse(ordinals)
	}
	for _, i := range ordinals {
		switch pod := there[i]; {
		case pod == nil:
			return ""
		case !ready(pod) || pod.DeletionTimestamp != nil:
			return pod.Name
		}
	}
	return ""
}

// nameTaken tells whether another owner's pod has the name of one of a workload with ordinals, which waits for that one for ever.
func (u *united) nameTaken(c *unitedChild) bool {
	for i := range min(c.replicas, 100) {
		if pod := u.state.Pods[fmt.Sprint(c.GetName(), "-", i)]; c.resource == "statefulsets" && pod != nil && !metav1.IsControlledBy(pod, c) {
			return true
		}
	}
	return false
}
