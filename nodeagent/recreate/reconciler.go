// SPDX-License-Identifier: Apache-2.0

package recreate

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/lifecycle/client"
	"github.com/podwright/podwright/nodeagent"
	"github.com/podwright/podwright/nodeagent/internal/shares"
	"github.com/podwright/podwright/nodeagent/internal/stop"
)

// reconciler is what the steps of a reconcile share.
type reconciler struct {
	runtime   *nodeagent.Runtime
	reader    podwright.Reader
	lifecycle client.Interface
	clock     clock.PassiveClock
	recorder  record.EventRecorder
	stopper   *stop.Stopper

	// memory is since when requests are known.
	memory memory
	// underway are the stops, which Reconcile waits for and Answer cuts short.
	underway underway
	// shares are those of the namespaces in the workers, which wait for containers.
	shares shares.Shares
	// writer remembers the writes of Reconcile, and answers those of Answer, by pod.
	writer  apply.Writer
	answers apiwriter.Store
}

// kind describes pods to the shell.
func (o *Options) kind() controller.Definition[Snapshot, Plan] {
	r := &reconciler{
		runtime: o.Runtime, reader: o.Reader, lifecycle: o.Lifecycle, clock: o.Clock, recorder: o.Recorder,
		shares:  shares.Shares{Workers: o.Workers},
		stopper: &stop.Stopper{Runtime: o.Runtime, Clock: o.Clock, Recorder: o.Recorder, MaxGrace: o.MaxGracePeriod},
	}
	return controller.Definition[Snapshot, Plan]{
		Name: "containerrecreaterequest", Self: r, OnNode: true, FirstRetry: firstBackOff, LastRetry: lastBackOff,
		Observe: r.observe, Plan: NewPlan, Apply: r.applyInTurn, Writer: &r.writer,
		Beside: []controller.Queue{{Name: "containerrecreaterequest_answers", Reconcile: r.answerAll, Concern: ofPod}},
	}
}

// applyInTurn applies a plan. It waits with a stop until the namespace has a worker.
func (r *reconciler) applyInTurn(ctx context.Context, s *Snapshot, plan *Plan) (requeueAfter time.Duration, err error) {
	if plan.Stop != nil {
		free, ok := r.shares.Take(s.key.Namespace)
		if !ok {
			klog.FromContext(ctx).V(2).Info("Waiting for other pods of the namespace, of which as many containers as may are being stopped", "stopping", r.shares.Holders())
			return shareAgain, nil
		}
		defer free()
	}
	return r.apply(ctx, s.key, s, plan)
}

// shareAgain is when to look again if a namespace has its share of the workers.
const shareAgain = 2 * time.Second

// answerAll reconciles a pod once: see Reconciler.Answer.
func (r *reconciler) answerAll(ctx context.Context, key types.NamespacedName) (requeueAfter time.Duration, err error) {
	if wait, err := controller.Wait(ctx, &r.answers, key, r.reader.SyncedResourceVersion, r.clock.Now(), nil); wait > 0 || err != nil {
		return wait, err
	}
	requests, err := r.requests(key)
	if err != nil {
		return 0, err
	}
	r.underway.check(key, requests)
	if len(requests) == 0 {
		r.answers.Forget(key)
		r.memory.see(key, nil, r.clock.Now())
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
