// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	availabilityv1alpha1 "github.com/podwright/podwright/availability/v1alpha1"
	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/examples/tests/testbed/podstate"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	sidecarv1alpha1 "github.com/podwright/podwright/sidecar/v1alpha1"
	"github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// Change is what has become of one object: a pod, a claim, a revision, a Job, or a workload. Old is
// nil if it is new, New is nil if it is gone. The judge remembers the objects, so they must not be changed any more.
type Change struct{ Old, New metav1.Object }

// Judge judges the changes of one namespace.
type Judge struct {
	strangers map[types.UID]bool
	sets      map[types.UID]*set
	pods      map[types.UID]*corev1.Pod
	claims    map[types.UID]*corev1.PersistentVolumeClaim
	revisions map[types.UID]*appsv1.ControllerRevision

	daemonSets    map[types.UID]*daemonSet
	broadcastJobs map[types.UID]*broadcastJob
	cronJobs      map[types.UID]*cronJob

	sidecarSets map[types.UID]*sidecarSet
	injected    map[types.UID]*corev1.Pod // all pods, with what SidecarSets have made of them
	restarts    map[types.UID]restarts

	budgets map[types.UID]*podBudget

	united    map[types.UID]*unitedDeployment
	children  map[types.UID]metav1.Object // CloneSets and StatefulSets
	spreads   map[types.UID]*workloadSpread
	podStates map[types.UID]*podState

	distributions map[types.UID]*distribution
	namespaces    map[string]*namespace
	copies        map[types.UID]metav1.Object // Secrets and ConfigMaps of the names that are distributed

	ephemeralJobs map[types.UID]*ephemeralJob
	exitCodes     map[string]int32 // of ephemeral containers, by pod and container

	markers map[types.UID]*lifecyclev1alpha1.PodProbeMarker     // each has one probe, is older than its pods, and stays
	probed  map[string]*lifecyclev1alpha1.NodePodProbe          // by node
	reports map[types.UID]map[lifecyclev1alpha1.ProbeState]bool // that count, by pod

	blind map[types.UID]bool // workloads whose specs are not known at the moment
}

// NewJudge returns a judge that has seen nothing yet. Strangers are pods and claims that belong to no workload, and must stay
// as they are.
func NewJudge(strangers ...types.UID) *Judge {
	j := &Judge{
		strangers: map[types.UID]bool{}, sets: map[types.UID]*set{}, pods: map[types.UID]*corev1.Pod{},
		claims: map[types.UID]*corev1.PersistentVolumeClaim{}, revisions: map[types.UID]*appsv1.ControllerRevision{},
		daemonSets: map[types.UID]*daemonSet{}, broadcastJobs: map[types.UID]*broadcastJob{}, cronJobs: map[types.UID]*cronJob{},
		sidecarSets: map[types.UID]*sidecarSet{}, injected: map[types.UID]*corev1.Pod{}, restarts: map[types.UID]restarts{},
		budgets: map[types.UID]*podBudget{},
		united:  map[types.UID]*unitedDeployment{}, children: map[types.UID]metav1.Object{},
		spreads: map[types.UID]*workloadSpread{}, podStates: map[types.UID]*podState{},
		distributions: map[types.UID]*distribution{}, namespaces: map[string]*namespace{}, copies: map[types.UID]metav1.Object{},
		ephemeralJobs: map[types.UID]*ephemeralJob{}, exitCodes: map[string]int32{},
		markers: map[types.UID]*lifecyclev1alpha1.PodProbeMarker{}, probed: map[string]*lifecyclev1alpha1.NodePodProbe{},
		reports: map[types.UID]map[lifecyclev1alpha1.ProbeState]bool{},
	}
	for _, uid := range strangers {
		j.strangers[uid] = true
	}
	return j
}

// See returns what is wrong with changes that have been stored after those seen before; nil if nothing is. One that is
// gap lumps together what has happened between two looks at the objects. What depends on the order of changes, or on a
// moment between them, is not judged then.
func (j *Judge) See(changes []Change, gap bool) (wrong []invariants.Violation) {
	for _, change := range changes {
		wrong = append(wrong, j.seeSidecars(change, gap)...)
		wrong = append(wrong, j.seeEphemeral(change, gap)...)
		wrong = append(wrong, j.seeProbed(change, gap)...)
	}
	changes = ofWorkloads(changes)
	for _, change := range changes {
		j.take(change)
	}
	for _, change := range changes {
		wrong = append(wrong, j.judge(change, gap)...)
	}
	wrong = append(wrong, j.judgeDaemonSets(changes)...)
	wrong = append(wrong, j.judgeBudgets(changes)...)
	for _, change := range changes {
		j.remember(change, gap)
	}
	return wrong
}

// Settled says that the controllers have seen and done all that there is: earlier specs and pods do not count any more. It
// returns what is wrong with what they have come to; nil if nothing is.
func (j *Judge) Settled() (wrong []invariants.Violation) {
	for uid, s := range j.sets {
		s.settled(j.podsOf(uid))
		state := j.truth(uid, Change{})
		v := &verdict{about: s.name}
		for _, violation := range slices.Concat(invariants.CloneSetSettled(state, true, invariants.CloneSetFeatures{}), invariants.StatefulSetSettled(state, true)) {
			v.add(violation)
		}
		wrong = append(wrong, v.wrong...)
	}
	return slices.Concat(wrong, j.judgeJobsSettled(), j.judgeSidecarsSettled(), j.judgeUnitedSettled(), j.judgeSpreadsSettled(), j.judgePodStatesSettled(),
		j.judgeDistributionsSettled(), j.judgeDebugsSettled(), j.judgeProbesSettled())
}

