// SPDX-License-Identifier: Apache-2.0

package terminator_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/podwright/podwright/lifecycle/client"
	"github.com/podwright/podwright/sidecar/terminator"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// A controller that leaves the phase of pods to their kubelets, as OpenKruise 1.4 does.
func ExampleNew() {
	run := func(ctx context.Context, kube kubernetes.Interface, lifecycle client.Interface) error {
		controller, err := terminator.New(terminator.Options{Kubernetes: kube, Lifecycle: lifecycle, Features: terminator.Features{LeavePhase: true}})
		if err != nil {
			return err
		}
		return controller.Run(ctx)
	}
	_ = run
}

// The main container of a pod has succeeded, while a sidecar runs. The terminator gives the pod its phase, and stops the
// sidecar once the kubelet knows that.
func ExampleNewPlan() {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "report-x7k2p", UID: "3f1c"},
		Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, NodeName: "node-1", Containers: []corev1.Container{
			{Name: "main", Image: "report:1"},
			{Name: "proxy", Image: "proxy:7", Env: []corev1.EnvVar{{Name: v1alpha1.TerminateSidecarEnv, Value: "true"}}},
		}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{
			{Name: "main", ContainerID: "containerd://1", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}},
			{Name: "proxy", ContainerID: "containerd://2", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}},
		}},
	}
	s := &terminator.Snapshot{Pod: pod, Node: &corev1.Node{}}
	for _, w := range terminator.NewPlan(s).Waiting {
		fmt.Println("waits:", w.Reason)
	}
	pod.Status.ContainerStatuses[0].State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 0}}
	fmt.Println(terminator.NewPlan(s))
	pod.Status.Phase = corev1.PodSucceeded
	pod.Status.Conditions = []corev1.PodCondition{
		{Type: v1alpha1.SidecarTerminatedCondition, Status: corev1.ConditionTrue},
		{Type: corev1.ContainersReady, Status: corev1.ConditionFalse, Reason: "PodCompleted"},
	}
	plan := terminator.NewPlan(s)
	fmt.Println(plan)
	fmt.Println(plan.Create.Name)
	// Output:
	// waits: main container is running
	// Succeeded, since all main containers have succeeded, and the pod would fail with sidecar proxy
	// stop [proxy]
	// sidecar-termination-3f1c
}
