// SPDX-License-Identifier: Apache-2.0

package client_test

import (
	"testing"

	"github.com/podwright/podwright/internal/typedclient/clienttest"
	"github.com/podwright/podwright/lifecycle/client"
	"github.com/podwright/podwright/lifecycle/client/fake"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

var clients = clienttest.In[client.Interface](client.NewForConfig, fake.NewClient)

func TestContainerRecreateRequests(t *testing.T) {
	clienttest.Namespaced(t, clients, v1alpha1.SchemeGroupVersion,
		&v1alpha1.ContainerRecreateRequest{Spec: v1alpha1.ContainerRecreateRequestSpec{PodName: "web-0"}},
		client.Interface.ContainerRecreateRequests, client.NewContainerRecreateRequestInformer, client.NewContainerRecreateRequestLister)
}

func TestEphemeralJobs(t *testing.T) {
	clienttest.Namespaced(t, clients, v1alpha1.SchemeGroupVersion, &v1alpha1.EphemeralJob{Spec: v1alpha1.EphemeralJobSpec{Paused: true}},
		client.Interface.EphemeralJobs, client.NewEphemeralJobInformer, client.NewEphemeralJobLister)
}

func TestPodProbeMarkers(t *testing.T) {
	clienttest.Namespaced(t, clients, v1alpha1.SchemeGroupVersion,
		&v1alpha1.PodProbeMarker{Spec: v1alpha1.PodProbeMarkerSpec{Probes: []v1alpha1.PodContainerProbe{{Name: "idle"}}}},
		client.Interface.PodProbeMarkers, client.NewPodProbeMarkerInformer, client.NewPodProbeMarkerLister)
}

func TestNodePodProbes(t *testing.T) {
	clienttest.InCluster(t, clients, v1alpha1.SchemeGroupVersion,
		&v1alpha1.NodePodProbe{Spec: v1alpha1.NodePodProbeSpec{PodProbes: []v1alpha1.PodProbe{{Name: "web-0"}}}},
		client.Interface.NodePodProbes, client.NewNodePodProbeInformer, client.NewNodePodProbeLister)
}
