// SPDX-License-Identifier: Apache-2.0

package image_test

import (
	"context"
	"fmt"
	"log"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/podwright/podwright"
	distributionfake "github.com/podwright/podwright/distribution/client/fake"
	"github.com/podwright/podwright/distribution/image/imagepulljob"
	"github.com/podwright/podwright/distribution/image/nodeimage"
)

// The two controllers that have images pulled, in one program.
func Example() {
	kube, err := kubernetes.NewForConfig(&rest.Config{}) // which is asked nothing here
	if err != nil {
		log.Fatal(err)
	}
	distribution := distributionfake.NewClient() // in a program: NewForConfig of distribution/client
	for _, kind := range []podwright.Kind{
		imagepulljob.Describe(imagepulljob.Options{Kubernetes: kube, Distribution: distribution}, nil),
		nodeimage.Describe(nodeimage.Options{Kubernetes: kube, Distribution: distribution}, nil),
	} {
		if _, err := kind.New(context.Background()); err != nil {
			log.Fatal(err)
		}
		fmt.Println(kind.Name, "reconciles", kind.Resource.Resource)
	}
	// Output:
	// imagepulljob-controller reconciles imagepulljobs
	// nodeimage-controller reconciles nodeimages
}
