// SPDX-License-Identifier: Apache-2.0

package recreate_test

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/podwright/podwright/lifecycle/client"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/nodeagent"
	"github.com/podwright/podwright/nodeagent/recreate"
)

// A plan says what the next reconcile would do about the requests for a pod, and what
// everything else waits for. In this example a new request has come.
func ExampleNewPlan() {
	kubelet := func(container string) map[string]string { // what it tells the runtime
		return map[string]string{
			nodeagent.PodNamespaceLabel: "shop", nodeagent.PodNameLabel: "web-0", nodeagent.PodUIDLabel: "5b1e",
			nodeagent.ContainerNameLabel: container,
		}
	}
	meant := func(name, id string) v1alpha1.ContainerRecreateRequestContainer {
		return v1alpha1.ContainerRecreateRequestContainer{
			Name: name, StatusContext: &v1alpha1.ContainerRecreateRequestContainerContext{ContainerID: "containerd://" + id},
		}
	}
	runs := func(name, id string) *criv1.Container {
		return &criv1.Container{Id: id, State: criv1.ContainerState_CONTAINER_RUNNING, Labels: kubelet(name)}
	}
	plan := recreate.NewPlan(&recreate.Snapshot{
		Requests: []*v1alpha1.ContainerRecreateRequest{{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: "shop", Name: "restart",
				Labels: map[string]string{v1alpha1.ContainerRecreateRequestPodUIDLabel: "5b1e"},
			},
			Spec: v1alpha1.ContainerRecreateRequestSpec{
				PodName:    "web-0",
				Containers: []v1alpha1.ContainerRecreateRequestContainer{meant("main", "4fa6"), meant("log", "81c2")},
			},
		}},
		Runtime:    "containerd",
		Containers: []*criv1.Container{runs("main", "4fa6"), runs("log", "81c2")},
		Sandbox:    &criv1.PodSandboxStatus{Labels: kubelet("")},
		Now:        time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
	})

	for _, state := range plan.Write.Status.ContainerRecreateStates {
		fmt.Printf("to write: %s %s, killed: %t\n", state.Name, state.Phase, state.IsKilled)
	}
	fmt.Println("to stop then:", plan.Stop.Container, plan.Stop.ID)
	for _, waiting := range plan.Waiting {
		fmt.Printf("%s: %s\n", waiting.Name, waiting.Reason)
	}
	// Output:
	// to write: main Pending, killed: false
	// to write: log Pending, killed: false
	// to stop then: main 4fa6
	// log: one container is stopped at a time
}

// All that it takes to work on the requests for the pods of a node.
func ExampleNew() {
	run := func(ctx context.Context, config *rest.Config, node string) error {
		lifecycle, err := client.NewForConfig(config)
		if err != nil {
			return err
		}
		dialing, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		runtime, err := nodeagent.Dial(dialing, "unix:///run/containerd/containerd.sock")
		if err != nil {
			return err
		}
		defer runtime.Close()
		controller, err := recreate.New(recreate.Options{Lifecycle: lifecycle, Runtime: runtime, Node: node})
		if err != nil {
			return err
		}
		return controller.Run(ctx)
	}
	_ = run
}
