// SPDX-License-Identifier: Apache-2.0

package launchpriority_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/podwright/podwright/lifecycle/launchpriority"
	"github.com/podwright/podwright/lifecycle/launchpriority/barrier"
)

// A controller in a program that has a *rest.Config.
func ExampleNew() {
	run := func(ctx context.Context, config *rest.Config) error {
		client, err := kubernetes.NewForConfig(config)
		if err != nil {
			return err
		}
		controller, err := launchpriority.New(launchpriority.Options{Kubernetes: client})
		if err != nil {
			return err
		}
		return controller.Run(ctx) // until ctx is done
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	fmt.Println(run(ended, &rest.Config{Host: "http://127.0.0.1:1"}))
	// Output: <nil>
}

// What a pod's containers wait for.
func ExampleNewPlan() {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "web", UID: "1"},
		Spec: corev1.PodSpec{Containers: []corev1.Container{
			{Name: "main"},
			{Name: "proxy", Env: []corev1.EnvVar{{Name: "KRUISE_CONTAINER_PRIORITY", Value: "100"}}},
		}},
	}
	if err := barrier.Mutate(pod, ""); err != nil {
		fmt.Println(err)
		return
	}
	// The kubelet has begun to start the pod.
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.ContainersReady, Status: corev1.ConditionFalse}}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main"}, {Name: "proxy"}}

	s := &launchpriority.Snapshot{Pod: pod}
	plan := launchpriority.NewPlan(s)
	fmt.Println("create", plan.Create.Name, plan.Create.Data)
	for _, wait := range plan.Waiting {
		fmt.Printf("%s (priority %d) waits: %s\n", wait.Name, wait.Reason.Observed, wait.Reason)
	}

	s.ConfigMap = plan.Create
	pod.Status.ContainerStatuses[1].Ready = true
	fmt.Println("add", launchpriority.NewPlan(s).Add)
	// Output:
	// create web-barrier map[p_100:true]
	// main (priority 0) waits: not ready yet, with priority 100: proxy
	// add [p_0]
}