// seeSidecars takes note of a change, and judges what it is to SidecarSets.
func (j *Judge) seeSidecars(c Change, gap bool) []invariants.Violation {
	switch object := c.latest().(type) {
	case *sidecarv1alpha1.SidecarSet:
		j.takeSidecarSet(object)
	case *corev1.Pod:
		take(j.injected, c, object)
		v := &verdict{about: "pod " + podstate.Describe(object, c.New == nil), gap: gap}
		j.judgeSidecars(v, c)
		return v.wrong
	}
	return nil
}

// take takes note of a change.
func (j *Judge) take(c Change) {
	switch object := c.latest().(type) {
	case *v1alpha1.CloneSet:
		j.takeSet(c, object)
		j.takeSpreadSet(object)
	case *v1beta1.StatefulSet:
		j.takeSet(c, object)
		j.unpin(object)
	case *v1alpha1.UnitedDeployment:
		j.takeUnited(object)
	case *distributionv1alpha1.WorkloadSpread:
		j.takeSpread(object)
	case *distributionv1alpha1.PersistentPodState:
		j.takePodState(object)
	case *v1alpha1.DaemonSet:
		j.takeDaemonSet(object)
	case *availabilityv1alpha1.PodUnavailableBudget:
		j.takeBudget(object)
	case *v1alpha1.BroadcastJob:
		j.takeBroadcastJob(object)
	case *v1alpha1.AdvancedCronJob:
		j.takeCronJob(object)
	case *distributionv1alpha1.ResourceDistribution:
		j.takeDistribution(object)
	case *corev1.Namespace:
		j.takeNamespace(object)
	case *corev1.Secret, *corev1.ConfigMap:
		take(j.copies, c, object)
	case *corev1.Pod:
		take(j.pods, c, object)
	case *corev1.PersistentVolumeClaim:
		take(j.claims, c, object)
	case *appsv1.ControllerRevision:
		take(j.revisions, c, object)
	}
}

// takeSet takes note of a version of a CloneSet or StatefulSet. Of one that is gone the garbage collector deletes the pods.
func (j *Judge) takeSet(c Change, object invariants.Object) {
	if c.New == nil {
		delete(j.sets, object.GetUID())
	} else {
		j.setOf(object).count(object)
	}
	take(j.children, c, metav1.Object(object))
}

func take[T metav1.Object](all map[types.UID]T, c Change, object T) {
	if c.New == nil {
		delete(all, object.GetUID())
	} else {
		all[object.GetUID()] = object
	}
}

// remember keeps the pods of a workload as they are after a change of one of them.
func (j *Judge) remember(c Change, gap bool) {
	pod, is := c.latest().(*corev1.Pod)
	if !is {
		return
	}
	if s, uid := j.ownerOf(pod); s != nil {
		s.remember(j.podsOf(uid), gap)
	}
}

func (c Change) latest() metav1.Object {
	if c.New == nil {
		return c.Old
	}
	return c.New
}

func (j *Judge) judge(c Change, gap bool) []invariants.Violation {
	v := &verdict{gap: gap}
	object := c.latest()
	switch {
	case j.strangers[object.GetUID()]:
		v.about = "stranger " + object.GetName()
		j.judgeStranger(v, c)
	default:
		switch object := object.(type) {
		case *corev1.Pod:
			v.about = "pod " + podstate.Describe(object, c.New == nil)
			j.judgePod(v, c)
			j.judgeBroadcastJobPod(v, c)
			j.judgeSpreadPod(v, c)
			j.judgePin(v, c)
		case *corev1.Secret, *corev1.ConfigMap:
			v.about = fmt.Sprintf("%s of %s", content(object), object.GetNamespace())
			j.judgeCopy(v, c)
		case *batchv1.Job:
			v.about = "job " + object.Name
			j.judgeScheduledJob(v, c)
		case *corev1.PersistentVolumeClaim:
			v.about = "claim " + object.Name
			j.judgeClaim(v, c)
		case *v1alpha1.CloneSet, *v1beta1.StatefulSet:
			v.about = "status of " + object.GetName()
			j.judgeStatus(v, c)
			v.about = "workload " + object.GetName()
			j.judgeSubsetWorkload(v, c)
		}
	}
	return v.wrong
}

// setOf returns the workload of which an object is a version.
func (j *Judge) setOf(object metav1.Object) *set {
	if j.sets[object.GetUID()] == nil {
		j.sets[object.GetUID()] = newSet(object.GetName())
	}
	return j.sets[object.GetUID()]
}

// ownerOf returns the workload that controls an object, nil if none does.
func (j *Judge) ownerOf(object metav1.Object) (*set, types.UID) {
	owner := metav1.GetControllerOfNoCopy(object)
	if owner == nil {
		return nil, ""
	}
	return j.sets[owner.UID], owner.UID
}

// podsOf returns all pods that a workload controls, by name.
func (j *Judge) podsOf(uid types.UID) map[string]*corev1.Pod {
	return ownedBy(j.pods, uid)
}

// ownedBy returns the objects that a workload controls, by name.
func ownedBy[T metav1.Object](all map[types.UID]T, uid types.UID) map[string]T {
	owned := map[string]T{}
	for _, object := range all {
		if owner := metav1.GetControllerOfNoCopy(object); owner != nil && owner.UID == uid {
			owned[object.GetName()] = object
		}
	}
	return owned
}
