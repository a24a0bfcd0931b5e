// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// besideTime is how long a CRD may come after one that is installed together with it.
const besideTime = 10 * time.Second

// awaitBeside waits for a resource that the controller can do without, and that is installed together with its own.
func (p *parts) awaitBeside(ctx context.Context, resource schema.GroupVersionResource) error {
	for range int(besideTime / time.Second) {
		if served, err := p.Serves(ctx, resource); served || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(time.Second):
		}
	}
	return nil
}

// served returns the informer of a resource that the controller can do without; nil, and a word to the log, where the
// resource is not served.
func (p *parts) served(ctx context.Context, resource schema.GroupVersionResource, informer func() cache.SharedIndexInformer, without string) (cache.SharedIndexInformer, error) {
	served, err := p.Serves(ctx, resource)
	if err != nil {
		return nil, err
	}
	if !served {
		klog.FromContext(ctx).Info(without, "crd", resource.GroupResource())
		return nil, nil
	}
	return informer(), nil
}
