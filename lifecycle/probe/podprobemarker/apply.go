// SPDX-License-Identifier: Apache-2.0

package podprobemarker

import (
	"context"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/images"
)

// newWriter returns what a Reconciler writes with.
func newWriter(o *Options) *apply.Writer {
	return &apply.Writer{Workloads: resourceMarkers, Recorder: o.Recorder, Clock: o.Clock, Merge: apiwriter.TypedMerge(o.Lifecycle.PodProbeMarkers)}
}

// apply does what the plan says.
func (r *reconciler) apply(ctx context.Context, s *Snapshot, plan *Plan) (requeueAfter time.Duration, err error) {
	a := r.writer.Begin(s.Marker)
	if a.Begins(invalidSelectorEvent, len(plan.Problems) > 0) {
		a.Event(corev1.EventTypeWarning, invalidSelectorEvent, "It selects no pods: %v", rollout.ErrorOf(plan.Problems))
	}
	if a.Begins(probesLeftOutEvent, len(plan.LeftOut) > 0) {
		a.Event(corev1.EventTypeWarning, probesLeftOutEvent, "Not run: %s", images.Cut(strings.Join(plan.LeftOut, "; "), 800))
	}
	if a.Begins(noContainerEvent, len(plan.NoContainer) > 0) {
		a.Event(corev1.EventTypeWarning, noContainerEvent, "Not run: %s", images.Cut(strings.Join(plan.NoContainer, "; "), 800))
	}
	if plan.Finalizers != nil {
		if err := a.WriteFinalizers(ctx, *plan.Finalizers); err != nil || a.Gone {
			return 0, err
		}
	}
	requeueAfter = a.NoteHeld(a.Key, plan.Held, s.Now)
	if plan.Status == nil {
		return requeueAfter, nil
	}
	return requeueAfter, a.WriteStatus(ctx, &s.Marker.Status, plan.Status)
}

// invalidSelectorEvent is the reason of the event about a marker whose selector admission should have refused.
const invalidSelectorEvent = "InvalidSelector"

// noContainerEvent is the reason of the event about a marker that has a probe for a container which none of its pods has. (PPM-2.6)
const noContainerEvent = "NoSuchContainer"

// probesLeftOutEvent is the reason of the event about a marker that has probes which are too large, see v1alpha1.MaxProbeBytes. Package
// nodepodprobe records it, too, when a node has no room for them.
const probesLeftOutEvent = "ProbesLeftOut"
