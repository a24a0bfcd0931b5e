// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"context"

	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/workloads"
	"github.com/podwright/podwright/workloads/client"
)

// Options says what a Controller or a Reconciler works with. Kubernetes and
// Workloads are required; every other field has a useful zero value.
type Options struct {
	podwright.ControllerOptions
	// Recorder receives events about StatefulSets. Default: that of Recorders.
	Recorder record.EventRecorder

	// Kubernetes reads and writes pods, claims and revisions.
	Kubernetes kubernetes.Interface
	// Workloads reads and writes StatefulSets.
	Workloads client.Interface

	// AdvancedStatefulSets, Pods, Claims and Revisions are shared informers, see ControllerOptions.
	AdvancedStatefulSets, Pods, Claims, Revisions cache.SharedIndexInformer
	// Jobs creates and deletes the jobs that pull images ahead of an in-place
	// update; workloads.NewImagePullJobs makes one. Default nil: no image is pulled ahead.
	Jobs workloads.ImagePullJobs
	// Budget is asked before an update takes a pod out of service. Default nil:
	// every update is allowed.
	Budget workloads.Budget
	// Placement is asked to which nodes a pod goes, before it is created. Default nil: those that its template
	// says.
	Placement workloads.Placement
	// StorageClass reads a storage class, with Features.ResizeClaims, when a claim is to grow. Default: it asks the API server by
	// Kubernetes.
	StorageClass func(ctx context.Context, name string) (*storagev1.StorageClass, error)

	// Features switches behaviour. Its zero value is the default of every feature.
	Features Features
}

func (o *Options) check(c *controller.Checks) {
	c.Client(o.Kubernetes).KindClient("Workloads", "workload", o.Workloads != nil).
		PreDownload(o.Features.PreDownload, o.Jobs != nil)
}
