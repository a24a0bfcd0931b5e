// SPDX-License-Identifier: Apache-2.0

package inplace

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/v1alpha1"
)

// appendState appends a state byte for byte as encoding/json writes it, and faster. It does so for the state of most
// updates: of one container, in one batch, with strings that need no escaping. It says no to any other.
func appendState(data []byte, s *v1alpha1.State) (appended []byte, plain bool) {
	if s.UpdateEnvFromMetadata || s.UpdateResources || s.ResizeAccepted || s.NextContainerRetries != 0 || s.PreCheckBeforeNext != nil ||
		len(s.NextContainerImages)+len(s.NextContainerRefMetadata)+len(s.NextContainerResources) > 0 ||
		len(s.LastContainerStatuses) != 1 || len(s.LastContainers) != 1 || len(s.ContainerBatchesRecord) != 1 {
		return data, false
	}
	w := stateWriter{data: data, plain: true}
	w.raw(`{"revision":`).text(s.Revision).raw(`,"updateTimestamp":`).time(s.UpdateTimestamp)
	for name, status := range s.LastContainerStatuses {
		w.raw(`,"lastContainerStatuses":{`).text(name).raw(`:{`)
		w.field("", "imageID", status.ImageID).raw(`}}`)
	}
	batch := &s.ContainerBatchesRecord[0]
	w.raw(`,"containerBatchesRecord":[{"timestamp":`).time(batch.Timestamp).raw(`,"containers":`).list(batch.Containers).raw(`}]`)
	for name, last := range s.LastContainers {
		w.raw(`,"lastContainers":{`).text(name).raw(`:{`)
		comma := ""
		if w.field(comma, "containerID", last.ContainerID); last.ContainerID != "" {
			comma = ","
		}
		if len(last.Images) > 0 {
			w.raw(comma + `"images":`).list(last.Images)
			comma = ","
		}
		w.field(comma, "image", last.Image).raw(`}}`)
	}
	w.raw(`}`)
	return w.data, w.plain
}

// stateWriter appends JSON. It is plain as long as no string needs escaping.
type stateWriter struct {
	data  []byte
	plain bool
}

func (w *stateWriter) raw(text string) *stateWriter {
	w.data = append(w.data, text...)
	return w
}

// text writes a string.
func (w *stateWriter) text(s string) *stateWriter {
	for i := range len(s) {
		switch c := s[i]; {
		case c < ' ', c > '~', c == '"', c == '\\', c == '<', c == '>', c == '&':
			w.plain = false
		}
	}
	w.data = append(append(append(w.data, '"'), s...), '"')
	return w
}

// field writes a field behind a comma or nothing, unless it is empty.
func (w *stateWriter) field(comma, key, value string) *stateWriter {
	if value == "" {
		return w
	}
	return w.raw(comma).text(key).raw(":").text(value)
}

func (w *stateWriter) list(values []string) *stateWriter {
	if values == nil {
		return w.raw("null")
	}
	w.raw("[")
	for i, value := range values {
		if i > 0 {
			w.raw(",")
		}
		w.text(value)
	}
	return w.raw("]")
}

// time writes a time as metav1.Time does.
func (w *stateWriter) time(t metav1.Time) *stateWriter {
	if t.IsZero() {
		return w.raw("null")
	}
	w.data = append(t.UTC().AppendFormat(append(w.data, '"'), time.RFC3339), '"')
	return w
}
