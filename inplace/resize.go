// SPDX-License-Identifier: Apache-2.0

package inplace

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/podstate"
	"github.com/podwright/podwright/lifecycle/readiness"
)

// Resizing is how far a resize has come that a pod has still to get. (IP-38)
type Resizing string

// How far a resize has come.
const (
	// ResizeNone: there is none, or it is done.
	ResizeNone Resizing = ""
	// ResizeRequested: it is to be requested, the node has not taken note of it, or it is
	// at it.
	ResizeRequested Resizing = "Requested"
	// ResizeDeferred: the node has no room for it now, and does it when there is.
	ResizeDeferred Resizing = "Deferred"
	// ResizeFailing: the node has room, and fails to do it; it goes on trying.
	ResizeFailing Resizing = "Failing"
	// ResizeInfeasible: the node can never do it.
	ResizeInfeasible Resizing = "Infeasible"
)

// KeepsServing tells whether an update can be made with the pod in service. Such an update changes
// cpu and memory of containers that need no restart for it, and otherwise at most metadata
// that no container refers to. The pod is asked for its resize policies. (IP-36)
func KeepsServing(pod *corev1.Pod, u *Update) bool {
	return u != nil && len(u.Resources) > 0 && len(u.Images)+len(u.RefMetadata) == 0 && !restartsForAny(pod, u.Resources)
}

// restartsForAny tells whether a container restarts when these resources change.
func restartsForAny(pod *corev1.Pod, resources map[string]corev1.ResourceRequirements) bool {
	for name, r := range resources {
		if c := podstate.Container(pod, name); c != nil && restartsFor(c, r) {
			return true
		}
	}
	return false
}

// unresizable says why the pod cannot get the resources of an update although others of
// its workload may; empty if it can. (IP-37)
func unresizable(pod *corev1.Pod, u *Update) string {
	if len(u.Resources) == 0 {
		return ""
	}
	for i := range pod.Status.ContainerStatuses {
		if s := &pod.Status.ContainerStatuses[i]; s.Ready && s.Resources == nil {
			return fmt.Sprintf("its node does not report the resources of container %q, so it cannot change them", s.Name)
		}
	}
	return resizeForbidden(&pod.Spec, resized(&pod.Spec, u.Resources))
}

// resized returns the spec with other resources. Of the containers no more is copied than that.
func resized(spec *corev1.PodSpec, resources map[string]corev1.ResourceRequirements) *corev1.PodSpec {
	out := *spec
	out.Containers = slices.Clone(spec.Containers)
	for i := range out.Containers {
		if r, ok := resources[out.Containers[i].Name]; ok {
			out.Containers[i].Resources = mergeResources(r, out.Containers[i].Resources)
		}
	}
	return &out
}

// resizing says how far the resize is that a state records, and in words what it waits
// for. (IP-38)
func resizing(pod *corev1.Pod, state *v1alpha1.State) (Resizing, string) {
	if !isOf(pod, state) || len(state.NextContainerResources) == 0 {
		return ResizeNone, ""
	}
	if names := slices.Sorted(maps.Keys(unrequested(pod, state))); len(names) > 0 {
		return ResizeRequested, fmt.Sprintf("container %s: its resources are still to be requested", names[0])
	}
	pending := readiness.Condition(pod, corev1.PodResizePending)
	switch {
	case behind(pod) || stale(pod, pending):
		return ResizeRequested, "the kubelet has not taken note of the new resources"
	case holds(pending) && pending.Reason == corev1.PodReasonInfeasible:
		return ResizeInfeasible, "the node cannot give the pod its new resources: " + why(pending)
	case holds(pending) && pending.Reason == corev1.PodReasonDeferred:
		return ResizeDeferred, "the node gives the pod its new resources as soon as it has room for them: " + why(pending)
	case holds(pending):
		return ResizeRequested, "the kubelet decides about the new resources: " + why(pending)
	}
	switch progress := readiness.Condition(pod, corev1.PodResizeInProgress); {
	case holds(progress) && progress.Reason == corev1.PodReasonError:
		return ResizeFailing, "the node fails to give the pod its new resources, and goes on trying: " + why(progress)
	case holds(progress):
		return ResizeRequested, "the node gives the pod its new resources"
	}
	if name := unlike(pod, state); name != "" {
		return ResizeRequested, fmt.Sprintf("container %s: does not have its new resources yet", name)
	}
	return ResizeNone, ""
}

// unlike returns the first container, by name, that is reported with other resources than
// those of the spec that were to change. One without a report, which does not run, gets
// those of the spec when it starts.
func unlike(pod *corev1.Pod, state *v1alpha1.State) string {
	for name, given := range requested(pod, state) {
		status := podstate.ContainerStatus(pod, name)
		if status != nil && status.Resources != nil && !emptyResources(differing(given, *status.Resources)) {
			return name
		}
	}
	return ""
}

// requested returns, by the names of containers in their order, the quantities that they are to get. A
// state records them. Once their request was accepted, those of the spec count in their place.
func requested(pod *corev1.Pod, state *v1alpha1.State) iter.Seq2[string, corev1.ResourceRequirements] {
	return func(yield func(string, corev1.ResourceRequirements) bool) {
		for _, name := range slices.Sorted(maps.Keys(state.NextContainerResources)) {
			given := state.NextContainerResources[name]
			c := podstate.Container(pod, name)
			if c == nil {
				continue
			}
			if state.ResizeAccepted {
				given = quantitiesOf(given, c.Resources)
			}
			if !yield(name, given) {
				return
			}
		}
	}
}

