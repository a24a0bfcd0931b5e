// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/lifecycle/client"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

var _ = unneeded("toy-controller", onlyUnanswered, "get toys")

func TestToys(t *testing.T) {
	s := steady.NewScene(t, nil)
	clients, err := client.NewForConfig(s.Config())
	if err != nil {
		s.Fatal(err)
	}
	toys := clients.Toys(s.Namespace)
	if _, err := toys.Create(s.Context(), &v1alpha1.Toy{ObjectMeta: metav1.ObjectMeta{Name: "blocks"}}, metav1.CreateOptions{}); err != nil {
		s.Fatal(err)
	}
	s.AwaitAsking("the status of the toy is there", func() string {
		if toy, err := toys.Get(s.Context(), "blocks", metav1.GetOptions{}); err != nil || toy.Status.ObservedGeneration != 1 {
			return fmt.Sprintf("error %v, %+v", err, toy)
		}
		return ""
	})
}
