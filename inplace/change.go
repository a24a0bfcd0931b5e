// SPDX-License-Identifier: Apache-2.0

package inplace

import (
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/podstate"
)

// change is what containers of a pod still have to get, by container name.
type change struct {
	images map[string]string
	refs   map[string]metav1.ObjectMeta
}

func (c change) empty() bool { return len(c.images) == 0 && len(c.refs) == 0 }

func (c change) has(container string) bool {
	_, image := c.images[container]
	_, ref := c.refs[container]
	return image || ref
}

// containers returns the names of the containers that get something, sorted.
func (c change) containers() []string {
	names := slices.AppendSeq(make([]string, 0, len(c.images)+len(c.refs)), maps.Keys(c.images))
	names = slices.AppendSeq(names, maps.Keys(c.refs))
	slices.Sort(names)
	return slices.Compact(names)
}

// known returns the part of the change that concerns containers of the pod,
// and the first container that the pod does not have. If the pod has all, that is the change itself.
func (c change) known(pod *corev1.Pod) (part change, missing string) {
	if c.concerns(pod) { // as most are
		return c, ""
	}
	part = change{images: map[string]string{}, refs: map[string]metav1.ObjectMeta{}}
	for _, name := range c.containers() {
		if podstate.Container(pod, name) == nil {
			missing = name
			continue
		}
		part.take(c, name)
	}
	return part, missing
}

// concerns tells whether the pod has all containers of the change.
func (c change) concerns(pod *corev1.Pod) bool {
	for name := range c.images {
		if podstate.Container(pod, name) == nil {
			return false
		}
	}
	for name := range c.refs {
		if podstate.Container(pod, name) == nil {
			return false
		}
	}
	return true
}

// clone returns a copy to which more can be added.
func (c change) clone() change {
	out := change{images: make(map[string]string, len(c.images)), refs: make(map[string]metav1.ObjectMeta, len(c.refs))}
	maps.Copy(out.images, c.images)
	maps.Copy(out.refs, c.refs)
	return out
}

func (c change) take(from change, container string) {
	if image, ok := from.images[container]; ok {
		c.images[container] = image
	}
	if ref, ok := from.refs[container]; ok {
		c.refs[container] = ref
	}
}

// writeBatch adds to the patch the first batch of the change. To the state it adds the
// rest, what the batch is waited for with, and what it replaces (IP-13, IP-15 to IP-17).
// The state is written too. The change names containers of the pod only.
func writeBatch(p *podpatch.Patch, pod *corev1.Pod, state *v1alpha1.State, c change, now time.Time) error {
	batch, rest := nextBatch(pod, c)
	setImages(p, batch.images)
	if plain, is := plainOf(pod, state, batch, rest); is {
		p.IfUnchanged, p.Throughout = true, true // as with recordImages
		writePlain(p, &plain, metav1.NewTime(now))
		return nil
	}
	recordImages(p, pod, state, batch.images)
	for name, image := range batch.images {
		if last, ok := state.LastContainers[name]; ok {
			last.Image = image
			state.LastContainers[name] = last
		}
	}
	for _, ref := range batch.refs {
		for key, value := range ref.Labels {
			p.SetLabel(key, value)
		}
		for key, value := range ref.Annotations {
			p.SetAnnotation(key, value)
		}
	}
	names := batch.containers()
	if names == nil {
		names = []string{} // Written as [] and not as null.
	}
	state.NextContainerImages, state.NextContainerRefMetadata = rest.images, rest.refs
	state.PreCheckBeforeNext = nil
	if !rest.empty() {
		state.PreCheckBeforeNext = &v1alpha1.PreCheck{ContainersRequiredReady: names}
	}
	state.ContainerBatchesRecord = append(state.ContainerBatchesRecord,
		v1alpha1.ContainerBatch{Timestamp: metav1.NewTime(now), Containers: names})
	return writeState(p, pod, state)
}

// setImages has a patch set images. If it sets no others, it shares the map, which is that of the update for most pods.
func setImages(p *podpatch.Patch, images map[string]string) {
	if len(p.Images) == 0 && len(images) > 0 {
		p.Images = images
		return
	}
	for name, image := range images {
		p.SetImage(name, image)
	}
}

// mostImages is how many images of a container are recorded. A pod whose images are never pulled may be updated for ever,
// and its annotations are limited. Kubelets start what the spec says: one that is older than that is not started any more.
const mostImages = 10

// recordImages stores what the containers run whose image is about to change
// (IP-13), and which containers these are. That was read from the pod, so the
// write is refused when the pod has changed since.
func recordImages(p *podpatch.Patch, pod *corev1.Pod, state *v1alpha1.State, images map[string]string) {
	for name, image := range images {
		c := podstate.Lasting(pod, name)
		if c == nil || c.Image == image {
			continue
		}
		// An entry that is there was inherited: the container may still run any of its images.
		last := v1alpha1.LastContainer{Images: slices.Clone(state.LastContainers[name].Images)}
		if !slices.Contains(last.Images, c.Image) {
			last.Images = append(last.Images, c.Image)
		}
		if len(last.Images) > mostImages { // the first is what the container ran, the last what it is to run
			last.Images = slices.Delete(last.Images, 1, 2)
		}
		if status := podstate.LastingStatus(pod, name); status != nil {
			last.ContainerID = status.ContainerID
			if state.LastContainerStatuses == nil {
				state.LastContainerStatuses = map[string]v1alpha1.ContainerStatus{}
			}
			state.LastContainerStatuses[name] = v1alpha1.ContainerStatus{ImageID: status.ImageID}
		}
		if state.LastContainers == nil {
			state.LastContainers = map[string]v1alpha1.LastContainer{}
		}
		state.LastContainers[name] = last
		p.IfUnchanged, p.Throughout = true, true
	}
}

func podError(pod *corev1.Pod, format string, args ...any) error {
	return fmt.Errorf("pod %s/%s: %w", pod.Namespace, pod.Name, fmt.Errorf(format, args...))
}
