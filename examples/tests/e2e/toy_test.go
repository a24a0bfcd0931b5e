// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/testing/toy/client"
	"github.com/podwright/podwright/internal/testing/toy/v1alpha1"
)

// No manager runs toys here. So the test of the toy kind is compiled, and does not run.
var _, _ = toyRules, testToys

// The test of the toy kind begins here: internal/controller/toy_test.go counts its lines.

func toyRules() bool { return unneeded("toy-controller", onlyUnanswered, "get toys") }

func testToys(t *testing.T) {
	s := steady.NewScene(t, nil)
	clients, err := client.NewForConfig(steady.Config())
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

// The test ends here.
