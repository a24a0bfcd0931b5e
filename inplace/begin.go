// SPDX-License-Identifier: Apache-2.0

package inplace

import (
	"maps"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/lifecycle/readiness"
)

// BeginOptions tunes Begin.
type BeginOptions struct {
	// Now is the time of the write.
	Now time.Time
	// GracePeriodSeconds is the time between the pod being taken out of
	// service and its containers being changed. Zero and less: no waiting.
	GracePeriodSeconds int32
}

// Begin starts an in-place update of a pod (IP-11 to IP-13, IP-15 to IP-17, IP-19,
// IP-28). It puts into the patch what to write. That is the pod out of service, then the
// record of the update with the first batch of the change. With a grace period it is
// recorded with the change that waits. The caller adds the revision labels of its
// workload, and what its lifecycle asks for, to the same patch.
//
// An update may begin while an earlier one is still running. What the earlier one has not done yet is inherited, as long as the
// new one does not change it. An update that KeepsServing leaves the pod in service, and waits for no grace period: nothing
// stops. (IP-36) A pod in its grace period is refused: see InGrace. A pod on which the update is not Feasible is refused too. The
// patch is not changed then.
func Begin(p *podpatch.Patch, pod *corev1.Pod, u *Update, o BeginOptions) error {
	if InGrace(pod) {
		return podError(pod, "it is in the grace period of an earlier in-place update, whose change would be lost; wait until Refresh has applied it")
	}
	old, err := feasible(pod, u)
	if err != nil {
		return err
	}
	wanted := change{u.Images, u.RefMetadata} // the pod has all containers in it
	resources := maps.Clone(u.Resources)
	state := &v1alpha1.State{
		Revision:              u.Revision,
		UpdateTimestamp:       metav1.NewTime(o.Now),
		UpdateEnvFromMetadata: u.EnvFromMetadata,
	}
	if old != nil {
		wanted = wanted.clone() // so far it is the update's own
		if err := inherit(pod, old, u, state, wanted, o.Now); err != nil {
			return err
		}
		resources = inheritResources(pod, old, resources)
		if isOf(pod, old) && old.Revision == u.Revision && old.NextContainerRetries > 0 {
			state.NextContainerRetries = old.NextContainerRetries + 1
		}
	}
	serves := KeepsServing(pod, u) && wanted.empty()
	if !serves {
		withdraw(p, pod, o.Now)
	}
	if o.GracePeriodSeconds > 0 && !serves {
		grace := newGrace(u, wanted, o.GracePeriodSeconds)
		grace.ContainerResources = resources
		if untouched(pod, old).empty() && !unresized(pod, old) { // otherwise these images are but in the record of the grace period
			grace.PreviousRevision = pod.Labels[appsv1.ControllerRevisionHashLabelKey]
		}
		return beginGrace(p, pod, state, grace)
	}
	p.Metadata = u.MetadataPatch
	beginResize(p, pod, state, resources)
	return writeBatch(p, pod, state, wanted, o.Now)
}

// withdraw takes a pod with the readiness gate out of service (IP-11).
func withdraw(p *podpatch.Patch, pod *corev1.Pod, now time.Time) {
	if !readiness.HasGate(pod, v1alpha1.InPlaceUpdateReady) {
		return
	}
	setCondition(p, pod, corev1.ConditionFalse, v1alpha1.ReasonStartInPlaceUpdate, now)
	readiness.Withdraw(p, pod, now)
}

// setCondition sets InPlaceUpdateReady. The time of the transition changes with
// the status only.
func setCondition(p *podpatch.Patch, pod *corev1.Pod, status corev1.ConditionStatus, reason string, now time.Time) {
	since := metav1.NewTime(now)
	if have := readiness.Condition(pod, v1alpha1.InPlaceUpdateReady); have != nil && have.Status == status && !have.LastTransitionTime.IsZero() {
		since = have.LastTransitionTime
	}
	p.SetCondition(corev1.PodCondition{
		Type: v1alpha1.InPlaceUpdateReady, Status: status, Reason: reason, LastTransitionTime: since,
	})
}

// beginResize records the resources that containers are to get, and has them requested
// after that is written. (IP-36)
func beginResize(p *podpatch.Patch, pod *corev1.Pod, state *v1alpha1.State, resources map[string]corev1.ResourceRequirements) {
	if len(resources) == 0 {
		return
	}
	state.NextContainerResources = resources
	for name, r := range resources {
		p.SetResources(name, r)
	}
	p.IfUnchanged, p.Throughout = true, true
}

// newGrace is the record of a change that waits.
func newGrace(u *Update, wanted change, seconds int32) *v1alpha1.Grace {
	return &v1alpha1.Grace{
		Revision:              u.Revision,
		ContainerImages:       wanted.images,
		ContainerRefMetadata:  wanted.refs,
		MetaDataPatch:         u.MetadataPatch,
		UpdateEnvFromMetadata: u.EnvFromMetadata,
		GraceSeconds:          seconds,
	}
}

// beginGrace records the change instead of making it (IP-19).
func beginGrace(p *podpatch.Patch, pod *corev1.Pod, state *v1alpha1.State, grace *v1alpha1.Grace) error {
	if err := writeState(p, pod, state); err != nil {
		return err
	}
	return writeGrace(p, pod, grace)
}
