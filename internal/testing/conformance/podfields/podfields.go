// SPDX-License-Identifier: Apache-2.0

// Package podfields has pods in which every field is set, to test that none is lost on its way. It needs no client, so that
// the tests of arithmetic can have it.
package podfields

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/lifecycle/launchpriority/barrier"
)

// Full returns a spec in which every field is set that Kubernetes' libraries know, at any depth, whatever the API server
// would say of it. What is a list or a map has one element.
func Full() (spec corev1.PodSpec) {
	Fill(&spec)
	return spec
}

// Fill sets every field of what it points to.
func Fill(into any) { fill(reflect.ValueOf(into).Elem()) }

func fill(v reflect.Value) {
	switch into := v.Addr().Interface().(type) {
	case *resource.Quantity:
		*into = resource.MustParse("3")
		return
	case *metav1.Time:
		*into = metav1.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		return
	case *intstr.IntOrString:
		*into = intstr.FromString("30%")
		return
	case *metav1.FieldsV1:
		if err := into.UnmarshalJSON([]byte("{}")); err != nil {
			panic(err) // never: any JSON is taken
		}
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key)
		fill(value)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.String:
		v.SetString("text")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int32, reflect.Int64:
		v.SetInt(7)
	case reflect.Uint8:
		v.SetUint(7)
	default:
		panic(fmt.Sprintf("%s: a kind of field that is not known here", v.Type()))
	}
}

// Check checks that what a kind of workload creates has every field of the template, but for those that it decides
// itself, which are named. Create returns the pods that are created of a template: of the newest revision, and of one that has
// been stored. Edit changes what nothing could be created of; it may be nil.
func Check(t *testing.T, edit func(*corev1.PodSpec), create func(*corev1.PodTemplateSpec) []*corev1.Pod, own ...string) {
	t.Helper()
	template := &corev1.PodTemplateSpec{Spec: Full()}
	if edit != nil {
		edit(&template.Spec)
	}
	want := template.Spec.DeepCopy()
	pods := create(template)
	if len(pods) != 2 {
		t.Fatalf("%d pods are created, want one of the newest revision and one of a stored one", len(pods))
	}
	slices.Sort(own)
	for _, pod := range pods {
		var changed []string
		was, is := reflect.ValueOf(want).Elem(), reflect.ValueOf(&pod.Spec).Elem()
		for i := range was.NumField() {
			if !equality.Semantic.DeepEqual(was.Field(i).Interface(), is.Field(i).Interface()) {
				changed = append(changed, was.Type().Field(i).Name)
			}
		}
		slices.Sort(changed)
		if diff := cmp.Diff(own, changed); diff != "" {
			t.Errorf("pod %s: fields that are not those of the template (-want +got):\n%s", pod.Name, diff)
		}
	}
}

// CheckBarriers checks that the containers of a new pod wait by their launch priorities from the creation on, if the feature is on. If it
// is off, nothing waits: no controller would start it. create plans for a template and returns a new pod. (LP-5)
func CheckBarriers(t *testing.T, create func(template *corev1.PodTemplateSpec, on bool) *corev1.Pod) {
	t.Helper()
	template := &corev1.PodTemplateSpec{}
	template.Labels = map[string]string{"app": "web"}
	template.Spec.Containers = []corev1.Container{
		{Name: "main", Image: "nginx:1"}, {Name: "log", Image: "log:1", Env: []corev1.EnvVar{{Name: "KRUISE_CONTAINER_PRIORITY", Value: "5"}}}}
	before := template.DeepCopy()
	pod := create(template, true)
	want := []barrier.Barrier{{ConfigMap: pod.Name + "-barrier", Key: "p_0", Priority: 0}, {ConfigMap: pod.Name + "-barrier", Key: "p_5", Priority: 5}}
	if diff := cmp.Diff(want, barriers(pod)); diff != "" {
		t.Errorf("barriers (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, template); diff != "" {
		t.Errorf("the template has changed (-want +got):\n%s", diff)
	}
	again := pod.DeepCopy()
	if err := barrier.Mutate(again, "xxxxx"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(pod, again); diff != "" {
		t.Errorf("the webhook changes the pod once more:\n%s", diff)
	}
	if off := barriers(create(template, false)); len(off) > 0 {
		t.Errorf("without the feature: barriers %v", off)
	}
}

func barriers(pod *corev1.Pod) (all []barrier.Barrier) {
	for i := range pod.Spec.Containers {
		all = append(all, barrier.Of(&pod.Spec.Containers[i])...)
	}
	return all
}
