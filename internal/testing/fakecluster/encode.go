// SPDX-License-Identifier: Apache-2.0

package fakecluster

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// forms are other forms of a stored object, which never changes. The server makes them at the first request, and keeps
// them as long as the object is the newest.
type forms struct {
	json []byte
	pod  *corev1.Pod
}

// formsOf returns the forms of an object. The lock is held.
func (s *Server) formsOf(object *unstructured.Unstructured) *forms {
	if f := s.forms[object]; f != nil {
		return f
	}
	return &forms{}
}

// encoded returns an object, or whatever else is answered, as JSON, which is not to be
// changed. The lock is held.
func (s *Server) encoded(object any) ([]byte, error) {
	stored, ok := object.(*unstructured.Unstructured)
	if !ok {
		return appendJSON(nil, object)
	}
	f := s.formsOf(stored)
	if f.json == nil {
		var err error
		if f.json, err = appendJSON(nil, stored.Object); err != nil {
			return nil, err
		}
	}
	return f.json, nil
}

// shown returns an answer as JSON, of an object only the metadata if no more was asked for. The lock is held.
func (s *Server) shown(object any, m media) ([]byte, error) {
	if stored, ok := object.(*unstructured.Unstructured); ok && m.metadata {
		return appendJSON(nil, onlyMetadata(stored.Object))
	}
	return s.encoded(object)
}

// pod returns a stored pod, which is not to be changed. The lock is held.
func (s *Server) pod(stored *unstructured.Unstructured) (*corev1.Pod, error) {
	f := s.formsOf(stored)
	if f.pod == nil {
		pod, err := podOf(stored)
		if err != nil {
			return nil, err
		}
		f.pod = pod
	}
	return f.pod, nil
}

// appendJSON appends what encoding/json makes of a value: several times as fast for
// those of which objects consist.
func appendJSON(data []byte, value any) ([]byte, error) {
	var err error
	switch value := value.(type) {
	case map[string]any:
		if value == nil {
			return append(data, "null"...), nil
		}
		data = append(data, '{')
		for i, key := range slices.Sorted(maps.Keys(value)) {
			if i > 0 {
				data = append(data, ',')
			}
			if data, err = appendString(data, key); err != nil {
				return nil, err
			}
			if data, err = appendJSON(append(data, ':'), value[key]); err != nil {
				return nil, err
			}
		}
		return append(data, '}'), nil
	case []any:
		if value == nil {
			return append(data, "null"...), nil
		}
		data = append(data, '[')
		for i, item := range value {
			if i > 0 {
				data = append(data, ',')
			}
			if data, err = appendJSON(data, item); err != nil {
				return nil, err
			}
		}
		return append(data, ']'), nil
	case string:
		return appendString(data, value)
	case int64:
		return strconv.AppendInt(data, value, 10), nil
	case bool:
		return strconv.AppendBool(data, value), nil
	case nil:
		return append(data, "null"...), nil
	case json.RawMessage:
		return append(data, value...), nil
	default:
		other, err := json.Marshal(value)
		return append(data, other...), err
	}
}

func appendString(data []byte, s string) ([]byte, error) {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			escaped, err := json.Marshal(s)
			return append(data, escaped...), err
		}
	}
	return append(append(append(data, '"'), s...), '"'), nil
}
