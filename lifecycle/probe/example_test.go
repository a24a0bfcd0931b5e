// SPDX-License-Identifier: Apache-2.0

package probe_test

import (
	"context"
	"fmt"
	"log"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/podwright/podwright"
	lifecyclefake "github.com/podwright/podwright/lifecycle/client/fake"
	"github.com/podwright/podwright/lifecycle/probe/nodepodprobe"
	"github.com/podwright/podwright/lifecycle/probe/podprobemarker"
)

// The two controllers of probes, in one program.
func Example() {
	kube, err := kubernetes.NewForConfig(&rest.Config{}) // which is asked nothing here
	if err != nil {
		log.Fatal(err)
	}
	lifecycle := lifecyclefake.NewClient() // in a program: NewForConfig of lifecycle/client
	for _, kind := range []podwright.Kind{
		podprobemarker.Describe(podprobemarker.Options{Kubernetes: kube, Lifecycle: lifecycle}, nil),
		nodepodprobe.Describe(nodepodprobe.Options{Kubernetes: kube, Lifecycle: lifecycle}),
	} {
		if _, err := kind.New(context.Background()); err != nil {
			log.Fatal(err)
		}
		fmt.Println(kind.Name, "reconciles", kind.Resource.Resource)
	}
	// Output:
	// podprobemarker-controller reconciles podprobemarkers
	// nodepodprobe-controller reconciles nodepodprobes
}
