// SPDX-License-Identifier: Apache-2.0

package podreadiness_test

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/podwright/podwright/lifecycle/podreadiness"
	"github.com/podwright/podwright/lifecycle/readiness"
)

// A program that has a clientset opens the gates of all pods.
func ExampleNew() {
	run := func(ctx context.Context, kube kubernetes.Interface) error {
		controller, err := podreadiness.New(podreadiness.Options{Kubernetes: kube})
		if err != nil {
			return err
		}
		return controller.Run(ctx) // until ctx is done
	}
	_ = run
}

// A new pod gets the gate when it is created, and the condition after that.
func ExampleNewPlan() {
	pod := &corev1.Pod{}
	fmt.Println("the gate is new:", readiness.InjectGate(pod, true))

	plan := podreadiness.NewPlan(&podreadiness.Snapshot{Pod: pod, Now: time.Now()})
	for _, condition := range plan.Patch.Conditions {
		fmt.Println(condition.Type, condition.Status)
	}
	// Output:
	// the gate is new: true
	// KruisePodReady True
}
