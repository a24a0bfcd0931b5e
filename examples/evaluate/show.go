// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/podwright/podwright/examples/tests/faults/invariants"
	"github.com/podwright/podwright/examples/tests/testbed/mirror"
	"github.com/podwright/podwright/examples/tests/testbed/podhistory"
	"github.com/podwright/podwright/examples/tests/testbed/requests"
)

const (
	redraw = 50 * time.Millisecond // how often the screen is drawn
	look   = 3 * time.Second       // how long a person is given to see what has come of a step
	keeps  = "%d changes keep all invariants of the library's simulation"
)

// observer follows the workload, its pods and its revisions through every state that the API server reports, not through
// samples. It asks nothing of the controller.
type observer struct {
	sets       *mirror.Mirror[metav1.Object]
	pods       *mirror.Mirror[*corev1.Pod]
	revisions  *mirror.Mirror[*appsv1.ControllerRevision]
	nodes      *mirror.Mirror[*corev1.Node]
	history    podhistory.History // of all pods of the namespace, which has none but those of the workload
	since      int                // how many changes there were in it before the act that is played
	noted      []check            // by the steps of the act
	drained    string             // the node that was, in the act
	generation int64              // to which the demo has changed the workload
	// record judges every change by the invariants of the library's simulation. If others may write as well, as in a cluster
	// that is not the demo's own, it is not asked.
	record *invariants.Record
}

// observe returns when all objects have been listed, and follows them until the context is done, which is that of running.
func (d *demo) observe(ctx context.Context, running *errgroup.Group) error {
	d.record = invariants.NewRecord()
	core := d.Kubernetes.CoreV1()
	d.sets = follow(ctx, running, d.source(d), invariants.Observe[metav1.Object](d.record))
	d.pods = follow(ctx, running, mirror.Of(core.Pods(d.namespace)), d.see)
	d.nodes = follow[*corev1.Node](ctx, running, mirror.Of(core.Nodes()), nil)
	d.revisions = follow(ctx, running, mirror.Of(d.Kubernetes.AppsV1().ControllerRevisions(d.namespace)), invariants.Observe[*appsv1.ControllerRevision](d.record))
	return ctx.Err()
}

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

// review judges what has been seen, all of which has settled: no single write was one that it may not make.
func (o *observer) review() check {
	if len(o.record.Review()) == 0 {
		o.record.Settled()
	}
	wrong := o.record.Review()
	text := fmt.Sprintf(keeps, o.record.Seen())
	return check{len(wrong) == 0 && o.record.Seen() > 0, strings.Join(append([]string{text}, wrong...), "; ")}
}

// now is what the mirrors hold, with the plan that a controller would make of it. It is the zero state while the workload is not there.
func (d *demo) now() *state {
	set, found := d.sets.Named(setName)
	if !found {
		return &state{}
	}
	s := &state{workload: d.workload, set: set, pods: d.pods.All(), revisions: owned(d.revisions.All(), set), nodes: d.nodes.All()}
	if d.name != "SidecarSet" {
		s.pods = owned(s.pods, set)
	}
	s.plan(time.Now())
	return s
}

// owned returns the objects that a workload controls.
func owned[T metav1.Object](objects []T, owner metav1.Object) []T {
	return slices.DeleteFunc(objects, func(object T) bool { return !metav1.IsControlledBy(object, owner) })
}

// play shows all acts, and says in the end what was checked of them.
func (d *demo) play(ctx context.Context) (failed error) {
	var report []line
	defer func() { d.print(report...) }() // also if a later act fails
	for _, a := range d.Acts {
		checks, err := d.perform(ctx, a)
		if err != nil {
			return err
		}
		lines, err := verdict(a.Name, checks)
		report, failed = append(report, lines...), errors.Join(failed, err)
	}
	return failed
}

// perform shows an act, and checks what it promises.
func (d *demo) perform(ctx context.Context, a act) (all []check, err error) {
	d.review()
	d.since, d.noted, d.drained = len(d.history.Changes()), nil, "" // its pods are those that there are now
	var asking *requests.Requests
	if a.Asks != "" && d.Node == nodeReal {
		clients := clients[a.Asks](d)
		asking = requests.Start(ctx, clients...)
		d.print(line{text: fmt.Sprintf("          %d HTTP clients ask the pods, ten times a second each, until that is over", len(clients))})
	}
	for _, s := range a.Steps {
		if err := d.show(ctx, s); err != nil {
			return nil, err
		}
	}
	if a.Name == "" {
		return nil, nil
	}
	final, err := d.Kubernetes.CoreV1().Pods(d.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("listing the pods of namespace %s: %w", d.namespace, err)
	}
	all = a.checks(d.history.Changes(), d.since, final.Items, d.drained)
	if asking != nil {
		ok, text := asking.End(a.Answers...)
		all = append(all, check{ok, text})
	}
	if all = append(all, d.noted...); d.own {
		all = append(all, d.review())
	}
	return all, nil
}

// show makes the change of a step and shows it until it is done. Then it gives a person the time to see what has come of it.
func (d *demo) show(ctx context.Context, s step) error {
	patience, cancel := context.WithTimeout(ctx, d.Patience)
	defer cancel()
	var last []line
	err := d.screen.step(s.Title, func() (err error) {
		changed, settles := make(chan error, 1), false
		go func() { changed <- d.do(patience, s) }()
		last, err = d.watch(patience, "  ...     "+s.Title, func(now *state) (bool, error) {
			select {
			case err := <-changed:
				if settles = true; err != nil {
					return false, err
				}
			default:
			}
			return settles && now.settled(d.generation, s.Want) && conditions[s.Until](patience, d), nil
		})
		return err
	})
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("%q is not done after %v: the plan above says what is waited for, the controller's log why it does not do "+
			"what is planned. The flag --patience waits longer", s.Title, d.Patience)
	}
	if err != nil || !d.live {
		d.print(append(last, line{})...)
		return err
	}
	d.draw(last...)
	select {
	case <-ctx.Done():
	case <-time.After(look):
	}
	return nil
}

// watch draws the workload below a heading until it is done, or the context. It returns what it has drawn last.
func (d *demo) watch(ctx context.Context, heading string, done func(*state) (bool, error)) (last []line, err error) {
	err = wait.PollUntilContextCancel(ctx, redraw, true, func(context.Context) (bool, error) {
		now := d.now()
		last = render(now)
		d.draw(append([]line{{heading, title}}, last...)...)
		return done(now)
	})
	return last, err
}
