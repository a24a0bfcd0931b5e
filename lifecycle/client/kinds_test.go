// SPDX-License-Identifier: Apache-2.0

package client_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/internal/typedclient"
	"github.com/podwright/podwright/internal/typedclient/clienttest"
	"github.com/podwright/podwright/lifecycle/client"
	"github.com/podwright/podwright/lifecycle/client/fake"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

func connect(config *rest.Config) (client.Interface, error) { return client.NewForConfig(config) }

func inMemory(objects ...runtime.Object) (client.Interface, clienttesting.FakeClient) {
	c := fake.NewClient(objects...)
	return c, c
}

func TestContainerRecreateRequests(t *testing.T) {
	clienttest.Test(t, clienttest.Subject[*v1alpha1.ContainerRecreateRequest, *v1alpha1.ContainerRecreateRequestList, client.Interface]{
		Name: "ContainerRecreateRequest", GroupVersionResource: v1alpha1.SchemeGroupVersion.WithResource("containerrecreaterequests"),
		Object: func() *v1alpha1.ContainerRecreateRequest {
			return &v1alpha1.ContainerRecreateRequest{Spec: v1alpha1.ContainerRecreateRequestSpec{PodName: "web-0"}}
		},
		List:    func() *v1alpha1.ContainerRecreateRequestList { return &v1alpha1.ContainerRecreateRequestList{} },
		Connect: connect, Fake: inMemory,
		Client: clienttest.Of(client.Interface.ContainerRecreateRequests),
		Informer: func(c client.Interface, namespace string, indexers cache.Indexers) cache.SharedIndexInformer {
			return client.NewContainerRecreateRequestInformer(c, namespace, 0, indexers)
		},
		Lister: client.NewContainerRecreateRequestLister,
	})
}

func TestEphemeralJobs(t *testing.T) {
	clienttest.Test(t, clienttest.Subject[*v1alpha1.EphemeralJob, *v1alpha1.EphemeralJobList, client.Interface]{
		Name: "EphemeralJob", GroupVersionResource: v1alpha1.SchemeGroupVersion.WithResource("ephemeraljobs"),
		Object: func() *v1alpha1.EphemeralJob {
			return &v1alpha1.EphemeralJob{Spec: v1alpha1.EphemeralJobSpec{Paused: true}}
		},
		List:    func() *v1alpha1.EphemeralJobList { return &v1alpha1.EphemeralJobList{} },
		Connect: connect, Fake: inMemory,
		Client: clienttest.Of(client.Interface.EphemeralJobs),
		Informer: func(c client.Interface, namespace string, indexers cache.Indexers) cache.SharedIndexInformer {
			return client.NewEphemeralJobInformer(c, namespace, 0, indexers)
		},
		Lister: client.NewEphemeralJobLister,
	})
}

func TestPodProbeMarkers(t *testing.T) {
	clienttest.Test(t, clienttest.Subject[*v1alpha1.PodProbeMarker, *v1alpha1.PodProbeMarkerList, client.Interface]{
		Name: "PodProbeMarker", GroupVersionResource: v1alpha1.SchemeGroupVersion.WithResource("podprobemarkers"),
		Object: func() *v1alpha1.PodProbeMarker {
			return &v1alpha1.PodProbeMarker{Spec: v1alpha1.PodProbeMarkerSpec{Probes: []v1alpha1.PodContainerProbe{{Name: "idle"}}}}
		},
		List:    func() *v1alpha1.PodProbeMarkerList { return &v1alpha1.PodProbeMarkerList{} },
		Connect: connect, Fake: inMemory,
		Client: clienttest.Of(client.Interface.PodProbeMarkers),
		Informer: func(c client.Interface, namespace string, indexers cache.Indexers) cache.SharedIndexInformer {
			return client.NewPodProbeMarkerInformer(c, namespace, 0, indexers)
		},
		Lister: client.NewPodProbeMarkerLister,
	})
}

func TestNodePodProbes(t *testing.T) {
	clienttest.Test(t, clienttest.Subject[*v1alpha1.NodePodProbe, *v1alpha1.NodePodProbeList, client.Interface]{
		Name: "NodePodProbe", GroupVersionResource: v1alpha1.SchemeGroupVersion.WithResource("nodepodprobes"), InCluster: true,
		Object: func() *v1alpha1.NodePodProbe {
			return &v1alpha1.NodePodProbe{Spec: v1alpha1.NodePodProbeSpec{PodProbes: []v1alpha1.PodProbe{{Name: "web-0"}}}}
		},
		List:    func() *v1alpha1.NodePodProbeList { return &v1alpha1.NodePodProbeList{} },
		Connect: connect, Fake: inMemory,
		Client: clienttest.Of(func(c client.Interface, _ string) client.NodePodProbeInterface { return c.NodePodProbes() }),
		Informer: func(c client.Interface, _ string, indexers cache.Indexers) cache.SharedIndexInformer {
			return client.NewNodePodProbeInformer(c, 0, indexers)
		},
		Lister: func(indexer cache.Indexer) typedclient.Lister[*v1alpha1.NodePodProbe] {
			return clienttest.OfCluster(client.NewNodePodProbeLister(indexer))
		},
	})
}
