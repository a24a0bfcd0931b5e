// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/workloads/v1beta1"
)

// StatefulSet judges a write of the controller of StatefulSets, whose past is not known.
func StatefulSet(w *Write) []Violation { return (*Past)(nil).StatefulSet(w) }

// StatefulSet judges a write of the controller of StatefulSets.
func (p *Past) StatefulSet(w *Write) []Violation {
	var v violations
	set, ok := w.spec().(*v1beta1.StatefulSet)
	if !ok {
		return nil // it is gone, and nothing of it is touched but by the garbage collector
	}
	hooks := set.Spec.Lifecycle.DeepCopy()
	if hooks != nil && !(p != nil && p.StatefulSets.PreNormal) {
		hooks.PreNormal = nil // (LC-18)
	}
	checkHooks(&v, w, hooks, set.Spec.Selector)
	checkInPlace(&v, w, hooks)
	checkGraceful(&v, w)
	j := newStatefulSetJudge(&v, w, set, p)
	checkOwnership(&v, w, set.UID, j.mayTouch)
	checkPrecise(&v, w)
	j.checkIdentity()
	j.checkClaim()
	if w.Known == nil {
		return v
	}
	switch w.Resource {
	case "pods":
		j.checkPod()
	case "controllerrevisions":
		j.history().checkWrite(&v, w)
	case "statefulsets":
		j.checkStatus()
	}
	return v
}

type statefulSetJudge struct {
	*violations
	*Write
	past     *Past
	features StatefulSetFeatures
	set      *v1beta1.StatefulSet
	broken   bool // the spec cannot be understood
	ordered  bool
	rolling  *v1beta1.RollingUpdateStatefulSetStrategy // nil with OnDelete
	update   string                                    // the short hash of the update revision

	replicas, partition, unavailable, scaleUnavailable int
	minReadySeconds                                    int32

	start  int   // the first ordinal that may be wanted
	wanted []int // ordinals
	end    int   // the last of them plus one
}

func newStatefulSetJudge(v *violations, w *Write, set *v1beta1.StatefulSet, past *Past) *statefulSetJudge {
	j := &statefulSetJudge{violations: v, Write: w, past: past, set: set, replicas: int(ptr.Deref(set.Spec.Replicas, 1))}
	if past != nil {
		j.features = past.StatefulSets
	}
	j.ordered = set.Spec.PodManagementPolicy != appsv1.ParallelPodManagement
	j.update = updateRevision(&set.Spec.Template, w.revisionsOf(&set.Spec.Template, set.UID, set.Spec.Selector))
	j.broken = selectsNothing(set.Spec.Selector) || j.replicas < 0
	j.readStrategies()
	j.placeOrdinals()
	return j
}

// readStrategies reads the numbers of the spec. (STS-9, STS-15)
func (j *statefulSetJudge) readStrategies() {
	number := func(value *intstr.IntOrString) int { return max(scaled(value, j.replicas, false, &j.broken), 1) }
	j.unavailable, j.scaleUnavailable = 1, int(^uint32(0)>>1)
	if s := j.set.Spec.ScaleStrategy; s != nil && s.MaxUnavailable != nil {
		j.scaleUnavailable = number(s.MaxUnavailable)
	}
	if j.set.Spec.UpdateStrategy.Type == appsv1.OnDeleteStatefulSetStrategyType {
		return
	}
	j.rolling = j.set.Spec.UpdateStrategy.RollingUpdate
	if j.rolling == nil {
		j.rolling = &v1beta1.RollingUpdateStatefulSetStrategy{}
	}
	j.partition = int(ptr.Deref(j.rolling.Partition, 0))
	j.broken = j.broken || j.partition < 0
	j.minReadySeconds = ptr.Deref(j.rolling.MinReadySeconds, 0)
	if j.rolling.MaxUnavailable != nil {
		j.unavailable = number(j.rolling.MaxUnavailable)
	}
}

// ordinalOf returns the ordinal in a name, -1 if it is none of the set's.
func (j *statefulSetJudge) ordinalOf(name string) int {
	digits, ok := strings.CutPrefix(name, j.set.Name+"-")
	n, err := strconv.Atoi(digits)
	if !ok || err != nil || strconv.Itoa(n) != digits {
		return -1
	}
	return n
}

