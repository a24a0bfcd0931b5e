// SPDX-License-Identifier: Apache-2.0

package fakecluster_test

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/cloneset"
	"github.com/podwright/podwright/workloads/fakecluster"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// operator is an operator of one's own that embeds CloneSets.
func operator(ctx context.Context, config *rest.Config) error {
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	workloads, err := client.NewForConfig(config)
	if err != nil {
		return err
	}
	controller, err := cloneset.New(cloneset.Options{Kubernetes: kube, Workloads: workloads})
	if err != nil {
		return err
	}
	return controller.Run(ctx)
}

// An operator runs against the cluster in memory until the pods of a CloneSet serve.
func Example() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cluster := fakecluster.New()
	go func() { _ = cluster.Run(ctx, 10*time.Millisecond) }()
	go func() { _ = operator(ctx, cluster.Config("operator")) }()

	workloads, err := client.NewForConfig(cluster.Config("test"))
	if err != nil {
		fmt.Println(err)
		return
	}
	sets, replicas, labels := workloads.CloneSets("shop"), int32(3), map[string]string{"app": "web"}
	set := &v1alpha1.CloneSet{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: v1alpha1.CloneSetSpec{
		Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels},
			Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx:1.27"}}}},
	}}
	if _, err := sets.Create(ctx, set, metav1.CreateOptions{}); err != nil {
		fmt.Println(err)
		return
	}
	err = wait.PollUntilContextCancel(ctx, 10*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		set, err := sets.Get(ctx, "web", metav1.GetOptions{})
		return err == nil && set.Status.ReadyReplicas == 3, err
	})
	fmt.Println("3 pods are ready, error", err)
	fmt.Println(cluster.Requests("operator")["create pods"], "pods were created")
	// Output:
	// 3 pods are ready, error <nil>
	// 3 pods were created
}
