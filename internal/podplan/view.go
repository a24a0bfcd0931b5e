// SPDX-License-Identifier: Apache-2.0

package podplan

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace"
	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/lifecycle"
	"github.com/podwright/podwright/lifecycle/readiness"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	workloadsv1alpha1 "github.com/podwright/podwright/workloads/v1alpha1"
)

// View is a pod with what the steps that all kinds share know of it. The view of
// a kind embeds it.
type View struct {
	*corev1.Pod
	// Revision is the value of its revision label, and State that of its lifecycle; known after Observe.
	Revision string
	State    lifecyclev1alpha1.StateType

	since time.Time // since when it waits, if it waits for anything; known after TellSince

	Updated   bool // it is at the update revision
	Available bool // as its kind says

	// What else Observe reads. Of a pod that was not observed it is false, and costs the steps more.
	ready   bool // it is ready, whatever its state
	serves  bool // and its state is normal
	calm    bool // its updates in place, if it had any, are over
	settled bool // Refresh finds nothing to do

	Updating   bool // an in-place update is under way, or that cannot be told; known after Refresh
	Unreadable bool // its record of an in-place update cannot be read

	// unresized says why the pod never gets the cpu and memory of the update revision, whose label
	// it has. It is not at that revision, and cannot come to it in place. Known if Reaches was
	// asked; empty otherwise.
	unresized string
	// retry is how to update a pod again that has the label of the update revision, and of whose images some did
	// not stay. It is nil for others. Known if Reaches was asked.
	retry *inplace.Retry

	Patch     *podpatch.Patch // nil: nothing to change yet
	Kind      rollout.PatchKind
	ForUpdate bool // the patch begins an update, or has the pod prepared for one
	inService bool // the update that it begins leaves the pod in service
	Deleted   bool // the plan deletes it
	Otherwise bool // the patch belongs into Plan.Otherwise
}

// Observe reads the pod once for all steps: of most pods, which are settled, they need no more.
func (v *View) Observe(pod *corev1.Pod) {
	v.Pod, v.Revision, v.State, v.ready, v.calm = pod, pod.Labels[RevisionLabel], lifecycle.StateOf(pod), lifecycle.Ready(pod), inplace.Settled(pod)
	normal := v.State == "" || v.State == lifecyclev1alpha1.StateNormal
	v.serves = v.ready && normal
	v.settled = normal && v.calm && readiness.Settled(pod)
}

// revision is the value of its revision label, whether it was observed or not.
func (v *View) revision() string {
	if v.Revision != "" {
		return v.Revision
	}
	return v.Labels[RevisionLabel]
}

// Waits returns the wait of a pod, once TellSince knows it.
func (v *View) Waits(reason *rollout.Reason) rollout.Wait {
	wait := rollout.PodWaits(v.Pod, reason)
	wait.Since = v.since
	return wait
}

// Change returns the patch of a pod, to be filled in. What the patch is for is
// the latest kind.
func (v *View) Change(kind rollout.PatchKind) *podpatch.Patch {
	if v.Patch == nil {
		v.Patch = &podpatch.Patch{}
	}
	v.Kind = kind
	return v.Patch
}

// dropEmpty forgets a patch that nothing was put into.
func (v *View) dropEmpty() {
	if v.Patch.Empty() {
		v.Patch = nil
	}
}

// UpdatedReady tells whether a pod is ready at the update revision.
func (v *View) UpdatedReady() bool { return v.Updated && lifecycle.Ready(v.Pod) }

// Serves tells whether an observed pod is available, but perhaps not for minReadySeconds.
func (v *View) Serves() bool { return v.serves }

// Ready tells whether an observed pod is ready, whatever its state.
func (v *View) Ready() bool { return v.ready }

// Settled tells whether an observed pod is one of which Refresh finds nothing to record.
func (v *View) Settled() bool { return v.settled }

// Substituted tells whether a pod waits for a node, and another subset of its UnitedDeployment runs one instead of it: no user
// misses it. (UD-21.3)
func (v *View) Substituted() bool {
	return v.Spec.NodeName == "" && v.Labels[workloadsv1alpha1.ReservedPodLabel] == "true"
}

// PreparedUpdate tells whether the pod's update is being prepared.
func (v *View) PreparedUpdate() bool {
	return lifecycle.StateOf(v.Pod) == lifecyclev1alpha1.StatePreparingUpdate
}