func (j *statefulSetJudge) isWanted(name string) bool {
	return slices.Contains(j.wanted, j.ordinalOf(name))
}

// at returns the pod of an ordinal as the author knew it.
func (j *statefulSetJudge) at(ordinal int) *corev1.Pod { return j.Known.Pods[j.podName(ordinal)] }

// observedAt returns the pod of an ordinal as the author observed it, before its own writes.
func (j *statefulSetJudge) observedAt(ordinal int) *corev1.Pod {
	return j.Observed.Pods[j.podName(ordinal)]
}

func (j *statefulSetJudge) podName(ordinal int) string {
	return j.set.Name + "-" + strconv.Itoa(ordinal)
}

func (j *statefulSetJudge) owned(pod *corev1.Pod) bool {
	return pod != nil && metav1.IsControlledBy(pod, j.set) && matches(j.set.Spec.Selector, pod.Labels)
}

// available tells whether a pod is there and ready for long enough. (STS-8)
func (j *statefulSetJudge) available(pod *corev1.Pod) bool {
	return j.owned(pod) && pod.DeletionTimestamp == nil && j.readyAt(pod, j.Known)
}

// orderly tells whether OrderedReady goes on beyond a pod: it is available, or only its own deletion, which is prepared, keeps it
// from that. (STS-8, STS-36)
func (j *statefulSetJudge) orderly(pod *corev1.Pod) bool {
	return j.available(pod) || j.owned(pod) && preparingDelete(pod) && pod.DeletionTimestamp == nil && readyFor(pod, j.minReadySeconds, j.Known.Now)
}

// readyAt tells whether a pod was ready for long enough, and not aside if that counts. (STS-8, STS-36)
func (j *statefulSetJudge) readyAt(pod *corev1.Pod, s *State) bool {
	return readyFor(pod, j.minReadySeconds, s.Now) && (!j.features.PreNormal || normal(pod))
}

// marked tells whether a user wants a pod deleted, in an update that goes on. (STS-35)
func (j *statefulSetJudge) marked(pod *corev1.Pod) bool {
	return markedForDeletion(pod) && j.features.SpecifiedDelete && j.rolling != nil && !j.rolling.Paused
}

// servesUpdated tells whether a pod is available at the update revision and runs
// its images, and nothing takes it aside.
func (j *statefulSetJudge) servesUpdated(pod *corev1.Pod) bool {
	return j.available(pod) && serves(pod) && runs(pod) && shortHash(pod.Labels[revisionLabel]) == j.update
}

// mayTouch tells what may be written that the set does not own: what it adopts, and the claims of its pods.
func (j *statefulSetJudge) mayTouch(before, after Object) bool {
	if j.Resource == "persistentvolumeclaims" {
		return j.claimOrdinal(before.GetName()) >= 0 && metav1.GetControllerOfNoCopy(before) == nil
	}
	return after != nil && metav1.IsControlledBy(after, j.set) && j.wasOrphan(j.set.Spec.Selector)
}

// checkGraceful: no pod is removed before its kubelet has ended it, or two pods of one name would run.
func checkGraceful(v *violations, w *Write) {
	pod, after := w.pods()
	if w.Resource == "pods" && w.Verb == "delete" && after == nil && pod != nil &&
		pod.DeletionTimestamp == nil && pod.Spec.NodeName != "" && !ended(pod) && ptr.Deref(pod.Spec.TerminationGracePeriodSeconds, 30) > 0 {
		v.add(Identity, "removes pod %s at once, though it may be running", pod.Name)
	}
}

// checkIdentity: a pod has the name of a wanted ordinal, and what belongs to it.
func (j *statefulSetJudge) checkIdentity() {
	before, pod := j.pods()
	if j.Resource != "pods" || pod == nil || j.Verb == "delete" {
		return
	}
	j.never(before == nil && !j.isWanted(pod.Name) && j.Known != nil, Identity,
		"creates pod %s, wanted are %v", pod.Name, j.wanted)
	label := pod.Labels[appsv1.StatefulSetPodNameLabel]
	j.never(before == nil && (label != pod.Name || pod.Spec.Hostname != pod.Name), Identity,
		"pod %s has the label %q and the hostname %q", pod.Name, label, pod.Spec.Hostname)
	had, have := "", pod.Labels[appsv1.PodIndexLabel] // pods of before the label may lack it
	if before != nil {
		had = before.Labels[appsv1.PodIndexLabel]
	}
	j.never(have != strconv.Itoa(j.ordinalOf(pod.Name)) && (before == nil || have != had), Identity,
		"the pod-index of pod %s becomes %q", pod.Name, have)
	j.never(before != nil && before.Labels[appsv1.StatefulSetPodNameLabel] == pod.Name && label != pod.Name, Identity,
		"pod %s gets the name label %q", pod.Name, label)
	for _, claim := range claimsIn(pod) {
		of := j.claimOrdinal(claim)
		j.never(of >= 0 && of != j.ordinalOf(pod.Name), Identity, "pod %s mounts claim %s", pod.Name, claim)
	}
}

