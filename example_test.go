// SPDX-License-Identifier: Apache-2.0

package podwright_test

import (
	"context"
	"fmt"
	"log"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/workloads/broadcastjob"
	workloadsfake "github.com/podwright/podwright/workloads/client/fake"
	"github.com/podwright/podwright/workloads/cloneset"
)

// Make the options that all controllers share once, and give them to every kind.
func ExampleControllerOptions() {
	kube, err := kubernetes.NewForConfig(&rest.Config{}) // which is asked nothing here
	if err != nil {
		log.Fatal(err)
	}
	workloads := workloadsfake.NewClient() // in a program: NewForConfig of workloads/client
	all := podwright.ControllerOptions{Namespace: "shop", Workers: 5}

	for _, kind := range []podwright.Kind{
		cloneset.Describe(cloneset.Options{ControllerOptions: all, Kubernetes: kube, Workloads: workloads}, nil),
		broadcastjob.Describe(broadcastjob.Options{ControllerOptions: all, Kubernetes: kube, Workloads: workloads}, nil),
	} {
		controller, err := kind.New(context.Background())
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(kind.Name, "reconciles", kind.Resource.Resource, "and has filled its caches:", controller.HasSynced())
		// Now run it, in a goroutine of its own: controller.Run(ctx) works until ctx is done.
	}
	// Output:
	// cloneset-controller reconciles clonesets and has filled its caches: false
	// broadcastjob-controller reconciles broadcastjobs and has filled its caches: false
}
