// SPDX-License-Identifier: Apache-2.0

package podprobemarker

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/apply"
)

// newWriter returns what a Reconciler writes with.
func newWriter(o *Options) *apply.Writer {
	return &apply.Writer{Workloads: ResourceMarkers, Recorder: o.Recorder, Merge: apiwriter.TypedMerge(o.Lifecycle.PodProbeMarkers)}
}

// applier applies one plan. Every write goes through it.
type applier struct{ *apply.Sync }

// apply does what the plan says.
func (r *Reconciler) apply(ctx context.Context, s *Snapshot, plan *Plan) (requeueAfter time.Duration, err error) {
	a := applier{r.writer.Begin(s.Marker)}
	if a.Begins(InvalidSelectorEvent, plan.Problem != nil) {
		a.Event(corev1.EventTypeWarning, InvalidSelectorEvent, "It selects no pods: %v", plan.Problem)
	}
	if plan.Finalizers != nil {
		if err := a.finalizers(ctx, *plan.Finalizers); err != nil || a.Gone {
			return 0, err
		}
	}
	if plan.Status == nil {
		return 0, nil
	}
	return 0, a.WriteStatus(ctx, &s.Marker.Status, plan.Status)
}

// InvalidSelectorEvent is the reason of the event about a marker whose selector admission should have refused.
const InvalidSelectorEvent = "InvalidSelector"

// finalizers writes the finalizers, unless the marker has changed.
func (a applier) finalizers(ctx context.Context, finalizers []string) error {
	metadata := map[string]any{"uid": a.Workload.GetUID(), "resourceVersion": a.Version, "finalizers": finalizers}
	data, err := json.Marshal(map[string]any{"metadata": metadata})
	if err != nil {
		return fmt.Errorf("encode the finalizers: %w", err)
	}
	version, err := a.Merge(ctx, a.Key, data)
	if apierrors.IsNotFound(err) {
		a.Gone = true
		return nil
	}
	if err != nil {
		return fmt.Errorf("write the finalizers of PodProbeMarker %s: %w", a.Key, err)
	}
	a.Wrote(ResourceMarkers, version)
	return nil
}
