// SPDX-License-Identifier: Apache-2.0

package client_test

import (
	"testing"

	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/distribution/client/fake"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/typedclient/clienttest"
)

var clients = clienttest.In[client.Interface](client.NewForConfig, fake.NewClient)

func TestImagePullJobs(t *testing.T) {
	clienttest.Namespaced(t, clients, v1alpha1.SchemeGroupVersion, &v1alpha1.ImagePullJob{Spec: v1alpha1.ImagePullJobSpec{Image: "nginx:2"}},
		client.Interface.ImagePullJobs, client.NewImagePullJobInformer, client.NewImagePullJobLister)
}

func TestNodeImages(t *testing.T) {
	clienttest.InCluster(t, clients, v1alpha1.SchemeGroupVersion,
		&v1alpha1.NodeImage{Spec: v1alpha1.NodeImageSpec{Images: map[string]v1alpha1.ImageSpec{"nginx": {}}}},
		client.Interface.NodeImages, client.NewNodeImageInformer, client.NewNodeImageLister)
}

func TestResourceDistributions(t *testing.T) {
	clienttest.InCluster(t, clients, v1alpha1.SchemeGroupVersion, &v1alpha1.ResourceDistribution{Spec: v1alpha1.ResourceDistributionSpec{
		Targets: v1alpha1.ResourceDistributionTargets{AllNamespaces: true}}},
		client.Interface.ResourceDistributions, client.NewResourceDistributionInformer, client.NewResourceDistributionLister)
}

func TestPersistentPodStates(t *testing.T) {
	clienttest.Namespaced(t, clients, v1alpha1.SchemeGroupVersion, &v1alpha1.PersistentPodState{Spec: v1alpha1.PersistentPodStateSpec{
		TargetReference: v1alpha1.TargetReference{Name: "web"}}},
		client.Interface.PersistentPodStates, client.NewPersistentPodStateInformer, client.NewPersistentPodStateLister)
}

func TestWorkloadSpreads(t *testing.T) {
	clienttest.Namespaced(t, clients, v1alpha1.SchemeGroupVersion, &v1alpha1.WorkloadSpread{Spec: v1alpha1.WorkloadSpreadSpec{
		Subsets: []v1alpha1.WorkloadSpreadSubset{{Name: "a"}}}},
		client.Interface.WorkloadSpreads, client.NewWorkloadSpreadInformer, client.NewWorkloadSpreadLister)
}
