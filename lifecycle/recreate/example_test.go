// SPDX-License-Identifier: Apache-2.0

package recreate_test

import (
	"context"
	"fmt"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/podwright/podwright/lifecycle/client"
	"github.com/podwright/podwright/lifecycle/recreate"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// A program that has a *rest.Config manages ContainerRecreateRequests.
func ExampleNew() {
	run := func(ctx context.Context, config *rest.Config) error {
		lifecycle, err := client.NewForConfig(config)
		if err != nil {
			return err
		}
		config = rest.CopyConfig(config)
		config.ContentType = "application/vnd.kubernetes.protobuf"
		kube, err := kubernetes.NewForConfig(config)
		if err != nil {
			return err
		}
		controller, err := recreate.New(recreate.Options{Kubernetes: kube, Lifecycle: lifecycle})
		if err != nil {
			return err
		}
		return controller.Run(ctx) // until ctx is done
	}
	_ = run
}

// The webhook fills in what a node agent needs to know of the pod.
func ExampleWebhook_Handlers() {
	serve := func(kube kubernetes.Interface, mux *http.ServeMux) {
		webhook := &recreate.Webhook{Pods: func(ctx context.Context, namespace, name string) (*corev1.Pod, error) {
			return kube.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
		}}
		for path, handler := range webhook.Handlers() {
			mux.Handle(path, handler)
		}
	}
	_ = serve
}

// A request is checked and filled in, and a plan says what happens next, without
// any cluster.
func Example() {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-0", UID: "7f1e"},
		Spec: corev1.PodSpec{
			NodeName: "node-1", Containers: []corev1.Container{{Name: "main"}},
			ReadinessGates: []corev1.PodReadinessGate{{ConditionType: v1alpha1.KruisePodReady}},
		},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{
			{Name: "main", ContainerID: "containerd://4fa6", RestartCount: 2},
		}},
	}
	request := &v1alpha1.ContainerRecreateRequest{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "restart", CreationTimestamp: metav1.NewTime(start)},
		Spec: v1alpha1.ContainerRecreateRequestSpec{
			PodName:    "web-0",
			Containers: []v1alpha1.ContainerRecreateRequestContainer{{Name: "main"}, {Name: "mian"}},
			Strategy:   &v1alpha1.ContainerRecreateRequestStrategy{UnreadyGracePeriodSeconds: new(int64(10))},
		},
	}
	fmt.Println("wrong:", recreate.ValidatePod(request, pod))
	request.Spec.Containers = request.Spec.Containers[:1]
	recreate.Default(request, pod)

	snapshot := &recreate.Snapshot{Request: request, Pod: pod, Now: start.Add(5 * time.Second)}
	plan := recreate.NewPlan(snapshot)
	fmt.Println("new:", plan.Waiting[0], "- look again in", plan.RequeueAfter)

	request.Status.Phase = v1alpha1.ContainerRecreateRequestRecreating // the node agent has answered
	for _, step := range recreate.NewPlan(snapshot).Steps {
		fmt.Println("answered:", step.Why)
	}
	// Output:
	// wrong: [spec.containers[1].name: Invalid value: "mian": pod web-0 has no such container; init and ephemeral containers cannot be recreated]
	// new: the node agent has not answered yet, it runs on node "node-1" - look again in 55s
	// answered: see to it that the pod comes back into service, whatever happens
	// answered: take the pod out of service
	// answered: the pod is out of service, the containers are stopped after 10 seconds
}
