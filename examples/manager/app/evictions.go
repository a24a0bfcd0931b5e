// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/podwright/podwright/availability/evictionresponder"
	"github.com/podwright/podwright/examples/process/controllers"
	"github.com/podwright/podwright/examples/process/features"
)

var evictionsResource = evictionresponder.SchemeGroupVersion.WithResource("evictions")

// evictionResponder has the workloads of pods make room where they are evicted declaratively, which few API servers
// serve yet.
func evictionResponder(f *pflag.FlagSet) kind {
	timeout := f.Duration("eviction-responder-room-timeout", evictionresponder.DefaultRoomTimeout,
		"how long a pod that is evicted declaratively waits for its CloneSet to create another one first")
	return kind{
		name: "eviction-responder", gate: features.EvictionResponder, resource: evictionsResource,
		compose: func(ctx context.Context, p *parts) (_ controllers.Composed, err error) {
			o := evictionresponder.Options{
				Kubernetes: p.Kubernetes, Namespace: p.namespace, Recorder: p.Recorder, Metrics: reconciles, Pods: p.caches.pods(), RoomTimeout: *timeout,
			}
			if o.Lifecycle, err = evictionresponder.NewClient(p.Config, nil); err != nil {
				return controllers.Composed{}, err
			}
			const without = "Pods of CloneSets that are evicted declaratively wait for no room until the next start, because the CRD is not installed"
			if o.CloneSets, err = p.served(ctx, cloneSetsResource, p.caches.cloneSets, without); err != nil {
				return controllers.Composed{}, err
			}
			return controllers.Of(o, evictionresponder.New, evictionresponder.Rules), nil
		},
	}
}
