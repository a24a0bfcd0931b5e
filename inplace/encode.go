// SPDX-License-Identifier: Apache-2.0

package inplace

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/podstate"
)

// plainState is the state of most updates, which begin anew: of one container, in one batch. It needs no maps.
type plainState struct {
	revision  string
	began     metav1.Time
	container string
	// imageID, containerID and before are what it ran, and image is its new one.
	imageID, containerID, before, image string
}

// plainOf returns the state of an update that begins to replace the only image of a change; false if it is no plain one. The
// state is as Begin makes it, before anything is recorded.
func plainOf(pod *corev1.Pod, state *v1alpha1.State, batch, rest change) (s plainState, is bool) {
	if len(batch.images) != 1 || len(batch.refs) > 0 || !rest.empty() || state.UpdateEnvFromMetadata || state.UpdateResources ||
		state.ResizeAccepted || state.NextContainerRetries != 0 ||
		len(state.NextContainerResources)+len(state.LastContainerStatuses)+len(state.LastContainers)+len(state.ContainerBatchesRecord) > 0 {
		return s, false
	}
	for name, image := range batch.images {
		s.container, s.image = name, image
	}
	c, status := podstate.Lasting(pod, s.container), podstate.LastingStatus(pod, s.container)
	if c == nil || status == nil || c.Image == s.image {
		return s, false
	}
	s.revision, s.began = state.Revision, state.UpdateTimestamp
	s.imageID, s.containerID, s.before = status.ImageID, status.ContainerID, c.Image
	return s, podstate.IsPlain(s.revision, s.container, s.imageID, s.containerID, s.before, s.image)
}

// append appends the state byte for byte as encoding/json writes it, and faster. The batch is written at a time.
func (s *plainState) append(data []byte, batch metav1.Time) []byte {
	data = podstate.AppendText(append(data, `{"revision":`...), s.revision)
	data = podstate.AppendTime(append(data, `,"updateTimestamp":`...), s.began)
	data = podstate.AppendText(append(data, `,"lastContainerStatuses":{`...), s.container)
	data = append(appendField(append(data, `:{`...), "", "imageID", s.imageID), `}}`...)
	data = podstate.AppendTime(append(data, `,"containerBatchesRecord":[{"timestamp":`...), batch)
	data = append(podstate.AppendText(append(data, `,"containers":[`...), s.container), `]}]`...)
	data = append(podstate.AppendText(append(data, `,"lastContainers":{`...), s.container), `:{`...)
	comma := ""
	if data = appendField(data, comma, "containerID", s.containerID); s.containerID != "" {
		comma = ","
	}
	data = append(podstate.AppendText(append(append(data, comma...), `"images":[`...), s.before), ']')
	return append(appendField(data, ",", "image", s.image), `}}}`...)
}

// appendField appends a field behind a comma or nothing, unless it is empty.
func appendField(data []byte, comma, key, value string) []byte {
	if value == "" {
		return data
	}
	data = append(podstate.AppendText(append(data, comma...), key), ':')
	return podstate.AppendText(data, value)
}
