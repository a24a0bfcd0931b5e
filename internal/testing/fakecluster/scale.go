// SPDX-License-Identifier: Apache-2.0

package fakecluster

import (
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

const scale = "scale"

// Scale names the fields of an object that its subresource scale shows. An empty path stands for a field that the object lacks.
type Scale struct {
	Replicas, StatusReplicas, Selector []string
}

// scale serves the subresource scale. The lock is held.
func (s *Server) scale(r *storage, req *Request) (any, error) {
	current, err := r.get(req)
	if err != nil {
		return nil, err
	}
	shown := r.scaleOf(current)
	if req.Verb == "get" {
		return shown, nil
	}
	fields, err := scaleWanted(req, shown)
	if err != nil {
		return nil, badRequest(err)
	}
	var wanted autoscalingv1.Scale
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(fields, &wanted); err != nil {
		return nil, badRequest(err)
	}
	after := current.DeepCopy()
	after.SetResourceVersion(wanted.ResourceVersion)
	if wanted.UID != "" {
		after.SetUID(wanted.UID)
	}
	if err := unstructured.SetNestedField(after.Object, int64(wanted.Spec.Replicas), r.Scale.Replicas...); err != nil {
		return nil, badRequest(err)
	}
	result, err := s.update(r, req, current, after)
	if err != nil {
		return nil, err
	}
	return r.scaleOf(result), nil
}

// scaleWanted returns the Scale that a PUT or PATCH asks for.
func scaleWanted(req *Request, shown map[string]any) (wanted map[string]any, err error) {
	if req.Verb == "update" {
		return wanted, decode(req.Body, &wanted)
	}
	return patched(types.PatchType(req.contentType), shown, req.Body, nil)
}

// scaleOf returns the scale of an object.
func (r *storage) scaleOf(object *unstructured.Unstructured) map[string]any {
	number := func(path []string) int64 {
		n, _, _ := unstructured.NestedInt64(object.Object, path...)
		return n
	}
	status := map[string]any{"replicas": number(r.Scale.StatusReplicas)}
	if value, found, _ := unstructured.NestedFieldNoCopy(object.Object, r.Scale.Selector...); found {
		if text, ok := value.(string); ok {
			status["selector"] = text
		} else if fields, ok := value.(map[string]any); ok {
			var selector metav1.LabelSelector
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(fields, &selector); err == nil {
				status["selector"] = metav1.FormatLabelSelector(&selector)
			}
		}
	}
	metadata := map[string]any{}
	for _, key := range []string{"name", "namespace", "uid", "resourceVersion", "creationTimestamp"} {
		if value, found, _ := unstructured.NestedFieldNoCopy(object.Object, "metadata", key); found {
			metadata[key] = value
		}
	}
	return map[string]any{
		"apiVersion": autoscalingv1.SchemeGroupVersion.String(), "kind": "Scale", "metadata": metadata,
		"spec": map[string]any{"replicas": number(r.Scale.Replicas)}, "status": status,
	}
}
