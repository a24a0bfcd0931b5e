// SPDX-License-Identifier: Apache-2.0

package fake_test

import (
	"context"
	"fmt"
	"log"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/availability/client/fake"
	"github.com/podwright/podwright/availability/v1alpha1"
)

// A client for a unit test, with what there is before it begins.
func ExampleNewClient() {
	c := fake.NewClient(&v1alpha1.PodUnavailableBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}})

	found, err := c.PodUnavailableBudgets("shop").Get(context.Background(), "web", metav1.GetOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(found.Name)
	for _, action := range c.Actions() {
		fmt.Println(action.GetVerb(), action.GetResource().Resource)
	}
	// Output:
	// web
	// get podunavailablebudgets
}
