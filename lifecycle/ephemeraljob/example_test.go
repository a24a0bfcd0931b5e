// SPDX-License-Identifier: Apache-2.0

package ephemeraljob_test

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/podwright/podwright/lifecycle/client"
	"github.com/podwright/podwright/lifecycle/ephemeraljob"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// Run the controller in a program that has the rights of Rules and the CRD of lifecycle.CRDs.
func ExampleNew() {
	config, err := rest.InClusterConfig()
	if err != nil {
		fmt.Println(err)
		return
	}
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		fmt.Println(err)
		return
	}
	jobs, err := client.NewForConfig(config)
	if err != nil {
		fmt.Println(err)
		return
	}
	controller, err := ephemeraljob.New(ephemeraljob.Options{Kubernetes: kube, Lifecycle: jobs})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := controller.Run(context.Background()); err != nil {
		fmt.Println(err)
	}
}

// Into which pods does a job inject its containers now, and why not into the others?
func ExampleNewPlan() {
	two := int32(2)
	job := &v1alpha1.EphemeralJob{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "dump"},
		Spec: v1alpha1.EphemeralJobSpec{
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}, Parallelism: &two,
			Template: v1alpha1.EphemeralContainerTemplateSpec{EphemeralContainers: []corev1.EphemeralContainer{
				{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "dump", Image: "busybox"}},
			}},
		},
	}
	now := time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)
	var pods []*corev1.Pod
	for i := range 4 {
		pods = append(pods, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: fmt.Sprintf("web-%d", i), Labels: map[string]string{"app": "web"},
			CreationTimestamp: metav1.NewTime(now.Add(time.Duration(i-10) * time.Minute))}, Spec: corev1.PodSpec{NodeName: "node-1"}})
	}
	pods[1].Spec.EphemeralContainers = []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "dump"}}} // of another user

	plan := ephemeraljob.NewPlan(&ephemeraljob.Snapshot{Job: job, Pods: pods, Now: now})
	for _, pod := range plan.Inject {
		fmt.Println("inject into", pod.Name)
	}
	for _, w := range append(plan.Skipped, plan.Waiting...) {
		fmt.Println(w)
	}
	// Output:
	// inject into web-0
	// inject into web-2
	// web-1: it has another ephemeral container dump
	// web-3: parallelism 2: containers are under way in 2 pods
}

// A program waits until the containers of a job have ended.
func ExampleRolloutStatus() {
	job := &v1alpha1.EphemeralJob{Status: v1alpha1.EphemeralJobStatus{StartTime: &metav1.Time{}, Phase: v1alpha1.EphemeralJobRunning, Matches: 3, Succeeded: 1, Running: 2}}
	status := ephemeraljob.RolloutStatus(job)
	fmt.Println(status.Done(), status.Message)
	// Output: false the containers of 1 out of 3 pods have ended
}
