// SPDX-License-Identifier: Apache-2.0

package evictionresponder

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/apply"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// The responder asks the API server to evict a pod again after so long, and after twice as long
// every time. It waits longer if the answer says so, but never longer than the most. (EVR-8)
const (
	firstRetry = 5 * time.Second
	lastRetry  = time.Minute
	mostRetry  = 5 * time.Minute
)

// eventRefused is the reason of the event about a pod whose eviction something other than a
// budget refuses.
const eventRefused = "EvictionRefused"

// newWriter returns what a Reconciler writes with.
func newWriter(o *Options) *apply.Writer {
	w := apply.NewWriter(o.Kubernetes)
	w.Clock = o.Clock
	w.Workloads, w.Recorder = resourceEvictions, o.Recorder
	return w
}

// answer is what the API server said last, and to which Eviction.
type answer struct {
	*Answer
	to    types.UID
	delay time.Duration
}

// applier applies one plan. Every write goes through it.
type applier struct {
	*reconciler
	*apply.Sync
	snapshot *Snapshot
}

// apply does what the plan says. If it asks the API server something it plans anew with the answer.
func (r *reconciler) apply(ctx context.Context, s *Snapshot, plan *Plan) (requeueAfter time.Duration, err error) {
	if plan.Confirm {
		if s, err = r.confirm(ctx, s); err != nil {
			return 0, err
		}
		plan = NewPlan(s)
	}
	a := &applier{reconciler: r, Sync: r.writer.Begin(s.Eviction), snapshot: s}
	if plan.Evict {
		answered := *s
		answered.Answer = a.evict(ctx)
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		plan = NewPlan(&answered)
	}
	err = a.note(ctx, plan.Note)
	if apiwriter.OnlyContested(err) {
		return plan.RequeueAfter, err // a report goes with the note
	}
	return plan.RequeueAfter, errors.Join(err, a.report(ctx, plan.Report))
}

// confirm asks the API server itself which pod there is. (EVR-2)
func (r *reconciler) confirm(ctx context.Context, s *Snapshot) (*Snapshot, error) {
	confirmed := *s
	confirmed.Confirmed = true
	name := s.Eviction.Spec.Target.Pod.Name
	pod, err := apiwriter.Found(r.options.Kubernetes.CoreV1().Pods(s.Eviction.Namespace).Get(ctx, name, metav1.GetOptions{}))
	if err != nil {
		return nil, fmt.Errorf("read pod %s: %w", name, err)
	}
	confirmed.Pod = pod
	return &confirmed, r.observeWorkload(&confirmed)
}

// evict asks the API server to evict the pod, once, and says what came of it. (EVR-8)
func (a *applier) evict(ctx context.Context) *Answer {
	pod := a.snapshot.Pod
	eviction := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name},
		DeleteOptions: metav1.NewPreconditionDeleteOptions(string(pod.UID))}
	err := a.Kubernetes.CoreV1().RESTClient().Post().Namespace(pod.Namespace).Resource("pods").Name(pod.Name).SubResource("eviction").
		MaxRetries(0).Body(eviction).Do(ctx).Error()
	if err != nil {
		err = a.Unanswered(resourcePods, pod.Name, err)
	}
	last := a.answers.Get(a.Key)
	if last.to != a.snapshot.Eviction.UID {
		last = answer{to: a.snapshot.Eviction.UID}
	}
	delay := min(max(2*last.delay, firstRetry), lastRetry)
	said := &Answer{Until: a.options.Clock.Now().Add(wait(delay, err)), Message: "the pod was evicted, and is about to go"}
	if err != nil {
		said.Denied, said.Message = apierrors.IsTooManyRequests(err), fmt.Sprintf("the pod may not be evicted yet: %v", err)
	}
	a.tell(last.Answer, said, err)
	a.answers.Set(a.Key, answer{Answer: said, to: last.to, delay: delay})
	return said
}

// wait is in how long to ask again after an answer.
func wait(delay time.Duration, err error) time.Duration {
	if err == nil {
		return lastRetry
	}
	seconds, _ := apierrors.SuggestsClientDelay(err)
	return max(delay, min(time.Duration(seconds)*time.Second, mostRetry))
}

// tell records an event if something other than a budget refuses the eviction, once for as long as it
// says the same. (EVR-8)
func (a *applier) tell(last, said *Answer, err error) {
	if a.writer.Recorder == nil || err == nil || said.Denied || apierrors.IsNotFound(err) || apierrors.IsConflict(err) ||
		last != nil && last.Message == said.Message {
		return
	}
	a.writer.Recorder.Eventf(a.snapshot.Pod, corev1.EventTypeWarning, eventRefused, "Eviction %s: %s", a.Key.Name, cut(said.Message))
}

// note changes the note on the pod. (EVR-7, EVR-9)
func (a *applier) note(ctx context.Context, patch *podpatch.Patch) error {
	if patch == nil {
		return nil
	}
	writes, err := patch.Writes(a.snapshot.Pod)
	if err != nil {
		return err
	}
	for _, w := range writes {
		if err := a.WritePod(ctx, a.snapshot.Pod, w, "write the annotation "+lifecyclev1alpha1.EvictionDeniedAnnotation); err != nil {
			a.RecordFailure(apply.Update, err)
			return err
		}
	}
	return nil
}

// operation is one of a JSON patch.
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// patch returns what writes the report into the entry of this responder, if it is still that. Nothing
// else is touched, known here or not. (EVR-11)
func (r *Report) patch(e *Eviction) ([]byte, error) {
	_, i := own(e)
	entry := fmt.Sprintf("/status/responders/%d", i)
	patch := []operation{
		{"test", "/metadata/uid", e.UID},
		{"test", entry + "/name", ResponderName},
		{"add", entry + "/heartbeatTime", r.Heartbeat},
		{"add", entry + "/message", r.Message},
	}
	if r.Completed {
		patch = append(patch, operation{"add", entry + "/completionTime", r.Heartbeat})
	}
	return json.Marshal(patch)
}

// report writes a report, with pauses if another writer takes it back. (CT-12)
func (a *applier) report(ctx context.Context, report *Report) error {
	if report == nil {
		return nil
	}
	data, err := report.patch(a.snapshot.Eviction)
	if err != nil {
		return err
	}
	_, i := own(a.snapshot.Eviction)
	is := &a.snapshot.Eviction.Status.Responders[i]
	found, err := json.Marshal(said{ptr.Deref(is.Message, ""), is.HeartbeatTime, is.CompletionTime != nil})
	if err != nil {
		return err
	}
	sent, err := json.Marshal(said{report.Message, &report.Heartbeat, report.Completed})
	if err != nil {
		return err
	}
	return a.Put(apiwriter.Write{Object: "evictions/status", Wanted: apply.Wanted(sent), Found: string(found), Sent: string(sent),
		Send: func() error { return a.send(ctx, data) }})
}

// said is what a report says. A heartbeat after another one finds that.
type said struct {
	Message   string
	Heartbeat *metav1.Time
	Completed bool
}

// send patches the Eviction with a report. One that is gone needs none.
func (a *applier) send(ctx context.Context, data []byte) error {
	patched, err := a.options.EvictionClient.Evictions(a.Key.Namespace).Patch(ctx, a.Key.Name, types.JSONPatchType, data, metav1.PatchOptions{}, "status")
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		err = fmt.Errorf("report to Eviction %s: %w", a.Key.Name, a.Unanswered(resourceEvictions, a.Key.Name, err))
		a.RecordFailure(apply.UpdateStatus, err)
		return err
	}
	a.Wrote(resourceEvictions, patched.ResourceVersion)
	return nil
}
