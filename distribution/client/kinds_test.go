// SPDX-License-Identifier: Apache-2.0

package client_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/distribution/client/fake"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/typedclient"
	"github.com/podwright/podwright/internal/typedclient/clienttest"
)

func connect(config *rest.Config) (client.Interface, error) { return client.NewForConfig(config) }

func inMemory(objects ...runtime.Object) (client.Interface, clienttesting.FakeClient) {
	c := fake.NewClient(objects...)
	return c, c
}

func TestImagePullJobs(t *testing.T) {
	clienttest.Test(t, clienttest.Subject[*v1alpha1.ImagePullJob, *v1alpha1.ImagePullJobList, client.Interface]{
		Name: "ImagePullJob", GroupVersionResource: v1alpha1.SchemeGroupVersion.WithResource("imagepulljobs"),
		Object: func() *v1alpha1.ImagePullJob {
			return &v1alpha1.ImagePullJob{Spec: v1alpha1.ImagePullJobSpec{Image: "nginx:2"}}
		},
		List:    func() *v1alpha1.ImagePullJobList { return &v1alpha1.ImagePullJobList{} },
		Connect: connect, Fake: inMemory,
		Client: clienttest.Of(client.Interface.ImagePullJobs),
		Informer: func(c client.Interface, namespace string, indexers cache.Indexers) cache.SharedIndexInformer {
			return client.NewImagePullJobInformer(c, namespace, 0, indexers)
		},
		Lister: client.NewImagePullJobLister,
	})
}

func TestNodeImages(t *testing.T) {
	clienttest.Test(t, clienttest.Subject[*v1alpha1.NodeImage, *v1alpha1.NodeImageList, client.Interface]{
		Name: "NodeImage", GroupVersionResource: v1alpha1.SchemeGroupVersion.WithResource("nodeimages"), InCluster: true,
		Object: func() *v1alpha1.NodeImage {
			return &v1alpha1.NodeImage{Spec: v1alpha1.NodeImageSpec{Images: map[string]v1alpha1.ImageSpec{"nginx": {Tags: []v1alpha1.ImageTagSpec{{Tag: "2"}}}}}}
		},
		List:    func() *v1alpha1.NodeImageList { return &v1alpha1.NodeImageList{} },
		Connect: connect, Fake: inMemory,
		Client: clienttest.Of(func(c client.Interface, _ string) client.NodeImageInterface { return c.NodeImages() }),
		Informer: func(c client.Interface, _ string, indexers cache.Indexers) cache.SharedIndexInformer {
			return client.NewNodeImageInformer(c, 0, indexers)
		},
		Lister: func(indexer cache.Indexer) typedclient.Lister[*v1alpha1.NodeImage] {
			return clienttest.OfCluster(client.NewNodeImageLister(indexer))
		},
	})
}

func TestResourceDistributions(t *testing.T) {
	clienttest.Test(t, clienttest.Subject[*v1alpha1.ResourceDistribution, *v1alpha1.ResourceDistributionList, client.Interface]{
		Name: "ResourceDistribution", GroupVersionResource: v1alpha1.SchemeGroupVersion.WithResource("resourcedistributions"), InCluster: true,
		Object: func() *v1alpha1.ResourceDistribution {
			return &v1alpha1.ResourceDistribution{Spec: v1alpha1.ResourceDistributionSpec{Targets: v1alpha1.ResourceDistributionTargets{AllNamespaces: true}}}
		},
		List:    func() *v1alpha1.ResourceDistributionList { return &v1alpha1.ResourceDistributionList{} },
		Connect: connect, Fake: inMemory,
		Client: clienttest.Of(func(c client.Interface, _ string) client.ResourceDistributionInterface {
			return c.ResourceDistributions()
		}),
		Informer: func(c client.Interface, _ string, indexers cache.Indexers) cache.SharedIndexInformer {
			return client.NewResourceDistributionInformer(c, 0, indexers)
		},
		Lister: func(indexer cache.Indexer) typedclient.Lister[*v1alpha1.ResourceDistribution] {
			return clienttest.OfCluster(client.NewResourceDistributionLister(indexer))
		},
	})
}

func TestPersistentPodStates(t *testing.T) {
	clienttest.Test(t, clienttest.Subject[*v1alpha1.PersistentPodState, *v1alpha1.PersistentPodStateList, client.Interface]{
		Name: "PersistentPodState", GroupVersionResource: v1alpha1.SchemeGroupVersion.WithResource("persistentpodstates"),
		Object: func() *v1alpha1.PersistentPodState {
			return &v1alpha1.PersistentPodState{Spec: v1alpha1.PersistentPodStateSpec{
				TargetReference:            v1alpha1.TargetReference{APIVersion: "apps/v1", Kind: "StatefulSet", Name: "web"},
				RequiredPersistentTopology: &v1alpha1.NodeTopologyTerm{NodeTopologyKeys: []string{"kubernetes.io/hostname"}},
			}}
		},
		List:    func() *v1alpha1.PersistentPodStateList { return &v1alpha1.PersistentPodStateList{} },
		Connect: connect, Fake: inMemory,
		Client: clienttest.Of(client.Interface.PersistentPodStates),
		Informer: func(c client.Interface, namespace string, indexers cache.Indexers) cache.SharedIndexInformer {
			return client.NewPersistentPodStateInformer(c, namespace, 0, indexers)
		},
		Lister: client.NewPersistentPodStateLister,
	})
}

func TestWorkloadSpreads(t *testing.T) {
	clienttest.Test(t, clienttest.Subject[*v1alpha1.WorkloadSpread, *v1alpha1.WorkloadSpreadList, client.Interface]{
		Name: "WorkloadSpread", GroupVersionResource: v1alpha1.SchemeGroupVersion.WithResource("workloadspreads"),
		Object: func() *v1alpha1.WorkloadSpread {
			return &v1alpha1.WorkloadSpread{Spec: v1alpha1.WorkloadSpreadSpec{
				TargetReference: &v1alpha1.TargetReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"},
				Subsets:         []v1alpha1.WorkloadSpreadSubset{{Name: "a"}},
			}}
		},
		List:    func() *v1alpha1.WorkloadSpreadList { return &v1alpha1.WorkloadSpreadList{} },
		Connect: connect, Fake: inMemory,
		Client: clienttest.Of(client.Interface.WorkloadSpreads),
		Informer: func(c client.Interface, namespace string, indexers cache.Indexers) cache.SharedIndexInformer {
			return client.NewWorkloadSpreadInformer(c, namespace, 0, indexers)
		},
		Lister: client.NewWorkloadSpreadLister,
	})
}
