// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/apiwriter"
)

// atOnce limits the requests under way for one workload.
const atOnce = 16

// Sync is one reconcile of a workload. Begin makes one.
type Sync struct {
	*Writer
	Workload apiwriter.Object // as it was observed
	Key      types.NamespacedName
	// Version is the resourceVersion of the workload after the last own write.
	Version string
	// Gone says that a write of the status, or a read, has found no workload any more.
	Gone bool

	// Placement says how new pods are created. Nil creates them as planned.
	Placement Placement
	// Selected is the selector of the workload, which new pods have to match. Nil: it has none.
	Selected labels.Selector
	// Refusals are the updates in place that the API server has refused before this
	// reconcile. If there are any, it is asked by a dry run whether it refuses the
	// next one, before that takes the pod out of service.
	Refusals rollout.Refusals

	recorded  sync.Map // reason to the number of events in this reconcile
	podWrites podWrites
}

// Placement returns the pod to create, or an error if that cannot be told. It is called by several goroutines, and
// does not change what it is given.
type Placement interface {
	PlacePod(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error)
}

// Begin begins a reconcile of a workload as it was observed.
func (w *Writer) Begin(workload apiwriter.Object) *Sync {
	return &Sync{
		Writer: w, Workload: workload, Version: workload.GetResourceVersion(),
		Key: keyOf(workload),
	}
}

func keyOf(workload metav1.Object) types.NamespacedName {
	return types.NamespacedName{Namespace: workload.GetNamespace(), Name: workload.GetName()}
}

// nameOf is the name of a pod, with its namespace if the workload has none.
func (p *Sync) nameOf(pod *corev1.Pod) string {
	if p.Key.Namespace != "" {
		return pod.Name
	}
	return pod.Namespace + "/" + pod.Name
}

// Each does something with all of the items, several at a time. One failure
// does not stop the others; the errors are joined.
func Each[T any](ctx context.Context, items []T, do func(context.Context, T) error) error {
	return apiwriter.Each(ctx, len(items), atOnce, func(i int) error { return do(ctx, items[i]) })
}

// Wrote remembers a write, so that the next reconcile waits until the cache shows it.
func (p *Sync) Wrote(resource podwright.Resource, resourceVersion string) {
	p.Own.Wrote(p.Key, resource, resourceVersion)
	if resource == p.Workloads {
		p.Version = resourceVersion
	}
}

// CreateOwned creates something on behalf of the workload, and returns the version of the write. It sends nothing if the namespace is
// known to be deleted, see [Creations].
func (p *Sync) CreateOwned(create func() (resourceVersion string, err error)) (resourceVersion string, err error) {
	err = p.creations.Create(p.Workload, func() (err error) {
		resourceVersion, err = create()
		return err
	})
	return resourceVersion, err
}

// Unanswered returns the error. If there was no answer, or the server did not come to an
// end with it, it remembers that the write may have been made.
func (p *Sync) Unanswered(resource podwright.Resource, name string, err error) error {
	if apiwriter.Unanswered(err) {
		p.Own.Lost(p.Key, resource, name)
	}
	return err
}

// eventsPerReason limits the events of one reconcile. The recorder of client-go lets
// an object have a burst of 25 and drops the rest, but only after it has worked
// on them.
const eventsPerReason = 25

// Event records an event about the workload; kind is Normal or Warning. Of a long text it has the beginning.
func (p *Sync) Event(kind, reason, format string, args ...any) {
	if p.Recorder == nil {
		return
	}
	recorded, _ := p.recorded.LoadOrStore(reason, new(atomic.Int32))
	if recorded.(*atomic.Int32).Add(1) <= eventsPerReason {
		p.Recorder.Eventf(p.Workload, kind, reason, "%s", apiwriter.Short(fmt.Sprintf(format, args...)))
	}
}

// RecordFailure records an event about a failure that no condition reports. A conflict is none. (CT-11)
func (p *Sync) RecordFailure(action Action, err error) {
	if !apierrors.IsConflict(err) && !inEndingNamespace(err) {
		p.Event(corev1.EventTypeWarning, "Failed"+string(action), "%v", err)
	}
}

// Begins tells whether a state of the workload has begun: it holds now, and did
// not in the reconcile before. What it is for, an event for example, may come once
// more after a restart.
func (p *Sync) Begins(state string, holds bool) bool {
	states, uid := p.states.Get(p.Key), p.Workload.GetUID()
	last, known := states[state]
	known = known && last == uid
	if holds == known {
		return false
	}
	states = maps.Clone(states)
	if states == nil {
		states = map[string]types.UID{}
	}
	if holds {
		states[state] = uid
	} else {
		delete(states, state)
	}
	p.states.Set(p.Key, states)
	return holds
}

// RecordOutcome records the outcome of a write.
func (p *Sync) RecordOutcome(o Outcome) {
	message := p.Message
	if message == nil {
		message = Plain
	}
	o.Workload = p.Key.Name
	if inEndingNamespace(o.Err) {
		return // there it is not read, and cannot be created either
	}
	if o.Err != nil {
		p.Event(corev1.EventTypeWarning, "Failed"+string(o.Action), "%s", message(o))
		return
	}
	p.Event(corev1.EventTypeNormal, "Successful"+string(o.Action), "%s", message(o))
}
