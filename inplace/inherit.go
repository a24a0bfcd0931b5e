// SPDX-License-Identifier: Apache-2.0

package inplace

import (
	"encoding/json"
	"maps"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/revision"
	"github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/podstate"
)

// inherit adds to a new update what the one before it has begun and not finished. What the
// new one changes too is left out. Without it the pod would be left with an image of a
// revision before the last. Or it would be called complete while a container has still to
// restart.
//
// A record of a revision that is not the pod's says nothing about the pod.
func inherit(pod *corev1.Pod, old *v1alpha1.State, u *Update, state *v1alpha1.State, wanted change, now time.Time) error {
	if !isOf(pod, old) {
		return nil
	}
	if err := inheritEnv(pod, old, state); err != nil {
		return err
	}
	waiting := untouched(pod, old)
	for name, image := range waiting.images {
		if _, ok := wanted.images[name]; !ok {
			wanted.images[name] = image
		}
	}
	if err := inheritRefs(pod, waiting.refs, u, state, wanted); err != nil {
		return err
	}
	return inheritImages(pod, old, state, now)
}

// isOf tells whether the record of an update, which may be nil, is about the present pod.
func isOf(pod *corev1.Pod, old *v1alpha1.State) bool {
	return old != nil && revision.Matches(pod.Labels[appsv1.ControllerRevisionHashLabelKey], old.Revision)
}

// untouched is what the update before has still to change in the pod.
func untouched(pod *corev1.Pod, old *v1alpha1.State) (waiting change) {
	if isOf(pod, old) {
		waiting, _ = change{old.NextContainerImages, old.NextContainerRefMetadata}.known(pod)
	}
	return waiting
}

// inheritResources adds the resources that the update before has not seen given, unless
// the new one sets them. The given ones are changed.
func inheritResources(pod *corev1.Pod, old *v1alpha1.State, resources map[string]corev1.ResourceRequirements) map[string]corev1.ResourceRequirements {
	if !isOf(pod, old) {
		return resources
	}
	for name, r := range requested(pod, old) {
		if resources == nil {
			resources = map[string]corev1.ResourceRequirements{}
		}
		resources[name] = mergeResources(resources[name], r)
	}
	return resources
}

// unresized tells whether the update before, which may be nil, has still to change resources.
func unresized(pod *corev1.Pod, old *v1alpha1.State) bool {
	return isOf(pod, old) && len(old.NextContainerResources) > 0
}

// inheritImages goes on waiting for containers that have still to start with an image that an earlier update has written. It also
// waits for those whose startup probe the kubelet has still to ask. (IP-45)
func inheritImages(pod *corev1.Pod, old, state *v1alpha1.State, now time.Time) error {
	meta, err := readMeta(pod)
	if err != nil {
		meta = nil // The node agent replaces it; until then nothing is known.
	}
	for _, name := range recorded(old) {
		waiting, err := imageWaiting(pod, name, old, meta)
		if err != nil {
			return err
		}
		if waiting == "" && !isRecorded(pod, name, old) && Starting(pod, name, func() *v1alpha1.State { return old }, now) == 0 {
			continue
		}
		if last, ok := old.LastContainerStatuses[name]; ok {
			if state.LastContainerStatuses == nil {
				state.LastContainerStatuses = map[string]v1alpha1.ContainerStatus{}
			}
			state.LastContainerStatuses[name] = last
		}
		if last, ok := old.LastContainers[name]; ok {
			if state.LastContainers == nil {
				state.LastContainers = map[string]v1alpha1.LastContainer{}
			}
			state.LastContainers[name] = last
		}
	}
	return nil
}

// isRecorded tells whether a container is still the one from before the earlier
// update. Though it runs the image that it should, the kubelet may yet act on
// what the spec said meanwhile.
func isRecorded(pod *corev1.Pod, name string, old *v1alpha1.State) bool {
	id, status := old.LastContainers[name].ContainerID, podstate.ContainerStatus(pod, name)
	return id != "" && status != nil && status.ContainerID == id
}

// inheritEnv goes on waiting for containers that the node agent has still to
// restart, because their environment changed. A pod on a node without an
// agent must not wait for one again.
func inheritEnv(pod *corev1.Pod, old, state *v1alpha1.State) error {
	if !old.UpdateEnvFromMetadata || state.UpdateEnvFromMetadata {
		return nil
	}
	meta, err := readMeta(pod)
	if err != nil || meta == nil {
		return err
	}
	name, err := firstMismatch(pod, meta, envMatches)
	state.UpdateEnvFromMetadata = name != ""
	return err
}

// inheritRefs adds the waiting labels and annotations that the new update
// neither sets nor removes.
func inheritRefs(pod *corev1.Pod, waiting map[string]metav1.ObjectMeta, u *Update, state *v1alpha1.State, wanted change) error {
	if len(waiting) == 0 {
		return nil
	}
	var patch struct {
		Metadata struct{ Labels, Annotations map[string]any }
	}
	if u.MetadataPatch != nil {
		if err := json.Unmarshal(u.MetadataPatch, &patch); err != nil {
			return podError(pod, "the metadata patch of the update to revision %s is not JSON: %w", u.Revision, err)
		}
	}
	labels, annotations := patch.Metadata.Labels, patch.Metadata.Annotations
	for _, ref := range u.RefMetadata {
		labels, annotations = addKeys(labels, ref.Labels), addKeys(annotations, ref.Annotations)
	}
	for name, ref := range waiting {
		left := metav1.ObjectMeta{Labels: unnamed(ref.Labels, labels), Annotations: unnamed(ref.Annotations, annotations)}
		if len(left.Labels)+len(left.Annotations) == 0 {
			continue
		}
		own := wanted.refs[name]
		wanted.refs[name] = metav1.ObjectMeta{
			Labels: union(own.Labels, left.Labels), Annotations: union(own.Annotations, left.Annotations),
		}
		state.UpdateEnvFromMetadata = true
	}
	return nil
}

func addKeys(keys map[string]any, from map[string]string) map[string]any {
	if keys == nil {
		keys = make(map[string]any, len(from))
	}
	for key := range from {
		keys[key] = nil
	}
	return keys
}

// unnamed returns the entries whose keys are not among the given ones.
func unnamed(from map[string]string, keys map[string]any) map[string]string {
	left := maps.Clone(from)
	maps.DeleteFunc(left, func(key, _ string) bool {
		_, found := keys[key]
		return found
	})
	return left
}

func union(a, b map[string]string) map[string]string {
	if len(a)+len(b) == 0 {
		return nil
	}
	both := make(map[string]string, len(a)+len(b))
	maps.Copy(both, b)
	maps.Copy(both, a)
	return both
}
