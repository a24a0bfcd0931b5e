// SPDX-License-Identifier: Apache-2.0

package client_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/availability/client"
	"github.com/podwright/podwright/availability/client/fake"
	"github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/internal/typedclient/clienttest"
)

func connect(config *rest.Config) (client.Interface, error) { return client.NewForConfig(config) }

func inMemory(objects ...runtime.Object) (client.Interface, clienttesting.FakeClient) {
	c := fake.NewClient(objects...)
	return c, c
}

func TestPodUnavailableBudgets(t *testing.T) {
	clienttest.Test(t, clienttest.Subject[*v1alpha1.PodUnavailableBudget, *v1alpha1.PodUnavailableBudgetList, client.Interface]{
		Name: "PodUnavailableBudget", GroupVersionResource: v1alpha1.SchemeGroupVersion.WithResource("podunavailablebudgets"),
		Object: func() *v1alpha1.PodUnavailableBudget {
			return &v1alpha1.PodUnavailableBudget{Spec: v1alpha1.PodUnavailableBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}}}
		},
		List:    func() *v1alpha1.PodUnavailableBudgetList { return &v1alpha1.PodUnavailableBudgetList{} },
		Connect: connect, Fake: inMemory,
		Client: clienttest.Of(client.Interface.PodUnavailableBudgets),
		Informer: func(c client.Interface, namespace string, indexers cache.Indexers) cache.SharedIndexInformer {
			return client.NewPodUnavailableBudgetInformer(c, namespace, 0, indexers)
		},
		Lister: client.NewPodUnavailableBudgetLister,
	})
}
