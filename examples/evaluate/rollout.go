package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/examples/evaluate/display"
	"github.com/podwright/podwright/examples/evaluate/history"
)

// outcome is what the demo has shown.
type outcome struct {
	acts []checked
	laps []lap
}

// checked is an act, and what was checked of it.
type checked struct {
	name   string
	checks []history.Check
}

// lap is what a step took its time for.
type lap struct {
	task string
	took time.Duration
}

// play creates the workload and shows all that happens to it.
func (d *demo) play(ctx context.Context) (*outcome, error) {
	steps := 1
	for _, act := range d.kind.acts {
		steps += len(act.steps)
	}
	number := func(n int) string { return fmt.Sprintf("%d/%d  ", n, steps) }

	generation, err := d.workload.create(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := d.show(ctx, number(1), d.kind.create(d.place.namespace), generation); err != nil {
		return nil, err
	}
	out, recorder, n := &outcome{}, &d.observer.recorder, 1
	for _, act := range d.kind.acts {
		recorder.Begin(act.promise)
		for _, s := range act.steps {
			if s.stage != "" {
				recorder.Allow(s.stage, int(s.want.updated))
			}
			if generation, err = d.workload.change(ctx, s.changes); err != nil {
				return nil, err
			}
			n++
			took, err := d.show(ctx, number(n), s, generation)
			if err != nil {
				return nil, err
			}
			out.laps = append(out.laps, lap{s.task, took})
		}
		final, err := d.listPods(ctx)
		if err != nil {
			return nil, err
		}
		out.acts = append(out.acts, checked{act.name, recorder.Check(final)})
	}
	return out, nil
}

// show shows one step until it is done, and gives a person the time to see what
// has come of it. It returns how long the step took.
func (d *demo) show(ctx context.Context, number string, s step, generation int64) (time.Duration, error) {
	took, err := d.await(ctx, number+s.title, generation, s.want)
	if err != nil {
		return 0, err
	}
	return took, d.look(ctx, number+s.done, took, s.look)
}

// await shows the workload until it has come to rest where it should, since the
// generation of a change. It returns how long that took.
func (d *demo) await(ctx context.Context, title string, generation int64, want counts) (time.Duration, error) {
	begin, halfWay := time.Now(), false
	patience := time.NewTimer(d.options.Patience)
	defer patience.Stop()
	for {
		s := d.observer.state()
		v := d.view(s, title, time.Since(begin))
		d.screen.Draw(v)
		if s != nil && s.settled(generation, want) && shows(v, want) {
			d.keep(v)
			return v.Elapsed, nil
		}
		if !halfWay && s != nil && s.observed >= generation && limited(v) {
			halfWay = true
			d.keep(v)
		}
		select {
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		case <-patience.C:
			d.screen.Keep(v)
			return 0, fmt.Errorf("step %q is not done after %v: %d of %d pods are updated, %d are ready. %s The flag --patience waits longer",
				title, d.options.Patience, v.Updated, v.Replicas, v.Ready, d.pending(s))
		case <-d.observer.changed:
		case <-time.After(redraw):
		}
	}
}

// pending says what a manager should do now.
func (d *demo) pending(s *state) string {
	switch {
	case s == nil:
		return d.gone()
	case s.todo == todo{}:
		return "The table shows what is waited for."
	}
	return fmt.Sprintf("The manager should create %d pods, delete %d and change %d now: its log says why it does not.",
		s.todo.create, s.todo.delete, s.todo.change)
}

func (d *demo) gone() string {
	return fmt.Sprintf("The %s is not there: has somebody deleted it?", d.kind.name)
}

// listPods reads the pods of the workload from the API server.
func (d *demo) listPods(ctx context.Context) ([]*corev1.Pod, error) {
	s := d.observer.state()
	if s == nil {
		return nil, errors.New(d.gone())
	}
	list, err := d.core.CoreV1().Pods(d.place.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("listing the pods of namespace %s: %w", d.place.namespace, err)
	}
	var out []*corev1.Pod
	for i := range list.Items {
		if metav1.IsControlledBy(&list.Items[i], s.object) {
			out = append(out, &list.Items[i])
		}
	}
	return out, nil
}

// redraw is how often the time on the screen moves on.
const redraw = 100 * time.Millisecond

// keep leaves a view to be read where nothing is drawn over.
func (d *demo) keep(v display.View) {
	if !d.screen.Live() {
		d.screen.Keep(v)
	}
}

// look draws the workload for a while, where somebody sees it, with the time that
// its step took.
func (d *demo) look(ctx context.Context, title string, took, long time.Duration) error {
	if !d.screen.Live() {
		return nil
	}
	for begin := time.Now(); ; {
		d.screen.Draw(d.view(d.observer.state(), title, took))
		if time.Since(begin) >= long {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(redraw):
		}
	}
}

// view shows a state under a title. A nil state is an empty view.
func (d *demo) view(s *state, title string, elapsed time.Duration) display.View {
	v := display.View{Replicas: replicas, MaxUnavailable: -1, MostUnavailable: -1}
	if s != nil {
		v = newView(s)
	}
	v.Step, v.Elapsed = title, elapsed
	if most, begun := d.observer.recorder.MostUnavailable(); begun {
		v.MaxUnavailable, v.MostUnavailable = maxUnavailable, most
	}
	return v
}

// limited tells whether so many pods of a rollout are on their way as may be.
func limited(v display.View) bool {
	return v.MaxUnavailable >= 0 && v.Unavailable >= v.MaxUnavailable
}

// shows tells whether the pods are where they should be, none on its way.
func shows(v display.View, want counts) bool {
	moving := slices.ContainsFunc(v.Rows, func(r display.Row) bool { return r.Mood == display.Moving })
	return !moving && v.Ready == int(want.available) && v.Updated == int(want.updated)
}
