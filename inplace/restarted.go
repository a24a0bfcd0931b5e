// SPDX-License-Identifier: Apache-2.0

package inplace

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/podstate"
)

// imageWaiting says why a container does not run its new image yet; empty when
// it does. (IP-24) What is known is weighed in this order:
//
//   - Without a status, or before it was started for the first time, the
//     container runs nothing.
//   - The hash of what the container was started from, by the node agent. If it
//     is that of the spec with an image before, the container is an old one. If
//     it is that of the spec, another container than the recorded one is the new
//     one, once the kubelet is not behind. (Of the recorded one, the hashes of all
//     containers together tell, as ever.)
//   - Another image ID than the recorded one, under the name or with the digest
//     that the spec gives, is the new image.
//   - While the kubelet reports on an older generation of the pod than there is
//     (status.observedGeneration, 0 if it reports none), nothing else counts. A
//     container that crashed meanwhile came back with the old image. That it
//     reports on the new one proves nothing: it does before it stops a container.
//   - The image under its name needs no restart to be the right one: back to an
//     image before the kubelet has acted. This holds for the recorded container.
//   - Another image ID under any other name is the new image: runtimes report other names
//     of it. The name of an image that an earlier update set, whose container had still
//     to start, does not. If no image ID was recorded, only a name counts that is known
//     to be another than that of an image before.
//   - The same image ID with another container than the recorded one is the image
//     under a new name, which the runtime does not report. It must be running: a
//     container that waits may have been started before the change.
//
// imageWaiting cannot recognise one case. A container crashed after the change, and was started with the old image before the
// kubelet took note of the change. If the node agent reports, its hash tells. If only the kubelet reports generations, that
// container counts from when the kubelet has taken note until it stops the container. If neither does, it counts at once. The
// number of restarts does not help: it is one more in both cases. Times do not help either, since the clock of the node may be
// another one.
//
// A state that OpenKruise has written has no container to compare with; then the
// same image ID waits for its name.
func imageWaiting(pod *corev1.Pod, name string, state *v1alpha1.State, meta *v1alpha1.RuntimeContainersMeta) (string, error) {
	c, status := podstate.Lasting(pod, name), podstate.LastingStatus(pod, name)
	if status == nil {
		return fmt.Sprintf("container %s: no status is reported", name), nil
	}
	if c == nil {
		return "", nil // It was never one of the pod.
	}
	if !started(status) {
		return fmt.Sprintf("container %s: has not been started", name), nil
	}
	of, is := state.LastContainers[name]
	last := lastContainer{state.LastContainerStatuses[name].ImageID, is, of}
	isNew, isOld, err := byHash(c, status, meta, last.Images)
	if err != nil {
		return "", err
	}
	switch {
	case isOld:
	case status.ImageID != last.imageID && reports(status, c.Image):
		return "", nil
	case behind(pod):
		return fmt.Sprintf("container %s: the kubelet has not taken note of image %s", name, c.Image), nil
	case sameImage(c.Image, status.Image), isNew && last.isOther(status), last.replacedBy(status):
		return "", nil
	}
	return fmt.Sprintf("container %s: still runs image %s", name, status.Image), nil
}

// lastContainer is what is known of a container before its image was replaced.
type lastContainer struct {
	imageID string
	known   bool // The rest was recorded too.
	v1alpha1.LastContainer
}

// isOther tells whether a container that has been started is not the recorded one.
func (l lastContainer) isOther(status *corev1.ContainerStatus) bool {
	return l.known && status.ContainerID != "" && status.ContainerID != l.ContainerID
}

// replacedBy tells whether a container that does not report the name of its
// image must be another one than that before.
func (l lastContainer) replacedBy(status *corev1.ContainerStatus) bool {
	before := func(image string) bool { return reports(status, image) }
	switch {
	case status.ImageID == l.imageID:
		return l.ContainerID != "" && l.isOther(status) && !stopped(status)
	case l.imageID == "":
		return l.known && !slices.ContainsFunc(l.Images, before)
	case len(l.Images) > 1:
		return !slices.ContainsFunc(l.Images[1:], before)
	}
	return true
}

// behind tells whether the status was reported of an older spec than the pod has.
func behind(pod *corev1.Pod) bool {
	observed := pod.Status.ObservedGeneration
	return observed != 0 && observed < pod.Generation
}

// started tells whether a container was started at all. Of one that was not,
// the kubelet reports the image of the spec.
func started(status *corev1.ContainerStatus) bool {
	return status.ImageID != "" || status.ContainerID != "" || status.Ready || status.State.Running != nil
}

func stopped(status *corev1.ContainerStatus) bool {
	return status.State.Waiting != nil || status.State.Terminated != nil
}

// reports tells whether a status names an image, or has its digest.
func reports(status *corev1.ContainerStatus, image string) bool {
	_, digest, pinned := strings.Cut(image, "@")
	return sameImage(image, status.Image) || pinned && strings.HasSuffix(status.ImageID, "@"+digest)
}

// byHash tells whether a container was started from the present spec, or from
// the spec with one of the images before. Neither if the node agent has not
// reported on the container, or has another hash.
func byHash(c *corev1.Container, status *corev1.ContainerStatus, meta *v1alpha1.RuntimeContainersMeta, before []string) (isNew, isOld bool, err error) {
	if meta == nil {
		return false, false, nil
	}
	running := runtimeContainer(meta, c.Name)
	if running == nil || running.ContainerID != status.ContainerID {
		return false, false, nil
	}
	if isNew, err = plainMatches(nil, c, running.Hashes); isNew || err != nil {
		return isNew, false, err
	}
	was := *c
	for _, was.Image = range before {
		if isOld, err = plainMatches(nil, &was, running.Hashes); isOld || err != nil {
			return false, isOld, err
		}
	}
	return false, false, nil
}
