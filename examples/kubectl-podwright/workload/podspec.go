// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

// subsetTemplates are the templates of which a UnitedDeployment has one.
var subsetTemplates = []string{"statefulSetTemplate", "advancedStatefulSetTemplate", "cloneSetTemplate", "deploymentTemplate"}

// TemplatePath returns the path of the pod template, nil if the object has none.
func (o *Object) TemplatePath() []string {
	if k := o.Kind(); k != nil && k.Template != nil {
		return k.Template
	}
	for _, name := range subsetTemplates {
		if _, found, _ := unstructured.NestedMap(o.Object, "spec", "template", name); found {
			return []string{"spec", "template", name, "spec", "template"}
		}
	}
	return nil
}

// podSpecPath returns the path of the pod spec. The spec of a SidecarSet is taken for one: its containers and volumes
// are where a pod's are.
func (o *Object) podSpecPath() []string {
	if k := o.Kind(); k != nil && k.Name == "SidecarSet" {
		return []string{"spec"}
	}
	if template := o.TemplatePath(); template != nil {
		return append(template[:len(template):len(template)], "spec")
	}
	return nil
}

// PodTemplate returns the pod template, without the fields that this version of the Kubernetes API does not know.
func (o *Object) PodTemplate() (*corev1.PodTemplateSpec, error) {
	path := o.TemplatePath()
	fields, found, err := unstructured.NestedMap(o.Object, path...)
	if err != nil || !found || path == nil {
		return nil, fmt.Errorf("%s %s has no pod template", o.GetKind(), o.GetName())
	}
	template := &corev1.PodTemplateSpec{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(fields, template); err != nil {
		return nil, fmt.Errorf("the pod template of %s %s: %w", o.GetKind(), o.GetName(), err)
	}
	return template, nil
}

// UpdatePodSpec has a function change the pod spec. Fields that this version of the Kubernetes API does not know stay.
// An error of the function leaves the object as it was. (KC-2)
func (o *Object) UpdatePodSpec(change func(*corev1.PodSpec) error) error {
	path := o.podSpecPath()
	fields, found, err := unstructured.NestedMap(o.Object, path...)
	if err != nil || !found || path == nil {
		return fmt.Errorf("%s %s has no pod spec", o.GetKind(), o.GetName())
	}
	spec := &corev1.PodSpec{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(fields, spec); err != nil {
		return fmt.Errorf("the pod spec of %s %s: %w", o.GetKind(), o.GetName(), err)
	}
	before, err := json.Marshal(spec)
	if err != nil {
		return err
	}
	if err := change(spec); err != nil {
		return err
	}
	after, err := json.Marshal(spec)
	if err != nil {
		return err
	}
	if fields, err = carryOver(fields, before, after); err != nil {
		return err
	}
	return unstructured.SetNestedMap(o.Object, fields, path...)
}

// carryOver makes the change from before to after in a pod spec that has more fields than both.
func carryOver(fields map[string]any, before, after []byte) (map[string]any, error) {
	patch, err := strategicpatch.CreateTwoWayMergePatch(before, after, corev1.PodSpec{})
	if err != nil {
		return nil, err
	}
	whole, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}
	if whole, err = strategicpatch.StrategicMergePatch(whole, patch, corev1.PodSpec{}); err != nil {
		return nil, err
	}
	fields = nil
	return fields, utiljson.Unmarshal(whole, &fields)
}
