// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"fmt"

	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/internal/testing/patches"
	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// cluster is a fake cluster with StatefulSets.
type cluster struct {
	*fixture.Kind[Options, Snapshot, Plan]
}

// storageClasses are asked about claims that are to grow.
var storageClasses = fakecluster.Resource{GroupVersionKind: storagev1.SchemeGroupVersion.WithKind("StorageClass"), Name: "storageclasses", ClusterScoped: true,
	Type: func() any { return &storagev1.StorageClass{} }}

var (
	web          = types.NamespacedName{Namespace: "default", Name: "web"}
	statefulSets = fakecluster.CustomResource(v1beta1.SchemeGroupVersion.WithKind("StatefulSet"), "statefulsets")
	tested       = fixture.Package[Options, Snapshot, Plan]{New: New, NewReconciler: NewReconciler, Acts: acts, Plan: func(p *Plan) *rollout.Plan { return &p.Plan }}
)

func newCluster(f *fixture.Cluster) *cluster {
	workloads := connect(f, fixture.ControllerUser)
	o := Options{
		Kubernetes: f.Client(fixture.ControllerUser), Workloads: workloads, ControllerOptions: podwright.ControllerOptions{Recorders: f.Events.Of},
		AdvancedStatefulSets: f.Add(client.NewStatefulSetInformer(workloads, "", 0, cache.Indexers{})),
		Pods:                 f.PodInformer(), Claims: f.ClaimInformer(), Revisions: f.RevisionInformer(),
	}
	o.Reader = controller.Caches(o.reads())
	return &cluster{Kind: fixture.NewKind(f, tested, o)}
}

func connect(f *fixture.Cluster, user string) client.Interface {
	return fixture.Connect(f.T, f.Server, user, client.NewForConfig)
}

func testSet(replicas int32) *v1beta1.StatefulSet {
	return patches.Changed(words, &v1beta1.StatefulSet{}, "stored", fmt.Sprint("replicas=", replicas))
}
