// SPDX-License-Identifier: Apache-2.0

package recreate

import (
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/nodeagent/internal/shares"
	"github.com/podwright/podwright/nodeagent/internal/stop"
)

// EventSource is the component of the feature's events. Options.Recorder should have it, and the node as its host.
const EventSource = v1alpha1.ContainerRecreateEventSource

func (o *Options) reads() []controller.Read {
	return []controller.Read{{
		Resource: resourceRequests, Object: &v1alpha1.ContainerRecreateRequest{}, LiveReader: apiwriter.Typed(o.Lifecycle.ContainerRecreateRequests),
		Informer: &o.Requests, MakeInformer: func() cache.SharedIndexInformer { return NewRequestInformer(o.Lifecycle, o.Node) }, IsPartial: true,
		Fields: controller.Everything, Concern: ofPod,
	}}
}

// ofPod enqueues the pod of a request. Requests are few, and almost every change
// of one is a step of it.
func ofPod(e controller.Event, enqueue controller.Enqueue) {
	if request, ok := e.Object().(*v1alpha1.ContainerRecreateRequest); ok {
		enqueue(types.NamespacedName{Namespace: request.Namespace, Name: request.Spec.PodName})
	}
}

// reconciler is what the steps of a reconcile share.
type reconciler struct {
	options Options
	stopper *stop.Stopper

	// memory has since when the agent knows each request.
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
		options: *o, shares: shares.Shares{Workers: o.Workers},
		stopper: &stop.Stopper{Runtime: o.Runtime, Clock: o.Clock, Recorder: o.Recorder, MaxGrace: o.MaxGracePeriod},
	}
	return controller.Definition[Snapshot, Plan]{
		Name: "containerrecreaterequest", Self: r, RunsOnNode: true,
		Observe: r.observe, Plan: NewPlan, Apply: r.applyInTurn, Writer: &r.writer,
		FurtherQueues: []controller.Queue{{Name: "containerrecreaterequest_answers", Reconcile: r.answerAll, Concern: ofPod}},
	}
}
