// SPDX-License-Identifier: Apache-2.0

package fakecluster

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
)

const (
	mediaJSON     = "application/json"
	mediaProtobuf = "application/vnd.kubernetes.protobuf"
)

// kinds are the Go types of Kubernetes' own kinds, which alone have a form in protobuf.
var kinds = func() *runtime.Scheme {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{scheme.AddToScheme, metav1.AddMetaToScheme} {
		if err := add(s); err != nil {
			panic(err) // two kinds of one name
		}
	}
	return s
}()

var (
	protobufs    = protobuf.NewSerializer(kinds, kinds)
	rawProtobufs = protobuf.NewRawSerializer(kinds, kinds)
)

// media is how an answer is written.
type media struct {
	// protobuf says that Kubernetes' own kinds are written so; others have no such form.
	protobuf bool
	// metadata says that of objects only metadata is written.
	metadata bool
}

// mediaOf finds the form that a client asks for first and that a resource has. It returns an error if the client takes none that
// the resource has.
func mediaOf(h *http.Request, r *storage) (media, error) {
	header := h.Header.Get("Accept")
	if header == "" {
		return media{}, nil
	}
	for accepted := range strings.SplitSeq(header, ",") {
		name, parameters, _ := strings.Cut(strings.TrimSpace(accepted), ";")
		m := media{protobuf: name == mediaProtobuf, metadata: strings.Contains(parameters, "as=PartialObjectMetadata")}
		switch {
		case strings.Contains(parameters, "as=Table"):
		case name == mediaJSON, name == "*/*", name == "application/*":
			return m, nil
		case m.protobuf && (m.metadata || r == nil || r.Type != nil):
			return m, nil
		}
	}
	return media{}, failure(http.StatusNotAcceptable, metav1.StatusReasonNotAcceptable,
		"fakecluster writes %s, and %s for Kubernetes' own kinds; accepted is %s", mediaJSON, mediaProtobuf, header)
}

// contentType is the header of an answer.
func (m media) contentType(watch bool) string {
	switch {
	case m.protobuf && watch:
		return mediaProtobuf + ";stream=watch"
	case m.protobuf:
		return mediaProtobuf
	}
	return mediaJSON
}

// written returns an object that is there in JSON in the form of an answer.
func (m media) written(data []byte) ([]byte, error) {
	if !m.protobuf {
		return data, nil
	}
	object, err := typed(data)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = protobufs.Encode(object, &out)
	return out.Bytes(), err
}

// event returns one event of a watch.
func (m media) event(kind watch.EventType, data []byte) ([]byte, error) {
	if !m.protobuf {
		return fmt.Appendf(nil, "{\"type\":%q,\"object\":%s}\n", kind, data), nil
	}
	object, err := m.written(data)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := rawProtobufs.Encode(&metav1.WatchEvent{Type: string(kind), Object: runtime.RawExtension{Raw: object}}, &out); err != nil {
		return nil, err
	}
	return append(binary.BigEndian.AppendUint32(nil, uint32(out.Len())), out.Bytes()...), nil
}

// shown returns an answer as JSON, of an object only the metadata if no more was asked for.
func (m media) shown(object any) ([]byte, error) {
	if stored, ok := object.(*unstructured.Unstructured); ok {
		if object = stored.Object; m.metadata {
			object = onlyMetadata(stored.Object)
		}
	}
	return json.Marshal(object)
}

// onlyMetadata leaves of an object what clients get that ask for no more.
func onlyMetadata(object map[string]any) map[string]any {
	return map[string]any{"kind": "PartialObjectMetadata", "apiVersion": metav1.SchemeGroupVersion.String(), "metadata": object["metadata"]}
}

// typed reads an object of a kind of Kubernetes from JSON.
func typed(data []byte) (runtime.Object, error) {
	var meta metav1.TypeMeta
	if err := json.Unmarshal(data, &meta); err != nil {
		return nil, err
	}
	object, err := kinds.New(meta.GroupVersionKind())
	if err != nil {
		return nil, err
	}
	return object, json.Unmarshal(data, object)
}

// fromProtobuf returns the body of a request in JSON.
func fromProtobuf(body []byte) ([]byte, error) {
	object, kind, err := protobufs.Decode(body, nil, nil)
	if err != nil {
		return nil, badRequest(err)
	}
	object.GetObjectKind().SetGroupVersionKind(*kind)
	return json.Marshal(object)
}
