// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"
)

const (
	// redraw is how often the time on the screen moves on.
	redraw = 100 * time.Millisecond
	// look is how long a person is given to see what has come of a step.
	look = 3 * time.Second
)

// play shows all acts, and says in the end what was checked of them.
func (d *demo) play(ctx context.Context) error {
	var report []line
	var failed error
	steps, n := 0, 0
	for _, act := range d.kind.acts {
		steps += len(act.steps)
	}
	for _, act := range d.kind.acts {
		d.observer.begin(ctx)
		var took []string
		for _, s := range act.steps {
			n++
			elapsed, err := d.show(ctx, fmt.Sprintf("%d/%d  ", n, steps), s)
			if err != nil {
				return err
			}
			took = append(took, fmt.Sprintf("%.1f s %s", elapsed.Seconds(), s.task))
		}
		if act.name == "" {
			continue
		}
		final, err := d.listPods(ctx)
		if err != nil {
			return err
		}
		lines, err := verdict(act.name, d.observer.check(ctx, final, act), took)
		report, failed = append(report, lines...), errors.Join(failed, err)
	}
	d.screen.print(report...)
	return failed
}

// show makes the changes of a step and shows it until it is done, and gives a person the time to see what
// has come of it. It returns how long the step took.
func (d *demo) show(ctx context.Context, number string, s step) (time.Duration, error) {
	begin := time.Now()
	generation, err := d.change(ctx, s.changes)
	if err != nil {
		return 0, err
	}
	took, err := d.await(ctx, number+s.title, begin, generation, s.want)
	for end := time.Now().Add(look); err == nil && d.screen.live && time.Now().Before(end) && ctx.Err() == nil; time.Sleep(redraw) {
		d.screen.draw(d.lines(d.observer.state(), number+s.done, took), false)
	}
	return took, err
}

// change changes the workload in one request, or creates it where there are no changes, as a person with kubectl would. It
// returns the generation that this has made.
func (d *demo) change(ctx context.Context, changes []change) (generation int64, err error) {
	var object *unstructured.Unstructured
	if changes == nil {
		object = &unstructured.Unstructured{}
		if err := yaml.Unmarshal(d.kind.manifest, object); err != nil {
			return 0, fmt.Errorf("manifest of the %s: %w", d.kind.name, err)
		}
		object, err = d.workload.Create(ctx, object, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
	} else {
		patch, _ := json.Marshal(changes) // text and numbers: it cannot fail
		object, err = d.workload.Patch(ctx, setName, types.JSONPatchType, patch, metav1.PatchOptions{})
	}
	if err != nil {
		return 0, fmt.Errorf("writing the %s %s: %w", d.kind.name, setName, err)
	}
	return object.GetGeneration(), nil
}

// await shows the workload until it has come to rest where it should, since the
// generation of a change. It returns how long that took.
func (d *demo) await(ctx context.Context, title string, begin time.Time, generation int64, want status) (time.Duration, error) {
	patience := time.NewTimer(d.options.Patience)
	defer patience.Stop()
	for halfWay := false; ; {
		s, elapsed := d.observer.state(), time.Since(begin)
		lines := d.lines(s, title, elapsed)
		d.screen.draw(lines, false)
		if s != nil && s.settled(generation, want) && s.quiet() {
			d.screen.keepPlain(lines)
			return elapsed, nil
		}
		if !halfWay && s != nil && s.status.ObservedGeneration >= generation && s.unavailable() >= maxUnavailable {
			halfWay = true
			d.screen.keepPlain(lines)
		}
		select {
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		case <-patience.C:
			d.screen.draw(lines, true)
			if s == nil {
				return 0, d.gone()
			}
			return 0, fmt.Errorf("step %q is not done after %v: the controller should create %d pods, delete %d and change %d now, "+
				"and its log says why it does not; else the table shows what is waited for. The flag --patience waits longer",
				title, d.options.Patience, len(s.Create), len(s.Delete), len(s.Patch))
		case <-d.observer.changed:
		case <-time.After(redraw):
		}
	}
}

func (d *demo) gone() error {
	return fmt.Errorf("the %s is not there: has somebody deleted it?", d.kind.name)
}

// lines show a state under a title. A nil state is an empty one.
func (d *demo) lines(s *state, heading string, elapsed time.Duration) []line {
	out := []line{{text: fmt.Sprintf("%-70s %5.1f s", heading, elapsed.Seconds()), color: title}}
	if s == nil {
		return out
	}
	table := render(s)
	table[0].text += fmt.Sprintf(" (allowed %d, at most %d so far)", maxUnavailable, d.observer.mostUnavailable())
	return append(out, table...)
}

// listPods reads the pods of the workload from the API server.
func (d *demo) listPods(ctx context.Context) (out []*corev1.Pod, err error) {
	s := d.observer.state()
	if s == nil {
		return nil, d.gone()
	}
	list, err := d.core.CoreV1().Pods(d.place.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("listing the pods of namespace %s: %w", d.place.namespace, err)
	}
	for i := range list.Items {
		if metav1.IsControlledBy(&list.Items[i], s.object) {
			out = append(out, &list.Items[i])
		}
	}
	return out, nil
}
