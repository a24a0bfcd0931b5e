// SPDX-License-Identifier: Apache-2.0

package inplace

import (
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/inplace/revision"
	"github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/podstate"
	"github.com/podwright/podwright/lifecycle/readiness"
)

// Progress is how far the in-place update of a pod has come.
type Progress struct {
	// RequeueAfter is when to look again although nothing happens to the pod. It is in whole seconds. It is what is left of
	// the grace period, of the time in which a node may answer a resize, or of Starting. Zero: no need to.
	RequeueAfter time.Duration
	// Complete tells that the pod, as it was read, has taken the whole update.
	// It is true for a pod that was never updated in place.
	Complete bool
	// Waiting says in words what the update waits for; empty when Complete.
	Waiting string
	// GoBack is the revision label that the caller puts back, in the same patch. The
	// update is given up before it has changed anything, and has to begin anew.
	// Empty: the label stays. (IP-34)
	GoBack string
	// Resizing is how far the resize is that the update is not complete without.
	Resizing Resizing
	// InService tells that the update is not complete, and only since the node has not given
	// the pod its new resources yet. The pod is in service with what it has. (IP-38)
	InService bool
}

// String says how far the update is, on one line: "complete", or what it waits for.
func (p Progress) String() string {
	if p.Complete {
		return "complete"
	}
	return "waiting: " + p.Waiting
}

// Refresh continues an in-place update (IP-18, IP-20 to IP-22, IP-24 to
// IP-26). It makes the change when the grace period is over, and starts the next batch
// of containers when the batch before it is done. It puts the pod back into
// service at the end. What is to be written goes into the patch. It is called
// for every pod in every reconcile, and costs nothing for a pod that has nothing to do.
//
// The error says which record of the pod cannot be read, or is missing. Such a
// pod is not changed, but a new one is put into service for the first time. No
// update has taken it out of service, whatever its record says.
func Refresh(p *podpatch.Patch, pod *corev1.Pod, now time.Time) (Progress, error) {
	if Settled(pod) {
		return Progress{Complete: true}, nil
	}
	progress, err := refresh(p, pod, now)
	if err != nil && readiness.HasGate(pod, v1alpha1.InPlaceUpdateReady) && readiness.Condition(pod, v1alpha1.InPlaceUpdateReady) == nil {
		setCondition(p, pod, corev1.ConditionTrue, "", now)
	}
	return progress, err
}

// refresh continues with a pod on which there is something to do.
func refresh(p *podpatch.Patch, pod *corev1.Pod, now time.Time) (Progress, error) {
	state, err := readState(pod)
	if err != nil {
		return Progress{}, err
	}
	if InGrace(pod) {
		return refreshGrace(p, pod, state, now)
	}
	if state != nil {
		requestResize(p, pod, state)
		waiting, err := containersWaiting(pod, state)
		if err != nil || waiting != "" {
			return Progress{Waiting: waiting}, err
		}
		if names := putBack(pod, state); len(names) > 0 {
			return refreshPutBack(p, pod, state, names, now)
		}
		if waiting, left := AnyStarting(pod, state, now); left > 0 {
			return Progress{RequeueAfter: wholeSeconds(left), Waiting: waiting}, nil
		}
		retried := state.NextContainerRetries > 0
		state.NextContainerRetries = 0
		rest, _ := change{state.NextContainerImages, state.NextContainerRefMetadata}.known(pod)
		if !rest.empty() {
			return refreshBatch(p, pod, state, rest, now)
		}
		if len(state.NextContainerResources) > 0 {
			return refreshResize(p, pod, state, now)
		}
		if retried {
			if err := writeState(p, pod, state); err != nil {
				return Progress{}, err
			}
		}
	}
	Serve(p, pod, now)
	return Progress{Complete: true}, nil
}

// Serve puts a pod with the readiness gate back into service. Refresh does so at the end of an update. It is exported for
// those who know that what the update waits for never comes, and that the containers run.
func Serve(p *podpatch.Patch, pod *corev1.Pod, now time.Time) {
	if readiness.HasGate(pod, v1alpha1.InPlaceUpdateReady) && !inService(pod) {
		setCondition(p, pod, corev1.ConditionTrue, "", now)
	}
}