// unrequested returns the resources of a state that the spec of the pod does not have yet, and that
// are still to be requested.
func unrequested(pod *corev1.Pod, state *v1alpha1.State) (missing map[string]corev1.ResourceRequirements) {
	if state.ResizeAccepted {
		return nil
	}
	for name, wanted := range state.NextContainerResources {
		c := podstate.Container(pod, name)
		if c == nil {
			continue
		}
		if left := differing(wanted, c.Resources); !emptyResources(left) {
			if missing == nil {
				missing = map[string]corev1.ResourceRequirements{}
			}
			missing[name] = left
		}
	}
	return missing
}

// requestResize puts into the patch what is still to be requested: a manager may have
// ended after it had written the state. Only for the pod as it was read, since another one
// may have gone on.
func requestResize(p *podpatch.Patch, pod *corev1.Pod, state *v1alpha1.State) {
	if !isOf(pod, state) {
		return
	}
	for name, r := range unrequested(pod, state) {
		p.SetResources(name, r)
		p.IfUnchanged = true
	}
}

// Resized puts into the patch what is to be recorded after the API server has accepted the resize
// of a pod. It records that the pod has other quantities than those requested, since a policy has changed
// them. They are what the containers get. The pod is that of the answer. The patch stays empty
// if the pod has what was requested, and if nothing was. (IP-38)
func Resized(p *podpatch.Patch, pod *corev1.Pod) error {
	state, err := readState(pod)
	if err != nil || !isOf(pod, state) || len(unrequested(pod, state)) == 0 {
		return err
	}
	state.ResizeAccepted, p.IfUnchanged = true, true
	return writeState(p, pod, state)
}

// resizeStands is how long after the beginning of an update a resize in the spec counts as accepted,
// though the node has not answered. What others set later stays.
const resizeStands = time.Minute

// stands records that the request of a resize is not to be repeated. The spec has it, and the node has decided about
// it or had time to; after is that time if it is not over. What others set from then on is what the containers get.
// (IP-38)
func stands(p *podpatch.Patch, pod *corev1.Pod, state *v1alpha1.State, is Resizing, now time.Time) (after time.Duration, err error) {
	if state.ResizeAccepted || !isOf(pod, state) || len(unrequested(pod, state)) > 0 {
		return 0, nil
	}
	if left := resizeStands - now.Sub(state.UpdateTimestamp.Time); is == ResizeRequested && left > 0 {
		return wholeSeconds(left), nil
	}
	state.ResizeAccepted, p.IfUnchanged = true, true
	return 0, writeState(p, pod, state)
}

// BeingResized tells, without decoding anything, whether a pod has resources of its last update
// in place still to get.
func BeingResized(pod *corev1.Pod) bool {
	state, _, _ := annotation(pod, v1alpha1.StateAnnotation, v1alpha1.LegacyStateAnnotation)
	return strings.Contains(state, "nextContainerResources") || strings.Contains(state, updatesResources)
}

// updatesResources stands in a state of OpenKruise 1.8 and later if the update changes cpu or memory.
const updatesResources = `"updateResources":true`

// takeOverResize lists in a state of OpenKruise what the containers get: they may have still to get it. It has requested
// that before it wrote the state, but for the containers of later batches. (IP-43)
func takeOverResize(pod *corev1.Pod, state *v1alpha1.State) {
	if !state.UpdateResources {
		return
	}
	state.UpdateResources = false // the list says it from now on
	for i := range pod.Spec.Containers {
		c := &pod.Spec.Containers[i]
		given := withCompute(corev1.ResourceRequirements{}, c.Resources)
		if _, later := state.NextContainerResources[c.Name]; later || emptyResources(given) {
			continue
		}
		if state.NextContainerResources == nil {
			state.NextContainerResources = map[string]corev1.ResourceRequirements{}
		}
		state.NextContainerResources[c.Name] = given
	}
}

// Unresized says in words why a pod that was updated in place does not get its new
// resources, ever. The node said so, or refused, if not nil, of the API server, did so
// before the node learned of it. Empty if it gets them or has to get none. It decodes
// nothing for a pod of which neither is true. (IP-39)
func Unresized(pod *corev1.Pod, refused error) string {
	pending := readiness.Condition(pod, corev1.PodResizePending)
	if infeasible := holds(pending) && pending.Reason == corev1.PodReasonInfeasible; !infeasible && refused == nil {
		return ""
	}
	state, err := readState(pod)
	if err != nil || state == nil {
		return ""
	}
	is, waiting := resizing(pod, state)
	switch {
	case is == ResizeInfeasible:
		return waiting
	case is != ResizeNone && refused != nil && len(unrequested(pod, state)) > 0:
		return refused.Error()
	}
	return ""
}

func holds(c *corev1.PodCondition) bool { return c != nil && c.Status == corev1.ConditionTrue }

// stale tells whether a condition was set for an older spec than the pod has.
func stale(pod *corev1.Pod, c *corev1.PodCondition) bool {
	return c != nil && c.ObservedGeneration != 0 && c.ObservedGeneration < pod.Generation
}

// why is what a condition says.
func why(c *corev1.PodCondition) string {
	if c.Message != "" {
		return c.Message
	}
	return "reason " + c.Reason
}
