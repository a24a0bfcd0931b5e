// SPDX-License-Identifier: Apache-2.0

package daemonset_test

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/daemonset"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// Twenty lines add DaemonSets to a program that has a *rest.Config.
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
		controller, err := daemonset.New(daemonset.Options{Kubernetes: kube, Workloads: workloads})
		if err != nil {
			return err
		}
		return controller.Run(ctx) // until ctx is done
	}
	_ = run
}

// A plan says what happens next, and why the rest waits, without any cluster.
func ExampleNewPlan() {
	labels := map[string]string{"app": "agent"}
	set := &v1alpha1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "agent", UID: "1"},
		Spec: v1alpha1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{NodeSelector: map[string]string{"zone": "a"}, Containers: []corev1.Container{{Name: "main", Image: "agent:1"}}}},
		},
	}
	snapshot := &daemonset.Snapshot{Set: set, Now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	for name, zone := range map[string]string{"node-a": "a", "node-b": "b", "node-c": "a"} {
		snapshot.Nodes = append(snapshot.Nodes, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"zone": zone}}})
	}

	plan := daemonset.NewPlan(snapshot)
	for _, created := range plan.Create {
		fmt.Println("create", created.Pod.Name)
	}
	fmt.Println(plan.Status.DesiredNumberScheduled, "desired")
	// Output:
	// create agent-jjhp4p2wb8
	// create agent-wnbwrr9pl8
	// 2 desired
}

// How many pods may be updated now? All kubelets have restarted, and no pod is available.
func ExampleRollout_Replace() {
	rollout := daemonset.Rollout{MaxUnavailable: 10, Underway: 4, Unavailable: 196}
	fmt.Printf("%+v\n", rollout.Replace())
	// Output:
	// {Unserved:0 Interrupted:0 Unavailable:6 Available:0}
}
