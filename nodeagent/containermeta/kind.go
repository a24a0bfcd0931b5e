// SPDX-License-Identifier: Apache-2.0

package containermeta

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/nodeagent"
	"github.com/podwright/podwright/nodeagent/internal/shares"
	"github.com/podwright/podwright/nodeagent/internal/stop"
)

// EventSource is the component of the feature's events. Options.Recorder should have it, and the node as its host.
const EventSource = "kruise-daemon-containermeta"

// resourcePods is the cache that a Reconciler reads.
const resourcePods podwright.Resource = caches.Pods

// settleTime is how long to collect the events about a pod before it is looked
// at: containers start one after the other.
const settleTime = time.Second

func (o *Options) reads() []controller.Read {
	return []controller.Read{{
		Resource: resourcePods, Object: &corev1.Pod{}, LiveReader: apiwriter.Pods(o.Kubernetes),
		Informer: &o.Pods, MakeInformer: func() cache.SharedIndexInformer { return nodeagent.NewPodInformer(o.Kubernetes, o.Node) }, IsPartial: true,
		Fields: controller.Everything, Concern: o.toReport, CollectEvents: true,
	}}
}

// toReport enqueues a pod that shows that there is something to report, so that all
// other changes of pods cost nothing.
//
// When the agent starts, it leaves pods without an annotation alone until they change
// (CM-2), which spares the API server a write per pod. Those that wait for the
// annotation, in the middle of an in-place update, get it.
func (o *Options) toReport(e controller.Event, enqueue controller.Enqueue) {
	if pod := o.worked(e, enqueue); pod != nil && reportDue(pod, o.Features) {
		enqueue(e.Key())
	}
}

// toRestart does the same for restarts.
func (o *Options) toRestart(e controller.Event, enqueue controller.Enqueue) {
	if pod := o.worked(e, enqueue); pod != nil && restartDue(pod, o.Features) {
		enqueue(e.Key())
	}
}

// worked returns the pod of an event; nil if it is left alone. One that is gone is enqueued, to be forgotten.
func (o *Options) worked(e controller.Event, enqueue controller.Enqueue) *corev1.Pod {
	pod, _ := e.After.(*corev1.Pod)
	if pod == nil {
		enqueue(e.Key())
		return nil
	}
	if _, reported := pod.Annotations[inplacev1alpha1.RuntimeContainersMetaAnnotation]; e.Initial && !reported && !updating(pod) {
		return nil
	}
	return pod
}

// reconciler is what the steps of a reconcile share.
type reconciler struct {
	options Options
	pods    apiwriter.Resource
	stopper *stop.Stopper
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
	r := &reconciler{
		options: *o, pods: apiwriter.Pods(o.Kubernetes), shares: shares.Shares{Workers: o.RestartWorkers},
		stopper: &stop.Stopper{Runtime: o.Runtime, Clock: o.Clock, Recorder: o.Recorder, MaxGrace: o.MaxGracePeriod},
	}
	return controller.Definition[Snapshot, Plan]{
		Name: "runtime_container_meta", Self: r, RunsOnNode: true, FixedSettleTime: settleTime,
		Observe: r.observe, Plan: NewPlan, Apply: r.report, Writer: &r.writer, Forget: r.failed.Forget,
		FurtherQueues: []controller.Queue{{
			Name: "runtime_container_meta_restarter", Workers: o.RestartWorkers, Reconcile: r.restart, Concern: o.toRestart,
		}, {
			Name: "runtime_container_meta_waits", Workers: 1, Reconcile: r.tell, Concern: o.toRestart}},
	}
}

// observe reads what a plan depends on; nil if the pod is gone.
func (r *reconciler) observe(ctx context.Context, key types.NamespacedName) (*Snapshot, error) {
	pod, err := r.pod(key)
	if pod == nil || err != nil {
		return nil, err
	}
	s, _, err := r.plan(ctx, key, pod)
	return s, err
}

// pod returns a pod; nil if it does not exist.
func (r *reconciler) pod(key types.NamespacedName) (*corev1.Pod, error) {
	return caches.Object[corev1.Pod](r.options.Reader, resourcePods, "pod", key)
}
