// SPDX-License-Identifier: Apache-2.0

package inplace_test

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/podwright/podwright/inplace"
	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/inplace/revision"
	"github.com/podwright/podwright/lifecycle/launchpriority/barrier"
)

// What changes between two revisions is the same for all pods.
func ExampleCalculate() {
	owner := &metav1.ObjectMeta{Namespace: "default", Name: "demo"}
	kind := schema.GroupVersionKind{Group: "apps.kruise.io", Version: "v1alpha1", Kind: "CloneSet"}
	template := &corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "demo"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx:1.21"}, {Name: "logs", Image: "fluent-bit:2.0"}}},
	}
	from, err := revision.New(owner, kind, template, 1, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	template.Spec.Containers[0].Image = "nginx:1.22"
	template.Labels["team"] = "blue"
	to, err := revision.New(owner, kind, template, 2, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	update, obstacles, err := inplace.Calculate(from, to, inplace.CalculateOptions{})
	fmt.Println(update, obstacles, err)

	template.Spec.HostNetwork = true
	if to, err = revision.New(owner, kind, template, 3, nil); err != nil {
		fmt.Println(err)
		return
	}
	_, obstacles, err = inplace.Calculate(from, to, inplace.CalculateOptions{})
	for _, o := range obstacles {
		fmt.Println(o)
	}
	fmt.Println(err)
	// Output:
	// update in place to revision demo-75cf5b6c9
	//   container "main": image nginx:1.22
	//   metadata without a restart: label team [] <nil>
	// add /spec/hostNetwork: of a running pod only container images, labels, annotations and finalizers can be changed
	// <nil>
}

// With a grace period the containers change later, and with launch priorities one
// after another. Here a node restarts each of them as soon as it has a new image.
func ExampleRefresh() {
	now := time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)
	wait := func(key string) []corev1.EnvVar {
		return []corev1.EnvVar{{Name: "KRUISE_CONTAINER_BARRIER", ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{
			LocalObjectReference: corev1.LocalObjectReference{Name: barrier.ConfigMapName("demo-x7k2p")}, Key: key,
		}}}}
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: "demo-x7k2p",
			Labels: map[string]string{"controller-revision-hash": "demo-2"},
		},
		Spec: corev1.PodSpec{Containers: []corev1.Container{
			{Name: "main", Image: "main:1", Env: wait(barrier.Key(0))},
			{Name: "proxy", Image: "proxy:1", Env: wait(barrier.Key(10))},
		}},
	}
	node := func() {
		pod.Status.ContainerStatuses = nil
		for _, c := range pod.Spec.Containers {
			pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{
				Name: c.Name, Image: c.Image, ImageID: "id of " + c.Image, ContainerID: "containerd://" + c.Image, Ready: true,
			})
		}
	}
	node()

	var patch podpatch.Patch
	update := &inplace.Update{Revision: "demo-2", Images: map[string]string{"main": "main:2", "proxy": "proxy:2"}}
	if err := inplace.Begin(&patch, pod, update, inplace.BeginOptions{Now: now, GracePeriodSeconds: 30}); err != nil {
		fmt.Println(err)
		return
	}
	for _, seconds := range []int{0, 10, 30, 31, 32, 33, 34} {
		after, err := patch.Apply(pod)
		if err != nil {
			fmt.Println(err)
			return
		}
		pod = after
		patch = podpatch.Patch{}
		progress, err := inplace.Refresh(&patch, pod, now.Add(time.Duration(seconds)*time.Second))
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%d s: %s, %s: %s\n", seconds, pod.Spec.Containers[0].Image, pod.Spec.Containers[1].Image, progress)
		node()
	}
	// Output:
	// 0 s: main:1, proxy:1: waiting: the grace period of 30s ends in 30s
	// 10 s: main:1, proxy:1: waiting: the grace period of 30s ends in 20s
	// 30 s: main:1, proxy:1: waiting: the grace period is over, the change is written
	// 31 s: main:1, proxy:2: waiting: container proxy: still runs image proxy:1
	// 32 s: main:1, proxy:2: waiting: the next batch is written, of main
	// 33 s: main:2, proxy:2: waiting: container main: still runs image main:1
	// 34 s: main:2, proxy:2: complete
}
