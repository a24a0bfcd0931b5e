// SPDX-License-Identifier: Apache-2.0

package broadcastjob_test

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/podwright/podwright/workloads/broadcastjob"
	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// Twenty lines add BroadcastJobs to a program that has a *rest.Config.
func ExampleNew() {
	run := func(ctx context.Context, config *rest.Config) error {
		config = rest.CopyConfig(config)
		config.QPS = -1 // the API server shares itself out fairly
		workloads, err := client.NewForConfig(config)
		if err != nil {
			return err
		}
		config.ContentType = "application/vnd.kubernetes.protobuf"
		kube, err := kubernetes.NewForConfig(config)
		if err != nil {
			return err
		}
		controller, err := broadcastjob.New(broadcastjob.Options{Kubernetes: kube, Workloads: workloads})
		if err != nil {
			return err
		}
		return controller.Run(ctx) // until ctx is done
	}
	_ = run
}

// A plan says what happens next, and why the rest waits, without any cluster.
func ExampleNewPlan() {
	parallelism := intstr.FromString("50%")
	job := &v1alpha1.BroadcastJob{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "cleanup", UID: "1"},
		Spec: v1alpha1.BroadcastJobSpec{
			Parallelism: &parallelism,
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever,
				Containers:    []corev1.Container{{Name: "main", Image: "busybox:1.37"}},
			}},
		},
	}
	snapshot := &broadcastjob.Snapshot{Job: job, Now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	for _, name := range []string{"node-a", "node-b", "node-c", "node-d"} {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
		node.Spec.Unschedulable = name == "node-c"
		snapshot.Nodes = append(snapshot.Nodes, node)
	}

	plan := broadcastjob.NewPlan(snapshot)
	for _, created := range plan.Create {
		fmt.Println("create", created.Pod.Name)
	}
	for _, wait := range plan.Waiting {
		fmt.Println("wait", wait)
	}
	fmt.Println(plan.Status.Phase, plan.Status.Desired, "desired", plan.Status.Active, "active")
	// Output:
	// create cleanup-jjhp4p2wb8
	// create cleanup-84dswq6sg8
	// wait node node-d: 2 pods are active, spec.parallelism allows 2
	// running 3 desired 2 active
}
