// SPDX-License-Identifier: Apache-2.0

package client_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/internal/typedclient"
	"github.com/podwright/podwright/internal/typedclient/clienttest"
	"github.com/podwright/podwright/sidecar/client"
	"github.com/podwright/podwright/sidecar/client/fake"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

func connect(config *rest.Config) (client.Interface, error) { return client.NewForConfig(config) }

func inMemory(objects ...runtime.Object) (client.Interface, clienttesting.FakeClient) {
	c := fake.NewClient(objects...)
	return c, c
}

func TestSidecarSets(t *testing.T) {
	clienttest.Test(t, clienttest.Subject[*v1alpha1.SidecarSet, *v1alpha1.SidecarSetList, client.Interface]{
		Name: "SidecarSet", GroupVersionResource: v1alpha1.SchemeGroupVersion.WithResource("sidecarsets"), InCluster: true,
		Object: func() *v1alpha1.SidecarSet {
			return &v1alpha1.SidecarSet{Spec: v1alpha1.SidecarSetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}}}
		},
		List:    func() *v1alpha1.SidecarSetList { return &v1alpha1.SidecarSetList{} },
		Connect: connect, Fake: inMemory,
		Client: clienttest.Of(func(c client.Interface, _ string) client.SidecarSetInterface { return c.SidecarSets() }),
		Informer: func(c client.Interface, _ string, indexers cache.Indexers) cache.SharedIndexInformer {
			return client.NewSidecarSetInformer(c, 0, indexers)
		},
		Lister: func(indexer cache.Indexer) typedclient.Lister[*v1alpha1.SidecarSet] {
			return clienttest.OfCluster(client.NewSidecarSetLister(indexer))
		},
	})
}