// StatefulSetFeatures says what of later releases the controller of StatefulSets is to do.
type StatefulSetFeatures struct {
	// StartOrdinal has ordinals begin with the one that the spec gives. (STS-31)
	StartOrdinal bool
	// PartitionCountsPods makes the partition a number of pods. (STS-33)
	PartitionCountsPods bool
	// UpdateUnavailable lets it update all pods that do not serve. (STS-34)
	UpdateUnavailable bool
	// SpecifiedDelete lets it delete pods that users have marked. (STS-35)
	SpecifiedDelete bool
	// PreNormal has the preNormal hook count, and no pod be available that is aside. (STS-36)
	PreNormal bool
	// PreparingUpdateAsUpdate has it count pods in PreparingUpdate as updated. (STS-37)
	PreparingUpdateAsUpdate bool
	// KeepClaimLabels has claims get the labels of their template. (STS-38)
	KeepClaimLabels bool
	// ResizeClaims has it count the claims of pods by template, and grow them. (STS-40 to STS-44)
	ResizeClaims bool
}

// WantedOrdinals returns the ordinals of the pods that a StatefulSet is to have, for users and models of others. (STS-1, STS-31)
func WantedOrdinals(set *v1beta1.StatefulSet, features StatefulSetFeatures) []int {
	j := &statefulSetJudge{set: set, features: features, replicas: int(ptr.Deref(set.Spec.Replicas, 1))}
	j.placeOrdinals()
	return j.wanted
}

type span struct{ first, last int }

// written is a range as a spec has it.
var written = regexp.MustCompile(`^([0-9]+)-([0-9]+)$`)

// placeOrdinals finds out which ordinals are wanted. (STS-1, STS-31)
func (j *statefulSetJudge) placeOrdinals() {
	if o := j.set.Spec.Ordinals; o != nil && j.features.StartOrdinal {
		j.start = int(o.Start)
		j.broken = j.broken || j.start < 0
	}
	reserved := j.reserved()
	for ordinal, end := j.start, j.start; ; ordinal++ {
		if j.end = end; len(j.wanted) >= j.replicas {
			return
		}
		if !slices.ContainsFunc(reserved, func(s span) bool { return s.first <= ordinal && ordinal <= s.last }) {
			j.wanted, end = append(j.wanted, ordinal), ordinal+1
		}
	}
}

// reserved reads what the spec reserves. (STS-32)
func (j *statefulSetJudge) reserved() (spans []span) {
	for _, entry := range j.set.Spec.Reserved() {
		if entry.Type == intstr.Int {
			spans = append(spans, span{int(entry.IntVal), int(entry.IntVal)})
			continue
		}
		ends := written.FindStringSubmatch(entry.StrVal)
		if ends == nil {
			j.broken = true
			continue
		}
		first, err := strconv.Atoi(ends[1])
		last, err2 := strconv.Atoi(ends[2])
		j.broken = j.broken || err != nil || err2 != nil || first > last
		spans = append(spans, span{first, last})
	}
	return spans
}

// beyond tells whether an ordinal is outside of the wanted ones because of the first and the number of them. (STS-24, STS-31)
func (j *statefulSetJudge) beyond(ordinal int) bool { return ordinal < j.start || ordinal >= j.end }

// below tells whether the partition of an update in order holds the pod of an ordinal back. (STS-17, STS-33)
func (j *statefulSetJudge) below(ordinal int) bool {
	if !j.features.PartitionCountsPods {
		return ordinal < j.partition
	}
	return len(among(slices.Values(j.wanted), func(wanted int) bool { return wanted < ordinal })) < j.partition
}
