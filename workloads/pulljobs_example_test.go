// SPDX-License-Identifier: Apache-2.0

package workloads_test

import (
	"context"
	"fmt"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	distribution "github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/workloads"
	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/cloneset"
)

// Pull new images to the nodes before their pods are updated in place. This
// needs the ImagePullJob kind in the cluster, and a controller for it.
func ExampleNewImagePullJobs() {
	run := func(ctx context.Context, config *rest.Config) error {
		pulls, err := distribution.NewForConfig(config)
		if err != nil {
			return err
		}
		informer := distribution.NewImagePullJobInformer(pulls, "", 0, cache.Indexers{})
		jobs, err := workloads.NewImagePullJobs(pulls, informer)
		if err != nil {
			return err
		}
		go informer.RunWithContext(ctx)
		cache.WaitForCacheSync(ctx.Done(), informer.HasSynced)

		kinds, err := client.NewForConfig(config)
		if err != nil {
			return err
		}
		controller, err := cloneset.New(cloneset.Options{
			Kubernetes: kubernetes.NewForConfigOrDie(config), Workloads: kinds,
			Jobs: jobs, Features: cloneset.Features{PreDownload: true},
		})
		if err != nil {
			return err
		}
		return controller.Run(ctx)
	}
	fmt.Printf("%T\n", run)
	// Output: func(context.Context, *rest.Config) error
}
