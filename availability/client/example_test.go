// SPDX-License-Identifier: Apache-2.0

package client_test

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/availability/client"
	"github.com/podwright/podwright/availability/v1alpha1"
)

// Let at most a tenth of the pods of a Deployment be taken down at a time.
func ExampleNewForConfig() {
	config, err := rest.InClusterConfig()
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := client.NewForConfig(config)
	if err != nil {
		fmt.Println(err)
		return
	}
	budget := &v1alpha1.PodUnavailableBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"},
		Spec: v1alpha1.PodUnavailableBudgetSpec{
			TargetReference: &v1alpha1.TargetReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"},
			MaxUnavailable:  ptr.To(intstr.FromString("10%")),
		},
	}
	if _, err := c.PodUnavailableBudgets("shop").Create(context.Background(), budget, metav1.CreateOptions{}); err != nil {
		fmt.Println(err)
	}
}
