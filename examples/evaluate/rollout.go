package main

import (
	"context"
	"fmt"
	"path"
	"time"

	"github.com/podwright/podwright/examples/evaluate/display"
	"github.com/podwright/podwright/examples/evaluate/history"
	"github.com/podwright/podwright/workloads/cloneset"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// How long a person is given to look at the new pods, and to read why half of them wait.
const (
	shortLook = 2 * time.Second
	longLook  = 4 * time.Second
)

// outcome is what a rollout has shown.
type outcome struct {
	checks []history.Check
	// first and second say how long the halves took.
	first, second time.Duration
}

// rollOut creates the CloneSet and updates it, half of the pods first.
func (d *demo) rollOut(ctx context.Context) (*outcome, error) {
	set, err := createSet(ctx, d.workloads, d.place.namespace)
	if err != nil {
		return nil, err
	}
	if _, err := d.await(ctx, fmt.Sprintf("1/3  create CloneSet %s/%s: %d pods", set.Namespace, set.Name, replicas), set, replicas); err != nil {
		return nil, err
	}
	if err := d.look(ctx, "1/3  all pods are ready", shortLook); err != nil {
		return nil, err
	}

	out, recorder := &outcome{}, &d.observer.recorder
	recorder.Begin(history.Promise{Pods: replicas, MaxUnavailable: maxUnavailable, Container: container, Image: newImage})
	recorder.Allow("partition 50%", replicas/2)
	if set, err = changeSet(ctx, d.workloads, d.place.namespace, setImage(newImage), setPartition("50%")); err != nil {
		return nil, err
	}
	step := fmt.Sprintf("2/3  %s -> %s, partition 50%%: half of the pods move", path.Base(oldImage), path.Base(newImage))
	if out.first, err = d.await(ctx, step, set, replicas/2); err != nil {
		return nil, err
	}
	if err := d.look(ctx, "2/3  half of the pods have moved, the partition holds the others", longLook); err != nil {
		return nil, err
	}

	recorder.Allow("partition 0", replicas)
	if set, err = changeSet(ctx, d.workloads, d.place.namespace, setPartition(0)); err != nil {
		return nil, err
	}
	if out.second, err = d.await(ctx, "3/3  partition 0: the other half moves", set, replicas); err != nil {
		return nil, err
	}
	d.screen.Draw(d.view(d.observer.snapshot(), "3/3  all pods have moved", out.second))
	final, err := listPods(ctx, d.core, d.observer.snapshot())
	if err != nil {
		return nil, err
	}
	out.checks = recorder.Check(final)
	return out, nil
}

// await shows the CloneSet until it has come as far as the change asks for: so
// many pods at the update revision, and all available. It returns how long that took.
func (d *demo) await(ctx context.Context, step string, changed *v1alpha1.CloneSet, updated int) (time.Duration, error) {
	begin, moving := time.Now(), false
	patience := time.NewTimer(d.options.Patience)
	defer patience.Stop()
	for {
		s := d.observer.snapshot()
		v := d.view(s, step, time.Since(begin))
		d.screen.Draw(v)
		if s != nil && settled(s.Set, changed.Generation, int32(updated)) && v.Ready == replicas && v.Updated == updated {
			d.keep(v)
			return v.Elapsed, nil
		}
		if !moving && limited(v) {
			moving = true
			d.keep(v)
		}
		select {
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		case <-patience.C:
			d.screen.Keep(v)
			return 0, fmt.Errorf("step %q is not done after %v: %d of %d pods are updated, %d are ready. %s The flag --patience waits longer",
				step, d.options.Patience, v.Updated, v.Replicas, v.Ready, pending(s))
		case <-d.observer.changed:
		case <-time.After(redraw):
		}
	}
}

// pending says what a manager should do now.
func pending(s *cloneset.Snapshot) string {
	if s == nil {
		return "The CloneSet is not there: has somebody deleted it?"
	}
	plan := cloneset.NewPlan(s)
	if len(plan.Create)+len(plan.Delete)+len(plan.Patch) == 0 {
		return "The table shows what is waited for."
	}
	return fmt.Sprintf("The manager should create %d pods, delete %d and change %d now: its log says why it does not.",
		len(plan.Create), len(plan.Delete), len(plan.Patch))
}

// redraw is how often the time on the screen moves on.
const redraw = 100 * time.Millisecond

// keep leaves a view to be read where nothing is drawn over.
func (d *demo) keep(v display.View) {
	if !d.screen.Live() {
		d.screen.Keep(v)
	}
}

// look gives a person the time to read the table.
func (d *demo) look(ctx context.Context, step string, long time.Duration) error {
	if !d.screen.Live() {
		return nil
	}
	for begin := time.Now(); time.Since(begin) < long; {
		d.screen.Draw(d.view(d.observer.snapshot(), step, time.Since(begin)))
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(redraw):
		}
	}
	return nil
}

// view shows a snapshot under a title. A nil snapshot is an empty view.
func (d *demo) view(s *cloneset.Snapshot, step string, elapsed time.Duration) display.View {
	v := display.View{Replicas: replicas, MaxUnavailable: -1, MostUnavailable: -1}
	if s != nil {
		v = newView(s)
	}
	v.Step, v.Elapsed = step, elapsed
	if most, begun := d.observer.recorder.MostUnavailable(); begun {
		v.MaxUnavailable, v.MostUnavailable = maxUnavailable, most
	}
	return v
}

// limited tells whether so many pods of a rollout are on their way as may be.
func limited(v display.View) bool {
	return v.MaxUnavailable >= 0 && v.Unavailable >= v.MaxUnavailable
}
