// SPDX-License-Identifier: Apache-2.0

package inplace_test

import (
	"fmt"
	"log"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/podwright/podwright/inplace"
	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/inplace/revision"
	"github.com/podwright/podwright/inplace/v1alpha1"
)

// Does a new image restart a container, or does it recreate the pod? (README shows this.)
func ExampleCompare_image() {
	before := &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "nginx:1.27"}}}}
	after := before.DeepCopy()
	after.Spec.Containers[0].Image = "nginx:1.28"
	verdict, err := inplace.Compare(before, after, inplace.CalculateOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(verdict)
	// Output:
	// the pod stays, containers restart:
	//   container "web": image nginx:1.27 becomes nginx:1.28
}

// Does this template change restart containers, or does it recreate the pod?
func ExampleCompare() {
	old := &corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "shop", "tier": "gold"}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{
			{Name: "web", Image: "nginx:1.21"},
			{Name: "logs", Image: "fluent-bit:2.0", Env: []corev1.EnvVar{{Name: "TIER", ValueFrom: &corev1.EnvVarSource{
				FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.labels['tier']"},
			}}}},
		}},
	}
	image := old.DeepCopy()
	image.Spec.Containers[0].Image = "nginx:1.22"

	label := image.DeepCopy()
	label.Labels["tier"], label.Labels["team"] = "silver", "blue"

	env := image.DeepCopy()
	env.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "DEBUG", Value: "1"}}

	for _, next := range []*corev1.PodTemplateSpec{image, label, env} {
		verdict, err := inplace.Compare(old, next, inplace.CalculateOptions{})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(verdict)
	}
	// Output:
	// the pod stays, containers restart:
	//   container "web": image nginx:1.21 becomes nginx:1.22
	// the pod stays, containers restart:
	//   container "web": image nginx:1.21 becomes nginx:1.22
	//   container "logs": its environment refers to metadata.labels['tier']
	//   metadata changes without a restart: label team
	// the pod is recreated:
	//   add /spec/containers/0/env (container "web"): of a running container only the image can be replaced
}

// A pod is taken from one revision to the next. A controller sends the patches
// to the API server; here they are applied to the object.
func Example() {
	start := time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)
	template := &corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "demo"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx:1.21"}}},
	}
	owner := &metav1.ObjectMeta{Namespace: "default", Name: "demo"}
	kind := schema.GroupVersionKind{Group: "apps.kruise.io", Version: "v1alpha1", Kind: "CloneSet"}
	from, err := revision.New(owner, kind, template, 1, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	template.Spec.Containers[0].Image = "nginx:1.22"
	to, err := revision.New(owner, kind, template, 2, nil)
	if err != nil {
		fmt.Println(err)
		return
	}

	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: "demo-x7k2p",
			Labels: map[string]string{"app": "demo", appsv1.ControllerRevisionHashLabelKey: from.Name},
		},
		Spec: corev1.PodSpec{
			Containers:     []corev1.Container{{Name: "main", Image: "nginx:1.21"}},
			ReadinessGates: []corev1.PodReadinessGate{{ConditionType: v1alpha1.InPlaceUpdateReady}},
		},
		Status: corev1.PodStatus{
			ContainerStatuses: []corev1.ContainerStatus{{Name: "main", Image: "nginx:1.21", ImageID: "sha256:aaa", Ready: true}},
		},
	}
	show := func(what string, p podpatch.Patch) {
		if pod, err = p.Apply(pod); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s: image %s, runs %s", what, pod.Spec.Containers[0].Image, pod.Status.ContainerStatuses[0].ImageID)
		for _, c := range pod.Status.Conditions {
			fmt.Printf(", %s=%s", c.Type, c.Status)
		}
		fmt.Println()
	}

	var patch podpatch.Patch
	if _, err := inplace.Refresh(&patch, pod, start); err != nil {
		fmt.Println(err)
		return
	}
	show("a new pod", patch)

	update, obstacles, err := inplace.Calculate(from, to, inplace.CalculateOptions{})
	if err != nil || update == nil {
		fmt.Println(obstacles, err)
		return
	}
	patch = podpatch.Patch{}
	if err := inplace.Begin(&patch, pod, update, inplace.BeginOptions{Now: start}); err != nil {
		fmt.Println(err)
		return
	}
	patch.SetLabel(appsv1.ControllerRevisionHashLabelKey, to.Name)
	show("begun", patch)

	progress, err := inplace.Refresh(&podpatch.Patch{}, pod, start.Add(time.Second))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("waiting:", progress.Waiting)

	pod.Status.ContainerStatuses[0] = corev1.ContainerStatus{
		Name: "main", Image: "nginx:1.22", ImageID: "sha256:bbb", Ready: true, RestartCount: 1,
	}
	show("the kubelet has restarted the container", podpatch.Patch{})

	patch = podpatch.Patch{}
	if _, err := inplace.Refresh(&patch, pod, start.Add(5*time.Second)); err != nil {
		fmt.Println(err)
		return
	}
	show("complete", patch)
	// Output:
	// a new pod: image nginx:1.21, runs sha256:aaa, InPlaceUpdateReady=True
	// begun: image nginx:1.22, runs sha256:aaa, InPlaceUpdateReady=False
	// waiting: container main: still runs image nginx:1.21
	// the kubelet has restarted the container: image nginx:1.22, runs sha256:bbb, InPlaceUpdateReady=False
	// complete: image nginx:1.22, runs sha256:bbb, InPlaceUpdateReady=True
}
