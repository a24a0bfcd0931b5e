// SPDX-License-Identifier: Apache-2.0

package inplace_test

import (
	"bytes"
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace"
	"github.com/podwright/podwright/inplace/revision"
	"github.com/podwright/podwright/internal/testing/conformance/podfields"
)

// IP-3, CS-CR1: if a field of a pod comes, goes or changes, that is another revision, and has the pod recreated. Only the image
// of a container that is not an init container changes in place. That holds for what Kubernetes has added too: pod-level
// resources, image volumes, native sidecars, stop signals, files of environments, claims of devices, scheduling groups.
func TestEveryField(t *testing.T) {
	full := func() *corev1.PodTemplateSpec { return &corev1.PodTemplateSpec{Spec: podfields.Full()} }
	check := func(name string, inPlace bool, change func(*corev1.PodTemplateSpec)) {
		t.Helper()
		is, was := full(), full()
		change(was)
		for _, pair := range [][2]*corev1.PodTemplateSpec{{was, is}, {is, was}} {
			verdict, err := inplace.Compare(pair[0], pair[1], inplace.CalculateOptions{})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if verdict.InPlace() != inPlace {
				t.Errorf("%s: in place %t, want %t: %s", name, verdict.InPlace(), inPlace, verdict)
			}
		}
		a, errA := revision.Data(is)
		b, errB := revision.Data(was)
		if errA != nil || errB != nil || bytes.Equal(a, b) {
			t.Errorf("%s: the same revision, errors %v, %v", name, errA, errB)
		}
	}
	without := func(of string, part func(*corev1.PodTemplateSpec) reflect.Value) {
		fields := part(full()).Type()
		for i := range fields.NumField() {
			name := fields.Field(i).Name
			check(of+name, false, func(t *corev1.PodTemplateSpec) { part(t).Field(i).SetZero() })
		}
	}
	without("", func(t *corev1.PodTemplateSpec) reflect.Value { return reflect.ValueOf(&t.Spec).Elem() })
	without("containers.", func(t *corev1.PodTemplateSpec) reflect.Value { return reflect.ValueOf(&t.Spec.Containers[0]).Elem() })
	without("initContainers.", func(t *corev1.PodTemplateSpec) reflect.Value {
		return reflect.ValueOf(&t.Spec.InitContainers[0]).Elem()
	})
	without("lifecycle.", func(t *corev1.PodTemplateSpec) reflect.Value {
		return reflect.ValueOf(t.Spec.Containers[0].Lifecycle).Elem()
	})
	without("volumes.", func(t *corev1.PodTemplateSpec) reflect.Value {
		return reflect.ValueOf(&t.Spec.Volumes[0].VolumeSource).Elem()
	})
	check("the image of a container", true, func(t *corev1.PodTemplateSpec) { t.Spec.Containers[0].Image = "other" })
	check("the image of an init container, native sidecars among them", false, func(t *corev1.PodTemplateSpec) { t.Spec.InitContainers[0].Image = "other" })
	check("the image of a volume", false, func(t *corev1.PodTemplateSpec) { t.Spec.Volumes[0].Image.Reference = "other" })
	check("the resources of the pod", false, func(t *corev1.PodTemplateSpec) { t.Spec.Resources.Limits = nil })
}
