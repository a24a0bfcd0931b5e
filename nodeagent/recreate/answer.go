// SPDX-License-Identifier: Apache-2.0

package recreate

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/nodeagent/internal/shares"
)

// applyInTurn applies a plan. It waits with a stop until the namespace has a worker.
func (r *reconciler) applyInTurn(ctx context.Context, s *Snapshot, plan *Plan) (requeueAfter time.Duration, err error) {
	if plan.Stop != nil {
		free, ok := r.shares.Take(s.key.Namespace)
		if !ok {
			klog.FromContext(ctx).V(2).Info("Waiting for other pods of the namespace, of which as many containers as may are being stopped", "stopping", r.shares.Holders())
			return shares.Again, nil
		}
		defer free()
	}
	return r.apply(ctx, s.key, s, plan)
}

// Answer reconciles a pod once, for the requests that must wait for another one, or for more than 10 s until Reconcile can
// run. They then say that they wait. If the request that Reconcile works on is completed or gone, it ends the wait for the
// container. It asks no runtime, and returns what Reconcile returns.
func (r *Reconciler) Answer(ctx context.Context, key types.NamespacedName) (requeueAfter time.Duration, err error) {
	return r.self.answerAll(ctx, key)
}

// answerAll reconciles a pod once: see Reconciler.Answer.
func (r *reconciler) answerAll(ctx context.Context, key types.NamespacedName) (requeueAfter time.Duration, err error) {
	if wait, err := controller.Wait(ctx, &r.answers, key, r.options.Reader.SyncedResourceVersion, r.options.Clock.Now(), nil); wait > 0 || err != nil {
		return wait, err
	}
	requests, err := r.requests(key)
	if err != nil {
		return 0, err
	}
	r.underway.check(key, requests)
	if len(requests) == 0 {
		r.answers.Forget(key)
		r.memory.see(key, nil, r.options.Clock.Now())
		return 0, nil
	}
	s := r.snapshot(key, requests)
	s.Stopping = r.shares.Holders()
	answers := NewPlan(s).Answers
	late, again := s.late()
	if late != nil {
		answers = append(answers, *late)
	}
	after, err := r.answer(ctx, key, answers)
	return max(after, again), err
}
