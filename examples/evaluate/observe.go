// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/podwright/podwright/examples/faults/invariants"
	"github.com/podwright/podwright/examples/testbed/mirror"
	"github.com/podwright/podwright/workloads/client"
)

// observer follows the workload, its pods and its revisions through every state that the API server reports, not through
// samples. It asks nothing of the controller.
type observer struct {
	kind      *kind
	changed   chan struct{} // gets a value after changes; several may share one
	sets      *mirror.Mirror[metav1.Object]
	pods      *mirror.Mirror[*corev1.Pod]
	revisions *mirror.Mirror[*appsv1.ControllerRevision]
	// record judges every change by the rules of the library's simulation, and judged is how many there were before the act that
	// is played. Where others may write as well, as in a cluster that is not the demo's own, nobody asks it.
	record  *invariants.Record
	judged  int
	history *history // of the act that is played; guarded by the lock of the pods
}

// newObserver returns when all objects have been listed. It follows them until the context is done, which is that of running.
func newObserver(ctx context.Context, k *kind, core kubernetes.Interface, workloads client.Interface, namespace string, running *errgroup.Group) (*observer, error) {
	o := &observer{kind: k, changed: make(chan struct{}, 1), record: invariants.NewRecord(), history: newHistory(nil)}
	changed := func() {
		select {
		case o.changed <- struct{}{}:
		default: // the last one has not been seen yet
		}
	}
	pods, revisions := core.CoreV1().Pods(namespace), core.AppsV1().ControllerRevisions(namespace)
	o.sets = mirror.New(k.source(workloads, namespace), invariants.Observe[metav1.Object](o.record), changed)
	o.pods = mirror.New(mirror.From(pods.List, pods.Watch), o.see, changed)
	o.revisions = mirror.New(mirror.From(revisions.List, revisions.Watch), invariants.Observe[*appsv1.ControllerRevision](o.record), changed)
	for _, run := range []func(context.Context){o.sets.Run, o.pods.Run, o.revisions.Run} {
		running.Go(func() error { run(ctx); return nil })
	}
	for _, filled := range []<-chan struct{}{o.sets.Filled(), o.pods.Filled(), o.revisions.Filled()} {
		select {
		case <-filled:
		case <-ctx.Done():
			return nil, fmt.Errorf("reading %ss, pods and revisions of namespace %s: %w", k.name, namespace, context.Cause(ctx))
		}
	}
	return o, nil
}

// see takes note of a change of a pod.
func (o *observer) see(all map[types.UID]*corev1.Pod, old, new **corev1.Pod, version string, gap bool) {
	invariants.Observe[*corev1.Pod](o.record)(all, old, new, version, gap)
	latest := new
	if new == nil {
		latest = old
	}
	if o.kind.controls(*latest) {
		o.history.see(*latest, new == nil)
	}
}

// begin takes the pods as they are now for what the next act has to keep. Call it before anything is changed.
func (o *observer) begin() {
	o.pods.Read(func(all map[types.UID]*corev1.Pod) {
		var pods []*corev1.Pod
		for _, pod := range all {
			if o.kind.controls(pod) {
				pods = append(pods, pod)
			}
		}
		o.history = newHistory(pods)
	})
	o.review()
	o.judged = o.record.Seen()
}

// review judges what has been seen, all of which has settled, and returns what is wrong with it.
func (o *observer) review() []string {
	if len(o.record.Review()) == 0 {
		o.record.Settled()
	}
	return o.record.Review()
}

// checkRecord: no single write was one that it may not make.
func (o *observer) checkRecord() check {
	wrong, seen := o.review(), o.record.Seen()-o.judged
	text := fmt.Sprintf("%d changes keep every rule of the library's simulation: order, partition, budget, revisions, status", seen)
	return check{len(wrong) == 0 && seen > 0, strings.Join(append([]string{text}, wrong...), "; ")}
}

// check compares what was seen of an act with what it promises.
func (o *observer) check(final []*corev1.Pod, moves int) (checks []check) {
	o.pods.Read(func(map[types.UID]*corev1.Pod) { checks = o.history.checks(final, moves) })
	return checks
}

// most returns the most pods that were unavailable at any moment since the act began.
func (o *observer) most() (n int) {
	o.pods.Read(func(map[types.UID]*corev1.Pod) { n = o.history.most })
	return n
}

// state plans from what the mirrors hold, as a controller does; nil while the workload is not there.
func (o *observer) state() *state {
	object, found := o.sets.Named(setName)
	if !found {
		return nil
	}
	return o.kind.observe(object, owned(o.pods.All(), object), owned(o.revisions.All(), object), time.Now())
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
