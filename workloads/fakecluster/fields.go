// SPDX-License-Identifier: Apache-2.0

package fakecluster

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
)

// fieldManagers keep account of who owns which field, for server-side apply, by the code of the real API server. The fields of
// custom resources have no schema here, so a list of theirs belongs to one manager as a whole.
type fieldManagers struct{ kubernetes, custom managedfields.TypeConverter }

func newFieldManagers() *fieldManagers {
	return &fieldManagers{kubernetes: applyconfigurations.NewTypeConverter(scheme.Scheme), custom: managedfields.NewDeducedTypeConverter()}
}

func (m *fieldManagers) of(kind schema.GroupVersionKind, builtIn bool, subresource string) (*managedfields.FieldManager, error) {
	if builtIn {
		return managedfields.NewDefaultFieldManager(m.kubernetes, unconverted{}, undefaulted{}, created{}, kind, kind.GroupVersion(), subresource, nil)
	}
	return managedfields.NewDefaultCRDFieldManager(m.custom, unconverted{}, undefaulted{}, created{}, kind, kind.GroupVersion(), subresource, nil)
}

// Apply merges a configuration into an object.
func (m *fieldManagers) Apply(live, applied *unstructured.Unstructured, builtIn bool, subresource, manager string, force bool) (*unstructured.Unstructured, error) {
	fields, err := m.of(live.GroupVersionKind(), builtIn, subresource)
	if err != nil {
		return nil, err
	}
	return asUnstructured(fields.Apply(live.DeepCopy(), applied.DeepCopy(), manager, force))
}

// Update notes who has made a write.
func (m *fieldManagers) Update(before, after *unstructured.Unstructured, builtIn bool, subresource, manager string) (*unstructured.Unstructured, error) {
	fields, err := m.of(before.GroupVersionKind(), builtIn, subresource)
	if err != nil {
		return nil, err
	}
	return asUnstructured(fields.Update(before.DeepCopy(), after.DeepCopy(), manager))
}

func asUnstructured(object runtime.Object, err error) (*unstructured.Unstructured, error) {
	if err != nil {
		return nil, err
	}
	if found, ok := object.(*unstructured.Unstructured); ok {
		return found, nil
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	return &unstructured.Unstructured{Object: content}, err
}

// unconverted converts between versions: every kind has one.
type unconverted struct{}

func (unconverted) Convert(_, _, _ any) error { return nil }

func (unconverted) ConvertToVersion(in runtime.Object, _ runtime.GroupVersioner) (runtime.Object, error) {
	return in, nil
}

func (unconverted) ConvertFieldLabel(_ schema.GroupVersionKind, label, value string) (string, string, error) {
	return label, value, nil
}

// undefaulted fills in no defaults.
type undefaulted struct{}

func (undefaulted) Default(runtime.Object) {}

// created makes empty objects.
type created struct{}

func (created) New(kind schema.GroupVersionKind) (runtime.Object, error) {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind)
	return object, nil
}
