// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"encoding/json"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// Template returns the template of a pod that is labelled app=web and runs
// nginx:1 in one container.
func Template() corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx:1"}}},
	}
}

// ChangeTemplate changes what a key of the command spec names. image=name and env=value are about the first container, and so is
// startup=seconds, the time between two questions of its startup probe. The other keys are label=key:value, annotation=key:value and
// gate=type. It returns false if the key is none of them.
func ChangeTemplate(t *corev1.PodTemplateSpec, key, value string) bool {
	k, v, _ := strings.Cut(value, ":")
	switch key {
	case "image":
		t.Spec.Containers[0].Image = value
	case "env":
		t.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "X", Value: value}}
	case "startup":
		period, err := strconv.Atoi(value)
		if err != nil {
			return false
		}
		t.Spec.Containers[0].StartupProbe = &corev1.Probe{PeriodSeconds: int32(period)}
	case "label":
		t.Labels[k] = v
	case "annotation":
		if t.Annotations == nil {
			t.Annotations = map[string]string{}
		}
		t.Annotations[k] = v
	case "gate":
		t.Spec.ReadinessGates = append(t.Spec.ReadinessGates, corev1.PodReadinessGate{ConditionType: corev1.PodConditionType(value)})
	default:
		return false
	}
	return true
}

// ClaimTemplates returns claim templates of the given names, which commas
// separate; none for no names.
func ClaimTemplates(names string) (templates []corev1.PersistentVolumeClaim) {
	for name := range strings.SplitSeq(names, ",") {
		if name != "" {
			templates = append(templates, corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: name}})
		}
	}
	return templates
}

// ChangeHook changes what a key of the command spec names. preDelete=label, inPlaceUpdate=label and preNormal=label set
// a hook that is held by that label with the value true. An empty label removes the hook. markPodNotReady=true sets the
// field of that name in the hooks that exist. It returns false if the key is none of them.
func ChangeHook(l **lifecyclev1alpha1.Lifecycle, key, value string) bool {
	hooks := &lifecyclev1alpha1.Lifecycle{}
	if *l != nil {
		hooks = *l
	}
	var hook *lifecyclev1alpha1.LifecycleHook
	if value != "" {
		hook = &lifecyclev1alpha1.LifecycleHook{LabelsHandler: map[string]string{value: "true"}}
	}
	switch key {
	case "preDelete":
		hooks.PreDelete = hook
	case "inPlaceUpdate":
		hooks.InPlaceUpdate = hook
	case "preNormal":
		hooks.PreNormal = hook
	case "markPodNotReady":
		for _, hook := range []*lifecyclev1alpha1.LifecycleHook{hooks.PreDelete, hooks.InPlaceUpdate} {
			if hook != nil {
				hook.MarkPodNotReady = value == "true"
			}
		}
	default:
		return false
	}
	*l = hooks
	return true
}

// ChangeField changes a field of a spec by its key. Fields have the JSON by the keys, in which %s stands for the value. It returns false for others.
func ChangeField(t TB, spec any, fields map[string]string, key, value string) bool {
	field, known := fields[key]
	if !known {
		return false
	}
	if !json.Valid([]byte(value)) {
		value = strconv.Quote(value)
	}
	if err := json.Unmarshal([]byte(strings.ReplaceAll(field, "%s", value)), spec); err != nil {
		t.Fatalf("%s=%s: %v", key, value, err)
	}
	return true
}