// refreshResize goes on with a pod of whose update only the resize may be left. It stays
// out of service while the node is about to restart containers, and not longer. A node
// that has no room may have none for ever. If the record is of another revision than the
// pod nothing of it is left to do. (IP-38)
func refreshResize(p *podpatch.Patch, pod *corev1.Pod, state *v1alpha1.State, now time.Time) (Progress, error) {
	is, waiting := resizing(pod, state)
	restarts := is == ResizeRequested && restartsForAny(pod, state.NextContainerResources) && !inService(pod)
	if !restarts {
		Serve(p, pod, now)
	}
	if is != ResizeNone {
		after, err := stands(p, pod, state, is, now)
		return Progress{RequeueAfter: after, Waiting: waiting, Resizing: is, InService: !restarts}, err
	}
	state.NextContainerResources, state.ResizeAccepted = nil, false
	return Progress{Complete: true}, writeState(p, pod, state)
}

// Settled recognises, without decoding anything, the pods on which there is
// nothing to do: all but the few that are being updated. Refresh changes nothing of such
// a pod, PutBack finds no image that came back, and no resize is left.
func Settled(pod *corev1.Pod) bool {
	if InGrace(pod) {
		return false
	}
	state, _, found := annotation(pod, v1alpha1.StateAnnotation, v1alpha1.LegacyStateAnnotation)
	if !found { // pods in service are not looked at for the gate: it lies apart in memory
		return inService(pod) || !readiness.HasGate(pod, v1alpha1.InPlaceUpdateReady)
	}
	return inService(pod) && !strings.Contains(state, partOfNextContainer) && !strings.Contains(state, updatesResources) &&
		readiness.HasGate(pod, v1alpha1.InPlaceUpdateReady)
}

// partOfNextContainer stands in every state in which containers wait for anything. It begins
// with a letter that is rare in a state, which makes the search for it fast.
const partOfNextContainer = "xtContainer"

// inService tells whether the condition stands as it does outside of updates.
func inService(pod *corev1.Pod) bool {
	c := readiness.Condition(pod, v1alpha1.InPlaceUpdateReady)
	return c != nil && c.Status == corev1.ConditionTrue && c.Reason == "" && c.Message == ""
}

// serves tells whether a pod with the readiness gate is in service.
func serves(pod *corev1.Pod) bool {
	c := readiness.Condition(pod, v1alpha1.InPlaceUpdateReady)
	return c != nil && c.Status == corev1.ConditionTrue && readiness.HasGate(pod, v1alpha1.InPlaceUpdateReady)
}

// refreshGrace makes the waiting change when its time has come, unless the pod is
// in service by then. (IP-20 to IP-22, IP-34)
func refreshGrace(p *podpatch.Patch, pod *corev1.Pod, state *v1alpha1.State, now time.Time) (Progress, error) {
	if err := checkGraceState(pod, state); err != nil {
		return Progress{}, err
	}
	grace, err := readGrace(pod)
	if err != nil {
		return Progress{}, err
	}
	var progress Progress
	if label := pod.Labels[appsv1.ControllerRevisionHashLabelKey]; !revision.Matches(label, grace.Revision) {
		progress.Waiting = fmt.Sprintf("the change to revision %s is dropped, the pod belongs to revision %q now", grace.Revision, label)
		removeGrace(p)
		return progress, nil
	}
	period := time.Duration(grace.GraceSeconds) * time.Second
	if serves(pod) {
		return backInGrace(p, pod, state, grace.PreviousRevision, period, now)
	}
	if state.UpdateTimestamp.After(now.Add(clockSkew)) {
		return graceOfAnotherClock(p, pod, state, period, now)
	}
	if left := period - now.Sub(state.UpdateTimestamp.Time); left > 0 {
		progress.RequeueAfter = wholeSeconds(left)
		progress.Waiting = fmt.Sprintf("the grace period of %s ends in %s", period, progress.RequeueAfter)
		return progress, nil
	}
	rest, err := graceChange(pod, grace)
	if err != nil {
		return Progress{}, err
	}
	progress.Waiting = "the grace period is over, the change is written"
	p.Metadata = grace.MetaDataPatch
	removeGrace(p)
	beginResize(p, pod, state, grace.ContainerResources)
	return progress, writeBatch(p, pod, state, rest, now)
}

