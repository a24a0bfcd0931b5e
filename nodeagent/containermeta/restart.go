// SPDX-License-Identifier: Apache-2.0

package containermeta

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/nodeagent"
	"github.com/podwright/podwright/nodeagent/internal/shares"
)

// Restart reconciles a pod once: it stops the containers whose environment is outdated, when it is time to. It returns what
// Reconcile returns. An error also says that a container may not have stopped, which is tried again later.
func (r *Reconciler) Restart(ctx context.Context, key types.NamespacedName) (requeueAfter time.Duration, err error) {
	return r.self.restart(ctx, key)
}

// restart reconciles a pod once: see Reconciler.Restart.
func (r *reconciler) restart(ctx context.Context, key types.NamespacedName) (requeueAfter time.Duration, err error) {
	pod, err := r.pod(key)
	if err != nil {
		return 0, err
	}
	if pod == nil || !restartDue(pod, r.options.Features) {
		r.attempts.Forget(key)
		r.waits.forget(key)
		return 0, nil
	}
	r.waits.begin(key)
	s, err := r.look(ctx, key, pod)
	if err == nil {
		plan := NewPlan(s)
		if len(plan.Restarts) > 0 {
			free, ok := r.shares.Take(key.Namespace)
			if !ok {
				return r.waitForShare(ctx, key, s, plan), nil
			}
			defer free()
		}
		requeueAfter, err = r.stopOutdated(ctx, key, s, plan)
	}
	next := requeueAfter
	if err != nil {
		next = controller.LastNodeRetry
	}
	r.waits.end(key, r.options.Clock.Now().Add(next))
	return requeueAfter, err
}

// waitForShare has a pod wait until its namespace may have one more worker.
func (r *reconciler) waitForShare(ctx context.Context, key types.NamespacedName, s *Snapshot, plan *Plan) (requeueAfter time.Duration) {
	klog.FromContext(ctx).V(2).Info("Waiting for other pods of the namespace, of which as many as may are being restarted", "restarting", r.shares.Holders())
	r.waits.goesOn(key, s.Now)
	if late, _ := r.waits.late(key, s.Now); late {
		r.tellOf(s, plan)
	}
	return shares.Again
}

// look reads what a plan depends on, but for environments that are not yet
// known to be needed.
func (r *reconciler) look(ctx context.Context, key types.NamespacedName, pod *corev1.Pod) (*Snapshot, error) {
	s := &Snapshot{
		Pod: pod, Runtime: r.options.Runtime.Name, Now: r.options.Clock.Now(), Features: r.options.Features,
		Environments: map[string]Environment{}, Attempts: r.attempts.Get(key),
	}
	for id, env := range r.failed.Get(key) {
		s.Environments[id] = env
	}
	if runtime, ok := runtimeOf(pod); !ok || runtime != r.options.Runtime.Name {
		return s, nil
	}
	var err error
	s.Containers, err = r.options.Runtime.Containers(ctx, pod.UID)
	return s, err
}

// plan plans, after it has read the environments that the plan needs. What a
// runtime that does not answer leaves open is an error; what else is not
// readable is part of the snapshot.
func (r *reconciler) plan(ctx context.Context, key types.NamespacedName, pod *corev1.Pod) (*Snapshot, *Plan, error) {
	s, err := r.look(ctx, key, pod)
	if err != nil {
		return nil, nil, err
	}
	plan := NewPlan(s)
	if len(plan.Read) == 0 {
		return s, plan, nil
	}
	for _, id := range plan.Read {
		values, err := r.environment(ctx, s.containerOf(id))
		if ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		if nodeagent.Unavailable(err) {
			return nil, nil, err
		}
		env := Environment{Values: values, Err: err}
		if err != nil {
			env.Failures = s.Environments[id].Failures + 1
			env.RetryAt = s.Now.Add(retryAfter(env.Failures - 1))
		}
		s.Environments[id] = env
	}
	return s, NewPlan(s), nil
}
