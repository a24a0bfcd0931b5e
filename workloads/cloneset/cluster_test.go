// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/internal/testing/patches"
	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// cluster is a fake cluster with CloneSets.
type cluster struct {
	*fixture.Kind[Options, Snapshot, Plan]
	deleted *corev1.PersistentVolumeClaim // by sendLater
}

var (
	web       = fixture.Web
	cloneSets = fakecluster.CustomResource(v1alpha1.SchemeGroupVersion.WithKind("CloneSet"), "clonesets")
	tested    = fixture.Package[Options, Snapshot, Plan]{New: New, NewReconciler: NewReconciler, Acts: acts, Plan: func(p *Plan) *rollout.Plan { return &p.Plan }}
)

func newCluster(f *fixture.Cluster) *cluster {
	workloads := connect(f, fixture.ControllerUser)
	o := Options{
		Kubernetes: f.Client(fixture.ControllerUser), Workloads: workloads, ControllerOptions: podwright.ControllerOptions{Recorders: f.Events.Of},
		CloneSets: f.Add(client.NewCloneSetInformer(workloads, "", 0, cache.Indexers{})),
		Pods:      f.PodInformer(), Claims: f.ClaimInformer(), Revisions: f.RevisionInformer(),
		Nodes: f.Add(caches.NewInformers(f.Client(fixture.ControllerUser), "").Nodes()),
	}
	o.Reader = controller.Caches(o.reads())
	o.NoNodes = true // but in stories of nodes
	return &cluster{Kind: fixture.NewKind(f, tested, o)}
}

func connect(f *fixture.Cluster, user string) client.Interface {
	return fixture.Connect(f.T, f.Server, user, client.NewForConfig)
}

func testSet(replicas int32) *v1alpha1.CloneSet {
	return patches.Changed(words, &v1alpha1.CloneSet{}, "stored", fmt.Sprint("replicas=", replicas))
}