// backInGrace ends the update of a pod that another manager has put back into service during
// its grace period. If that cannot be, since nothing says which revision it had, the pod is taken
// out of service again and the period begins anew. Either is for the pod as it was read only. The
// client that put it back knew an older one. With that write at the latest it learns of the grace
// period, and does not do so again. (IP-34)
func backInGrace(p *podpatch.Patch, pod *corev1.Pod, state *v1alpha1.State, previous string, period time.Duration, now time.Time) (Progress, error) {
	const again = "the pod is in service again although its grace period runs; "
	p.IfUnchanged = true
	if previous != "" {
		removeGrace(p)
		return Progress{GoBack: previous, Waiting: again + "its update begins anew"}, nil
	}
	withdraw(p, pod, now)
	state.UpdateTimestamp = metav1.NewTime(now)
	return Progress{RequeueAfter: wholeSeconds(period), Waiting: again + "the period of " + period.String() + " begins anew"}, writeState(p, pod, state)
}

// clockSkew is how far ahead of the clock a recorded time may be, before it is taken for that of another clock.
const clockSkew = time.Second

// graceOfAnotherClock has a grace period begin now that begins in the future by the clock of the controller. The controller
// before it had a clock that is ahead. It would last as long as the clocks differ. (IP-20)
func graceOfAnotherClock(p *podpatch.Patch, pod *corev1.Pod, state *v1alpha1.State, period time.Duration, now time.Time) (Progress, error) {
	state.UpdateTimestamp, p.IfUnchanged = metav1.NewTime(now), true
	waiting := "the grace period begins in the future, by another clock; the period of " + period.String() + " begins anew"
	return Progress{RequeueAfter: wholeSeconds(period), Waiting: waiting}, writeState(p, pod, state)
}

// checkGraceState says that the state is missing that tells when the grace
// period began. (IP-22)
func checkGraceState(pod *corev1.Pod, state *v1alpha1.State) error {
	if state != nil {
		return nil
	}
	return podError(pod, "annotation %s needs annotation %s beside it, which is missing; remove the first one to drop the change",
		v1alpha1.GraceAnnotation, v1alpha1.StateAnnotation)
}

// graceChange returns what containers get at the end of the grace period.
func graceChange(pod *corev1.Pod, grace *v1alpha1.Grace) (change, error) {
	rest, missing := change{grace.ContainerImages, grace.ContainerRefMetadata}.known(pod)
	if missing != "" {
		return change{}, podError(pod, "annotation %s changes container %q, which the pod does not have; recreate the pod", v1alpha1.GraceAnnotation, missing)
	}
	return rest, nil
}

func wholeSeconds(d time.Duration) time.Duration {
	return (d + time.Second - 1).Truncate(time.Second)
}

// refreshBatch starts the next batch when the containers of the one before it
// are ready (IP-18).
func refreshBatch(p *podpatch.Patch, pod *corev1.Pod, state *v1alpha1.State, rest change, now time.Time) (Progress, error) {
	next := strings.Join(rest.containers(), ", ")
	if state.PreCheckBeforeNext != nil {
		for _, name := range state.PreCheckBeforeNext.ContainersRequiredReady {
			if status := podstate.ContainerStatus(pod, name); status == nil || !status.Ready {
				return Progress{Waiting: fmt.Sprintf("%s: waits for container %s to be ready", next, name)}, nil
			}
		}
	}
	return Progress{Waiting: "the next batch is written, of " + next}, writeBatch(p, pod, state, rest, now)
}

// InGrace tells whether a change of the pod waits for its grace period. No
// other update may begin on such a pod (see Begin).
func InGrace(pod *corev1.Pod) bool {
	_, _, found := annotation(pod, v1alpha1.GraceAnnotation, v1alpha1.LegacyGraceAnnotation)
	return found
}

// PreviousRevision is the revision label that a pod in its grace period had before,
// and may get again: its revision has to be kept. Empty for other pods, and if
// nothing tells. (IP-34)
func PreviousRevision(pod *corev1.Pod) string {
	grace, err := readGrace(pod)
	if err != nil || grace == nil {
		return ""
	}
	return grace.PreviousRevision
}
