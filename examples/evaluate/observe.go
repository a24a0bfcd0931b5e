// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/examples/faults/invariants"
	"github.com/podwright/podwright/examples/testbed/mirror"
	"github.com/podwright/podwright/examples/testbed/podhistory"
	"github.com/podwright/podwright/examples/testbed/podstate"
	"github.com/podwright/podwright/inplace/revision"
	"github.com/podwright/podwright/inplace/rollout"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/lifecycle/readiness"
)

// observer follows the workload, its pods and its revisions through every state that the API server reports, not through
// samples. It asks nothing of the controller.
type observer struct {
	kind      *kind
	sets      *mirror.Mirror[metav1.Object]
	pods      *mirror.Mirror[*corev1.Pod]
	revisions *mirror.Mirror[*appsv1.ControllerRevision]
	nodes     *mirror.Mirror[*corev1.Node]
	history   podhistory.History // of all pods of the namespace, where there are none but those of the workload
	since     int                // how many changes there were in it before the act that is played
	// record judges every change by the invariants of the library's simulation. Where others may write as well, as in a cluster
	// that is not the demo's own, nobody asks it.
	record *invariants.Record
}

// observe returns an observer when all objects have been listed. It follows them until the context is done, which is that of running.
func (d *demo) observe(ctx context.Context, running *errgroup.Group) (*observer, error) {
	o := &observer{kind: d.kind, record: invariants.NewRecord()}
	pods, revisions := d.Kubernetes.CoreV1().Pods(d.namespace), d.Kubernetes.AppsV1().ControllerRevisions(d.namespace)
	o.sets = follow(ctx, running, d.kind.source(d), invariants.Observe[metav1.Object](o.record))
	o.pods = follow(ctx, running, mirror.From(pods.List, pods.Watch), o.see)
	nodes := d.Kubernetes.CoreV1().Nodes()
	o.nodes = follow[*corev1.Node](ctx, running, mirror.From(nodes.List, nodes.Watch), nil)
	o.revisions = follow(ctx, running, mirror.From(revisions.List, revisions.Watch), invariants.Observe[*appsv1.ControllerRevision](o.record))
	return o, ctx.Err()
}

// follow returns when all objects have been listed, or when the context is done.
func follow[T metav1.Object](ctx context.Context, running *errgroup.Group, source mirror.Source, observe mirror.Observer[T]) *mirror.Mirror[T] {
	m := mirror.New(source, observe, func() {})
	running.Go(func() error { m.Run(ctx); return nil })
	select {
	case <-m.Filled():
	case <-ctx.Done():
	}
	return m
}

// see takes note of a change of a pod.
func (o *observer) see(all map[types.UID]*corev1.Pod, old, new **corev1.Pod, version string, gap bool) {
	invariants.Observe[*corev1.Pod](o.record)(all, old, new, version, gap)
	o.history.Observe(all, old, new, version, gap)
}

// begin begins an act: its pods are those that there are now. Call it before anything is changed.
func (o *observer) begin() {
	o.review()
	o.since = len(o.history.Changes())
}

// review judges what has been seen, all of which has settled: no single write was one that it may not make.
func (o *observer) review() check {
	if len(o.record.Review()) == 0 {
		o.record.Settled()
	}
	wrong := o.record.Review()
	text := fmt.Sprintf("%d changes keep all invariants of the library's simulation", o.record.Seen())
	return check{len(wrong) == 0 && o.record.Seen() > 0, strings.Join(append([]string{text}, wrong...), "; ")}
}

// state plans from what the mirrors hold, as a controller does. It is the zero state while the workload is not there.
func (o *observer) state() *state {
	object, found := o.sets.Named(setName)
	if !found {
		return &state{}
	}
	pods := o.pods.All()
	if !o.kind.sidecars {
		pods = owned(pods, object)
	}
	return o.kind.observe(&observed{object, pods, owned(o.revisions.All(), object), o.nodes.All(), time.Now()})
}

// owned returns the objects that a workload controls.
func owned[T metav1.Object](objects []T, owner metav1.Object) (out []T) {
	for _, object := range objects {
		if metav1.IsControlledBy(object, owner) {
			out = append(out, object)
		}
	}
	return out
}

// state is a workload at one moment, and what the plan that follows from it says.
type state struct {
	generation int64
	status     status
	pods       []*corev1.Pod
	revision   func(*corev1.Pod) string // see kind
	rollout.Plan
}

// status is what the status of every kind has.
type status struct {
	ObservedGeneration, Replicas, AvailableReplicas, UpdatedReplicas, UpdatedReadyReplicas int64
}

// observe returns the state of an object of this kind.
func (k *kind) observe(o *observed) *state {
	var fields struct{ Status status }
	if k.status != nil {
		fields.Status = k.status(o.set)
	} else {
		data, _ := json.Marshal(o.set) // what the API server has sent as JSON
		_ = json.Unmarshal(data, &fields)
	}
	return &state{o.set.GetGeneration(), fields.Status, o.pods, k.revision, k.plan(o)}
}

// settled tells whether a workload has settled at this status since the generation of a change, and no pod is on its way.
func (s *state) settled(generation int64, want status) bool {
	want.ObservedGeneration = s.generation
	return s.generation >= generation && s.status == want && s.Empty() && !slices.ContainsFunc(s.pods, func(pod *corev1.Pod) bool {
		_, color := s.stateOf(pod)
		return color == busy
	})
}

// stateOf says in a word what becomes of a pod, and in a color how that is to be taken.
func (s *state) stateOf(pod *corev1.Pod) (word, color string) {
	var stuck string // in what does not pass by itself
	for i := range pod.Status.ContainerStatuses {
		if waiting := pod.Status.ContainerStatuses[i].State.Waiting; waiting != nil && !slices.Contains([]string{"", "ContainerCreating", "PodInitializing"}, waiting.Reason) {
			stuck = waiting.Reason
		}
	}
	switch {
	case pod.DeletionTimestamp != nil:
		return "terminating", busy
	case stuck != "":
		return stuck, bad
	case readiness.Ready(pod) && s.isUpdated(pod):
		return "ready", good
	case readiness.Ready(pod):
		return "ready", ""
	case podstate.Condition(pod, inplacev1alpha1.InPlaceUpdateReady).Status == corev1.ConditionFalse:
		return "updating", busy
	}
	return "starting", busy
}

func (s *state) isUpdated(pod *corev1.Pod) bool {
	return s.Revisions.Update != nil && revision.Matches(s.revisionOf(pod), s.Revisions.Update.Name)
}

func (s *state) revisionOf(pod *corev1.Pod) string {
	if s.revision != nil {
		return s.revision(pod)
	}
	return pod.Labels["controller-revision-hash"]
}
