// SPDX-License-Identifier: Apache-2.0

package containermeta

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/nodeagent"
	"github.com/podwright/podwright/nodeagent/internal/shares"
	"github.com/podwright/podwright/nodeagent/internal/stop"
)

// reconciler is what the steps of a reconcile share.
type reconciler struct {
	runtime  *nodeagent.Runtime
	reader   podwright.Reader
	pods     apiwriter.Resource
	clock    clock.PassiveClock
	recorder record.EventRecorder
	stopper  *stop.Stopper
	features Features
	// shares are those of the namespaces in the workers that wait for containers.
	shares shares.Shares

	writer apply.Writer // remembers writes
	// failed are the environments that could not be read, by pod and container ID.
	failed apiwriter.Last[map[string]Environment]
	// attempts are those to restart the containers of a pod, by container ID.
	attempts apiwriter.Last[map[string]Attempt]
	waits    waits
}

// kind describes pods to the shell.
func (o *Options) kind() controller.Definition[Snapshot, Plan] {
	recorder := o.Recorder
	r := &reconciler{
		runtime: o.Runtime, reader: o.Reader,
		pods:  apiwriter.Resource{Client: o.Kubernetes.CoreV1().RESTClient(), Name: string(caches.Pods)},
		clock: o.Clock, recorder: recorder, features: o.Features, shares: shares.Shares{Workers: o.RestartWorkers},
		stopper: &stop.Stopper{Runtime: o.Runtime, Clock: o.Clock, Recorder: recorder, MaxGrace: o.MaxGracePeriod},
	}
	return controller.Definition[Snapshot, Plan]{
		Name: "runtime_container_meta", Self: r, OnNode: true, FirstRetry: firstBackOff, LastRetry: lastBackOff, Settle: settleTime,
		Observe: r.observe, Plan: NewPlan, Apply: r.report, Writer: &r.writer, Forget: r.failed.Forget,
		Beside: []controller.Queue{{
			Name: "runtime_container_meta_restarter", Workers: o.RestartWorkers, Reconcile: r.restart, Concern: o.toRestart,
		}, {
			Name: "runtime_container_meta_waits", Workers: 1, Reconcile: r.tell, Concern: o.toRestart}},
	}
}

// restart reconciles a pod once: see Reconciler.Restart.
func (r *reconciler) restart(ctx context.Context, key types.NamespacedName) (requeueAfter time.Duration, err error) {
	pod, err := r.pod(key)
	if err != nil {
		return 0, err
	}
	if pod == nil || !restartDue(pod, r.features) {
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
		next = lastBackOff
	}
	r.waits.end(key, r.clock.Now().Add(next))
	return requeueAfter, err
}

// waitForShare has a pod wait until its namespace may have one more worker.
func (r *reconciler) waitForShare(ctx context.Context, key types.NamespacedName, s *Snapshot, plan *Plan) (requeueAfter time.Duration) {
	klog.FromContext(ctx).V(2).Info("Waiting for other pods of the namespace, of which as many as may are being restarted", "restarting", r.shares.Holders())
	r.waits.goesOn(key, s.Now)
	if late, _ := r.waits.late(key, s.Now); late {
		r.tellOf(s, plan)
	}
	return shareAgain
}

// shareAgain is when to look again if a namespace has its share of the workers.
const shareAgain = 2 * time.Second

// observe reads what a plan depends on; nil if the pod is gone.
func (r *reconciler) observe(ctx context.Context, key types.NamespacedName) (*Snapshot, error) {
	pod, err := r.pod(key)
	if pod == nil || err != nil {
		return nil, err
	}
	s, _, err := r.plan(ctx, key, pod)
	return s, err
}

// look reads what a plan depends on, but for environments that are not yet
// known to be needed.
func (r *reconciler) look(ctx context.Context, key types.NamespacedName, pod *corev1.Pod) (*Snapshot, error) {
	s := &Snapshot{
		Pod: pod, Runtime: r.runtime.Name, Now: r.clock.Now(), Features: r.features,
		Environments: map[string]Environment{}, Attempts: r.attempts.Get(key),
	}
	for id, env := range r.failed.Get(key) {
		s.Environments[id] = env
	}
	if runtime, ok := runtimeOf(pod); !ok || runtime != r.runtime.Name {
		return s, nil
	}
	var err error
	s.Containers, err = r.runtime.Containers(ctx, pod.UID)
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
