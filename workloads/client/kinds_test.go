// SPDX-License-Identifier: Apache-2.0

package client_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/internal/typedclient/clienttest"
	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/client/fake"
	"github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

func connect(config *rest.Config) (client.Interface, error) { return client.NewForConfig(config) }

func inMemory(objects ...runtime.Object) (client.Interface, clienttesting.FakeClient) {
	c := fake.NewClient(objects...)
	return c, c
}

func TestCloneSets(t *testing.T) {
	clienttest.Test(t, clienttest.Subject[*v1alpha1.CloneSet, *v1alpha1.CloneSetList, client.Interface]{
		Name: "CloneSet", GroupVersionResource: v1alpha1.SchemeGroupVersion.WithResource("clonesets"),
		Object:  func() *v1alpha1.CloneSet { return &v1alpha1.CloneSet{Spec: v1alpha1.CloneSetSpec{MinReadySeconds: 5}} },
		List:    func() *v1alpha1.CloneSetList { return &v1alpha1.CloneSetList{} },
		Connect: connect, Fake: inMemory,
		Client: clienttest.Of(client.Interface.CloneSets),
		Informer: func(c client.Interface, namespace string, indexers cache.Indexers) cache.SharedIndexInformer {
			return client.NewCloneSetInformer(c, namespace, 0, indexers)
		},
		Lister: client.NewCloneSetLister,
	})
}

func TestStatefulSets(t *testing.T) {
	clienttest.Test(t, clienttest.Subject[*v1beta1.StatefulSet, *v1beta1.StatefulSetList, client.Interface]{
		Name: "StatefulSet", GroupVersionResource: v1beta1.SchemeGroupVersion.WithResource("statefulsets"),
		Object: func() *v1beta1.StatefulSet {
			return &v1beta1.StatefulSet{Spec: v1beta1.StatefulSetSpec{ServiceName: "web"}}
		},
		List:    func() *v1beta1.StatefulSetList { return &v1beta1.StatefulSetList{} },
		Connect: connect, Fake: inMemory,
		Client: clienttest.Of(client.Interface.StatefulSets),
		Informer: func(c client.Interface, namespace string, indexers cache.Indexers) cache.SharedIndexInformer {
			return client.NewStatefulSetInformer(c, namespace, 0, indexers)
		},
		Lister: client.NewStatefulSetLister,
	})
}

func TestUnitedDeployments(t *testing.T) {
	clienttest.Test(t, clienttest.Subject[*v1alpha1.UnitedDeployment, *v1alpha1.UnitedDeploymentList, client.Interface]{
		Name: "UnitedDeployment", GroupVersionResource: v1alpha1.SchemeGroupVersion.WithResource("uniteddeployments"),
		Object: func() *v1alpha1.UnitedDeployment {
			return &v1alpha1.UnitedDeployment{Spec: v1alpha1.UnitedDeploymentSpec{Replicas: new(int32(5))}}
		},
		List:    func() *v1alpha1.UnitedDeploymentList { return &v1alpha1.UnitedDeploymentList{} },
		Connect: connect, Fake: inMemory,
		Client: clienttest.Of(client.Interface.UnitedDeployments),
		Informer: func(c client.Interface, namespace string, indexers cache.Indexers) cache.SharedIndexInformer {
			return client.NewUnitedDeploymentInformer(c, namespace, 0, indexers)
		},
		Lister: client.NewUnitedDeploymentLister,
	})
}
