// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"errors"
	"fmt"
	"reflect"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/podwright/podwright/examples/kubectl-podwright/workload"
	"github.com/podwright/podwright/sidecar/injection"
	sidecarv1alpha1 "github.com/podwright/podwright/sidecar/v1alpha1"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// held are the fields of a workload's spec that its revisions hold.
func held(o *workload.Object) []string {
	if fields := o.Kind().Injects; fields != nil {
		return fields
	}
	return []string{"template"}
}

// restored returns a copy of a workload with what a revision holds, and without what it could hold and does not. (KC-6)
func restored(o *workload.Object, r *appsv1.ControllerRevision) (*workload.Object, error) {
	var data map[string]any
	if err := utiljson.Unmarshal(r.Data.Raw, &data); err != nil {
		return nil, fmt.Errorf("revision %s: %w", r.Name, err)
	}
	fields := held(o)
	spec, found, err := unstructured.NestedMap(data, "spec")
	if must := fields[0]; err != nil || !found || spec[must] == nil && len(fields) == 1 {
		return nil, errors.Join(fmt.Errorf("revision %s has no spec.%s", r.Name, must), err)
	}
	c := o.DeepCopyObject().(*workload.Object)
	for _, field := range fields {
		value := spec[field]
		if value == nil {
			unstructured.RemoveNestedField(c.Object, "spec", field)
			continue
		}
		if tree, ok := value.(map[string]any); ok {
			delete(tree, "$patch")
		}
		withoutNullTimestamps(value)
		if err := unstructured.SetNestedField(c.Object, value, "spec", field); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// withoutNullTimestamps removes "creationTimestamp: null", which revisions have and objects need not.
func withoutNullTimestamps(value any) {
	switch value := value.(type) {
	case map[string]any:
		if at, found := value["creationTimestamp"]; found && at == nil {
			delete(value, "creationTimestamp")
		}
		for _, child := range value {
			withoutNullTimestamps(child)
		}
	case []any:
		for _, child := range value {
			withoutNullTimestamps(child)
		}
	}
}

// revised is what revisions hold of kinds without a pod template in a fixed place.
var revised = map[string]func(*workload.Object) (any, error){"SidecarSet": sidecarData, "UnitedDeployment": subsetTemplate}

// same tells whether revisions of two states of a workload mean the same.
func same(a, b *workload.Object) bool {
	if of := revised[a.Kind().Name]; of != nil {
		x, errX := of(a)
		y, errY := of(b)
		return errX == nil && errY == nil && equality.Semantic.DeepEqual(x, y)
	}
	x, errX := a.PodTemplate()
	y, errY := b.PodTemplate()
	if errX != nil || errY != nil {
		return reflect.DeepEqual(a.Object["spec"], b.Object["spec"])
	}
	return equality.Semantic.DeepEqual(x, y)
}

// sidecarData is what a revision of a SidecarSet holds, defaults included.
func sidecarData(o *workload.Object) (any, error) {
	set := &sidecarv1alpha1.SidecarSet{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, set); err != nil {
		return nil, err
	}
	injection.Default(set)
	return injection.RevisionData(set)
}

// subsetTemplate is what a revision of a UnitedDeployment holds, which is more than a template of pods.
func subsetTemplate(o *workload.Object) (any, error) {
	set := &v1alpha1.UnitedDeployment{}
	err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, set)
	return &set.Spec.Template, err
}

// podTemplate is what pods get of a workload, as far as a pod template can say it: of a SidecarSet its containers and volumes.
func podTemplate(o *workload.Object) (*corev1.PodTemplateSpec, error) {
	injected := o.Kind().Injects
	if injected == nil {
		return o.PodTemplate()
	}
	spec, _, _ := unstructured.NestedMap(o.Object, "spec")
	pod := map[string]any{}
	for _, field := range injected {
		if field != "patchPodMetadata" && spec[field] != nil {
			pod[field] = spec[field]
		}
	}
	template := &corev1.PodTemplateSpec{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(pod, &template.Spec); err != nil {
		return nil, fmt.Errorf("the containers of %s %s: %w", o.GetKind(), o.GetName(), err)
	}
	return template, nil
}
