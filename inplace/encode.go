// SPDX-License-Identifier: Apache-2.0

package inplace

import (
	"slices"
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
	plain = isPlain(s.Revision)
	data = appendText(append(data, `{"revision":`...), s.Revision)
	data = appendTime(append(data, `,"updateTimestamp":`...), s.UpdateTimestamp)
	for name, status := range s.LastContainerStatuses {
		plain = plain && isPlain(name) && isPlain(status.ImageID)
		data = appendText(append(data, `,"lastContainerStatuses":{`...), name)
		data = append(appendField(append(data, `:{`...), "", "imageID", status.ImageID), `}}`...)
	}
	batch := &s.ContainerBatchesRecord[0]
	plain = plain && arePlain(batch.Containers)
	data = appendTime(append(data, `,"containerBatchesRecord":[{"timestamp":`...), batch.Timestamp)
	data = append(appendList(append(data, `,"containers":`...), batch.Containers), `}]`...)
	for name, last := range s.LastContainers {
		plain = plain && isPlain(name) && isPlain(last.ContainerID) && isPlain(last.Image) && arePlain(last.Images)
		data = append(appendText(append(data, `,"lastContainers":{`...), name), `:{`...)
		comma := ""
		if data = appendField(data, comma, "containerID", last.ContainerID); last.ContainerID != "" {
			comma = ","
		}
		if len(last.Images) > 0 {
			data = appendList(append(append(data, comma...), `"images":`...), last.Images)
			comma = ","
		}
		data = append(appendField(data, comma, "image", last.Image), `}}`...)
	}
	return append(data, '}'), plain
}

// isPlain tells whether a string needs no escaping.
func isPlain(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c < ' ', c > '~', c == '"', c == '\\', c == '<', c == '>', c == '&':
			return false
		}
	}
	return true
}

func arePlain(all []string) bool {
	return !slices.ContainsFunc(all, func(s string) bool { return !isPlain(s) })
}

func appendText(data []byte, s string) []byte {
	return append(append(append(data, '"'), s...), '"')
}

// appendField appends a field behind a comma or nothing, unless it is empty.
func appendField(data []byte, comma, key, value string) []byte {
	if value == "" {
		return data
	}
	data = append(appendText(append(data, comma...), key), ':')
	return appendText(data, value)
}

func appendList(data []byte, values []string) []byte {
	if values == nil {
		return append(data, "null"...)
	}
	data = append(data, '[')
	for i, value := range values {
		if i > 0 {
			data = append(data, ',')
		}
		data = appendText(data, value)
	}
	return append(data, ']')
}

// appendTime appends a time as metav1.Time writes it.
func appendTime(data []byte, t metav1.Time) []byte {
	if t.IsZero() {
		return append(data, "null"...)
	}
	return append(t.UTC().AppendFormat(append(data, '"'), time.RFC3339), '"')
}
