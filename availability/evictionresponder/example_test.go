// SPDX-License-Identifier: Apache-2.0

package evictionresponder_test

import (
	"context"
	"fmt"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/podwright/podwright/availability/evictionresponder"
	workloadsclient "github.com/podwright/podwright/workloads/client"
)

// A program runs the responder if there is the API.
func ExampleNew() {
	run := func(ctx context.Context, config *rest.Config) error {
		kube, err := kubernetes.NewForConfig(config)
		if err != nil {
			return err
		}
		if served, err := evictionresponder.Served(kube.Discovery()); !served || err != nil {
			return err
		}
		lifecycle, err := evictionresponder.NewClient(config, nil)
		if err != nil {
			return err
		}
		workloads, err := workloadsclient.NewForConfig(config)
		if err != nil {
			return err
		}
		controller, err := evictionresponder.New(evictionresponder.Options{Kubernetes: kube, EvictionClient: lifecycle, Workloads: workloads})
		if err != nil {
			return err
		}
		return controller.Run(ctx) // until ctx is done
	}
	_ = run
}

// The only pod of a CloneSet with a maxSurge waits for another one.
func ExampleNewPlan() {
	waiting := snapshot()
	fmt.Println(evictionresponder.NewPlan(waiting).Waiting[0].Reason)

	waiting.Pods = append(waiting.Pods, servingPod("web-b"))
	fmt.Println(evictionresponder.NewPlan(waiting).Evict)
	// Output:
	// CloneSet web has 0 of 1 pods available beside this one; the pod goes once it has created another, or at 2026-05-01T12:09:00Z
	// true
}
