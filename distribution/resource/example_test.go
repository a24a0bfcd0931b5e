// SPDX-License-Identifier: Apache-2.0

package resource_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/distribution/resource"
	"github.com/podwright/podwright/distribution/v1alpha1"
)

// The controller in a program that has a *rest.Config.
func ExampleNew() {
	run := func(ctx context.Context, config *rest.Config) error {
		config = rest.CopyConfig(config)
		config.QPS = -1 // the API server shares itself out fairly
		distribution, err := client.NewForConfig(config)
		if err != nil {
			return err
		}
		config.ContentType = "application/vnd.kubernetes.protobuf"
		kube, err := kubernetes.NewForConfig(config)
		if err != nil {
			return err
		}
		controller, err := resource.New(resource.Options{Distribution: distribution, Kubernetes: kube})
		if err != nil {
			return err
		}
		return controller.Run(ctx)
	}
	_ = run
}

// What would a ResourceDistribution write? No cluster is needed to ask.
func ExampleNewPlan() {
	distribution := &v1alpha1.ResourceDistribution{
		ObjectMeta: metav1.ObjectMeta{Name: "registry"},
		Spec: v1alpha1.ResourceDistributionSpec{
			Resource: runtime.RawExtension{Raw: []byte(`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"registry"},"stringData":{"token":"t"}}`)},
			Targets: v1alpha1.ResourceDistributionTargets{
				IncludedNamespaces:     v1alpha1.ResourceDistributionTargetNamespaces{List: []v1alpha1.ResourceDistributionNamespace{{Name: "shop"}, {Name: "later"}}},
				NamespaceLabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{"team": "web"}},
			},
		},
	}
	plan := resource.NewPlan(&resource.Snapshot{Distribution: distribution, Namespaces: []*corev1.Namespace{
		{ObjectMeta: metav1.ObjectMeta{Name: "shop"}},
		{ObjectMeta: metav1.ObjectMeta{Name: "cart", Labels: map[string]string{"team": "web"}}},
		{ObjectMeta: metav1.ObjectMeta{Name: "other"}},
	}})
	fmt.Println(plan)
	// Output:
	// create in cart, shop
	// NamespaceNotExists in later: namespace not found or is terminating
}
