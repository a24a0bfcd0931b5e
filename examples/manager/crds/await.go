package crds

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/klog/v2"
)

// Awaited says what Await waits for.
type Awaited struct {
	Resource schema.GroupVersionResource
	// Every is the time between two looks, plus up to half of it by chance.
	Every time.Duration
	// Missing is called once it is known that the resource is not served. Default
	// nil: only a line of the log says it.
	Missing func()
}

// Await returns true once the API server serves a resource, false when the
// context is done before that. A look that fails is logged, and repeated.
func Await(ctx context.Context, client discovery.ServerResourcesInterfaceWithContext, a Awaited) bool {
	logger := klog.FromContext(ctx)
	for told := false; ; {
		served, err := Served(ctx, client, a.Resource)
		switch {
		case served:
			return true
		case ctx.Err() != nil:
			return false
		case err != nil:
			logger.Error(err, "Trying again", "after", a.Every)
		case !told:
			told = true
			if a.Missing != nil {
				a.Missing()
			}
			logger.Info("Not started, because its CRD is not installed; it starts when the CRD appears", "crd", a.Resource.GroupResource())
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(wait.Jitter(a.Every, 0.5)):
		}
	}
}
