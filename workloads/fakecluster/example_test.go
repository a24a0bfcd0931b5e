// SPDX-License-Identifier: Apache-2.0

package fakecluster_test

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/podwright/podwright/workloads"
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

// An operator with its webhooks runs against the cluster in memory until the pods of a CloneSet serve.
func Example() {
	ctx, cancel := context.WithCancel(context.Background())
	cluster, done := fakecluster.New(), make(chan error)
	mutating, validating := workloads.Webhooks()
	cluster.Admit(new(cloneset.Webhook).Handlers(), mutating, validating)
	go func() {
		done <- cluster.Run(ctx, time.Millisecond, func(ctx context.Context) error { return operator(ctx, cluster.Config("operator")) })
	}()

	test, _ := client.NewForConfig(cluster.Config("test"))
	sets, replicas, labels := test.CloneSets("shop"), int32(3), map[string]string{"app": "web"}
	set := &v1alpha1.CloneSet{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: v1alpha1.CloneSetSpec{
		Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels},
			Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx:1.27"}}}},
	}}
	if _, err := sets.Create(ctx, set, metav1.CreateOptions{}); err != nil {
		fmt.Println(err)
	}
	set, err := fakecluster.Eventually(ctx, "3 pods are ready",
		func(ctx context.Context) (*v1alpha1.CloneSet, error) {
			return sets.Get(ctx, "web", metav1.GetOptions{})
		},
		func(set *v1alpha1.CloneSet) bool { return set.Status.ReadyReplicas == 3 })
	cancel()
	fmt.Println(set.Status.ReadyReplicas, "pods are ready, errors", err, <-done)
	fmt.Println(cluster.Requests("operator")["create pods"], "pods were created")
	fmt.Println("webhooks have set the update type", set.Spec.UpdateStrategy.Type)
	// Output:
	// 3 pods are ready, errors <nil> <nil>
	// 3 pods were created
	// webhooks have set the update type ReCreate
}
