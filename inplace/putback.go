// SPDX-License-Identifier: Apache-2.0

package inplace

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/podstate"
)

// putBack returns the containers, sorted, that were given another image and have one from before again. Something else
// has changed it, a mutating webhook or a policy. An image that is neither is what the container gets. An update may be taken back,
// and a mirror has the same name for its image again: that is what the container gets, too. (IP-40)
func putBack(pod *corev1.Pod, state *v1alpha1.State) (names []string) {
	if !isOf(pod, state) {
		return nil
	}
	for _, name := range recorded(state) {
		last := state.LastContainers[name]
		if c := podstate.Container(pod, name); c != nil && last.Image != "" && c.Image != last.Image && slices.Contains(last.Images, c.Image) &&
			(c.Image == last.Images[len(last.Images)-1] || !podstate.Renamed(last.Image, c.Image)) {
			names = append(names, name)
		}
	}
	return names
}

// refreshPutBack puts a pod back into service whose containers run an image that came back, and records that it is still to
// be updated. What else its update has still to do waits for that.
func refreshPutBack(p *podpatch.Patch, pod *corev1.Pod, state *v1alpha1.State, names []string, now time.Time) (Progress, error) {
	Serve(p, pod, now)
	progress := Progress{Waiting: cameBack(pod, state, names), InService: true}
	if state.NextContainerRetries > 0 {
		return progress, nil
	}
	state.NextContainerRetries, p.IfUnchanged = 1, true
	return progress, writeState(p, pod, state)
}

func cameBack(pod *corev1.Pod, state *v1alpha1.State, names []string) string {
	return fmt.Sprintf("container %s: image %s came back after the update had set %s; a mutating webhook or policy changes it back: have that leave out these pods",
		names[0], podstate.Container(pod, names[0]).Image, state.LastContainers[names[0]].Image)
}

// Retry is an update in place of which an image did not stay. (IP-40)
type Retry struct {
	// Update sets the images again. It is for the revision that the pod is labelled with.
	Update *Update
	// Why says in words what came back.
	Why string
	// Tries is how often the update was begun, and Last when that was the last time.
	Tries int32
	Last  time.Time
}

// PutBack returns how the update of a pod is to be tried again whose images did not stay; nil if none is. It decodes
// nothing for other pods.
func PutBack(pod *corev1.Pod) *Retry {
	if value, _, _ := annotation(pod, v1alpha1.StateAnnotation, v1alpha1.LegacyStateAnnotation); !strings.Contains(value, "nextContainerRetries") {
		return nil
	}
	state, err := readState(pod)
	if err != nil || state == nil || state.NextContainerRetries <= 0 || InGrace(pod) {
		return nil
	}
	names := putBack(pod, state)
	if len(names) == 0 {
		return nil
	}
	images := map[string]string{}
	for _, name := range names {
		images[name] = state.LastContainers[name].Image
	}
	return &Retry{
		Update: &Update{Revision: state.Revision, Images: images},
		Why:    cameBack(pod, state, names), Tries: state.NextContainerRetries, Last: state.UpdateTimestamp.Time,
	}
}
