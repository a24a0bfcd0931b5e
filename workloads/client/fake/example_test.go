// SPDX-License-Identifier: Apache-2.0

package fake_test

import (
	"context"
	"fmt"
	"log"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/workloads/client/fake"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// A client for a unit test, with what there is before it begins.
func ExampleNewClient() {
	c := fake.NewClient(&v1alpha1.CloneSet{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}})

	found, err := c.CloneSets("shop").Get(context.Background(), "web", metav1.GetOptions{})
	if err != nil {
		log.Fatal(err)
	}
	found.Labels = map[string]string{"team": "web"}
	if _, err := c.CloneSets("shop").Update(context.Background(), found, metav1.UpdateOptions{}); err != nil {
		log.Fatal(err)
	}
	list, err := c.CloneSets("shop").List(context.Background(), metav1.ListOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for _, one := range list.Items {
		fmt.Println(one.Name, one.Labels)
	}
	for _, action := range c.Actions() {
		fmt.Println(action.GetVerb(), action.GetResource().Resource)
	}
	// Output:
	// web map[team:web]
	// get clonesets
	// update clonesets
	// list clonesets
}
