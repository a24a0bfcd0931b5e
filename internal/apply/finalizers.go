// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// WriteFinalizers replaces the finalizers, unless the workload has changed since it was read: so those of others stay.
// If the workload is gone, Gone is set.
func (p *Sync) WriteFinalizers(ctx context.Context, finalizers []string) error {
	data, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": p.Workload.GetUID(), "resourceVersion": p.Version, "finalizers": append([]string{}, finalizers...)}}) // never null
	if err != nil {
		return fmt.Errorf("encode the finalizers: %w", err)
	}
	return p.PutBack("finalizers", Wanted(data), func() error { return p.writeFinalizers(ctx, data) })
}

func (p *Sync) writeFinalizers(ctx context.Context, data []byte) error {
	version, err := p.Merge(ctx, p.Key, data)
	if apierrors.IsNotFound(err) {
		p.Gone = true
		return nil
	}
	if err != nil {
		err = fmt.Errorf("write the finalizers of %s: %w", p.Key, err)
		p.RecordFailure(Update, err)
		return err
	}
	p.Wrote(p.Workloads, version)
	return nil
}
