// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// writePause is the least time between two writes of the status: what happens
// meanwhile goes into one. (PPM-4.8)
const writePause = 500 * time.Millisecond

// mostWritePause is the longest time between two writes that fail, as with the other agents: the probes go on meanwhile. (CT-11)
const mostWritePause = 50 * time.Second

// apply applies the plan. Probes are run whatever becomes of the report.
func (r *reconciler) apply(ctx context.Context, s *Snapshot, plan *Plan) (requeueAfter time.Duration, err error) {
	for _, id := range plan.Forget {
		r.runs.forget(id)
	}
	for _, p := range plan.Begin {
		r.runs.begin(p)
	}
	r.runs.pace(plan.Paced)
	specs := specsOf(s.NodePodProbe)
	for i := range plan.Start {
		r.runs.start(ctx, s.key, &plan.Start[i], specs[plan.Start[i].ID])
	}
	if plan.Status == nil {
		return plan.RequeueAfter, nil
	}
	if early := r.untilWrite(); early > 0 {
		if plan.RequeueAfter > 0 {
			early = min(early, plan.RequeueAfter)
		}
		return early, nil
	}
	err = r.report(ctx, s.key, s, plan)
	if !apiwriter.OnlyContested(err) {
		r.wrote(err)
	}
	return plan.RequeueAfter, err
}

// untilWrite is how long the next write has to wait. It waits longer after writes that have failed, since the probes go
// on to have the NodePodProbe reconciled.
func (r *reconciler) untilWrite() time.Duration {
	r.lock.Lock()
	defer r.lock.Unlock()
	return min(writePause<<min(r.failures, 8), mostWritePause) - r.options.Clock.Since(r.written)
}

// wrote notes how a write has ended.
func (r *reconciler) wrote(err error) {
	r.lock.Lock()
	defer r.lock.Unlock()
	r.written = r.options.Clock.Now()
	if r.failures++; err == nil {
		r.failures = 0
	}
}

// specsOf returns the probes that a NodePodProbe asks for, of two of one name the first.
func specsOf(n *v1alpha1.NodePodProbe) map[ID]*corev1.Probe {
	out := map[ID]*corev1.Probe{}
	if n == nil {
		return out
	}
	for i := range n.Spec.PodProbes {
		pod := &n.Spec.PodProbes[i]
		for j := range pod.Probes {
			id := ID{pod.Namespace, pod.Name, pod.UID, pod.Probes[j].ContainerName, pod.Probes[j].Name}
			if out[id] == nil {
				out[id] = &pod.Probes[j].Probe
			}
		}
	}
	return out
}

// report writes the status, with pauses if another writer takes it back. (CT-12)
func (r *reconciler) report(ctx context.Context, key types.NamespacedName, s *Snapshot, plan *Plan) error {
	difference, err := apply.Difference(&s.NodePodProbe.Status, plan.Status, false)
	if err != nil {
		return fmt.Errorf("report on NodePodProbe %s: %w", key.Name, err)
	}
	return r.writer.Own.Contests.PutBack(apiwriter.Write{Owner: key, Object: string(resourceNodePodProbes) + "/status", Wanted: difference,
		Send: func() error { return r.send(ctx, key, s, plan) },
		Tell: apiwriter.Warn(r.options.Recorder, s.NodePodProbe)}, r.options.Clock.Now)
}

// send writes the status, and then records what has changed. The patch is
// for this NodePodProbe in any state: no other writer is to write the status.
func (r *reconciler) send(ctx context.Context, key types.NamespacedName, s *Snapshot, plan *Plan) error {
	data, err := apply.StatusPatch(apply.Observed{UID: s.NodePodProbe.UID}, &s.NodePodProbe.Status, plan.Status)
	if err != nil {
		return fmt.Errorf("report on NodePodProbe %s: %w", key.Name, err)
	}
	written, err := r.options.Lifecycle.NodePodProbes().Patch(ctx, key.Name, types.MergePatchType, data, metav1.PatchOptions{}, "status")
	if apierrors.IsNotFound(err) {
		return nil // the cache will show it
	}
	if err != nil {
		err = fmt.Errorf("report on NodePodProbe %s: %w", key.Name, err)
		if !apierrors.IsConflict(err) {
			apiwriter.Warn(r.options.Recorder, s.NodePodProbe)("FailedUpdateStatus", apiwriter.Short(err.Error())) // (CT-11)
		}
		return err
	}
	r.writer.Own.Wrote(key, resourceNodePodProbes, written.ResourceVersion)
	for i := range plan.Changed {
		r.record(&plan.Changed[i])
	}
	return nil
}

// record records that a state has changed. (PPM-4.9)
func (r *reconciler) record(c *Changed) {
	if r.options.Recorder == nil {
		return
	}
	pod := &corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: c.Namespace, Name: c.Pod, UID: c.UID, FieldPath: "spec.containers{" + c.Container + "}"}
	if c.State == v1alpha1.ProbeSucceeded {
		r.options.Recorder.Eventf(pod, corev1.EventTypeNormal, v1alpha1.ProbeSucceededEvent, "Probe %s has succeeded", c.Probe)
		return
	}
	r.options.Recorder.Eventf(pod, corev1.EventTypeNormal, v1alpha1.ProbeFailedEvent, "Probe %s has failed: %s", c.Probe, c.Message)
}
