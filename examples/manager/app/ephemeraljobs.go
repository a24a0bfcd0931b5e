// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/podwright/podwright/examples/process/controllers"
	"github.com/podwright/podwright/lifecycle/ephemeraljob"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

func ephemeralJobs(f *pflag.FlagSet) kind {
	workers := f.Int("ephemeraljob-workers", 10, "EphemeralJobs reconciled at the same time")
	return kind{
		name: "ephemeraljob-controller", resource: lifecyclev1alpha1.SchemeGroupVersion.WithResource("ephemeraljobs"),
		compose: func(_ context.Context, p *parts) (controllers.Composed, error) {
			return controllers.Of(ephemeraljob.Options{
				Kubernetes: p.Kubernetes, Lifecycle: p.Lifecycle, Namespace: p.namespace, Recorder: p.Recorder, Metrics: reconciles, Workers: *workers,
				EphemeralJobs: p.caches.ephemeralJobs(), Pods: p.caches.pods(),
			}, ephemeraljob.New, ephemeraljob.Rules), nil
		},
	}
}
