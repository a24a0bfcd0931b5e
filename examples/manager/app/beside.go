// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
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
