// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"
)

var errPatience = errors.New("not done in time")

const (
	// redraw is how often the time on the screen moves on.
	redraw = 100 * time.Millisecond
	// look is how long a person is given to see what has come of a step.
	look = 3 * time.Second
)

// play shows all acts, and says in the end what was checked of them.
func (d *demo) play(ctx context.Context) (failed error) {
	var report []line
	steps, n := 0, 0
	for _, act := range d.kind.acts {
		steps += len(act.steps)
	}
	for _, act := range d.kind.acts {
		d.observer.begin()
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
		checks := d.observer.check(final, act.moves)
		if d.place.own {
			checks = append(checks, d.observer.checkRecord())
		}
		lines, err := verdict(act.name, checks, took)
		report, failed = append(report, lines...), errors.Join(failed, err)
	}
	d.screen.print(report...)
	return failed
}

// verdict says what was checked of an act, and errChecks where a check failed.
func verdict(name string, checks []check, took []string) (lines []line, err error) {
	lines = []line{{}, {name + ", checked with the API server:", title}}
	for _, c := range checks {
		if c.ok {
			lines = append(lines, line{"  ok      " + c.text, good})
		} else {
			lines, err = append(lines, line{"  FAILED  " + c.text, bad}), errChecks
		}
	}
	return append(lines, line{text: "It took " + strings.Join(took, ", ") + "."}), err
}

// show makes the changes of a step and shows it until it is done, and gives a person the time to see what
// has come of it. It returns how long the step took.
func (d *demo) show(ctx context.Context, number string, s step) (took time.Duration, err error) {
	begin := time.Now()
	generation, err := d.change(ctx, s.changes)
	if err != nil {
		return 0, err
	}
	patience, cancel := context.WithTimeoutCause(ctx, d.options.Patience, errPatience)
	defer cancel()
	halfWay := false
	last, err := d.watch(patience, func(now *state) (lines []line, done bool) {
		took = time.Since(begin)
		if lines = d.lines(now, number+s.title, took); now == nil {
			return lines, false
		}
		done = now.settled(generation, s.want) && now.quiet()
		middle := now.status.ObservedGeneration >= generation && now.unavailable() >= maxUnavailable
		if !d.screen.live && (done || middle && !halfWay) {
			d.screen.keep(lines...)
		}
		halfWay = halfWay || middle
		return lines, done
	})
	switch {
	case errors.Is(err, errPatience):
		if d.screen.keep(d.lines(last, number+s.title, took)...); last == nil {
			return 0, fmt.Errorf("the %s is not there: has somebody deleted it?", d.kind.name)
		}
		return 0, fmt.Errorf("step %q is not done after %v: the controller should create %d pods, delete %d and change %d now, "+
			"and its log says why it does not; else the table shows what is waited for. The flag --patience waits longer",
			number+s.title, d.options.Patience, len(last.Create), len(last.Delete), len(last.Patch))
	case err == nil && d.screen.live:
		end := time.Now().Add(look)
		_, err = d.watch(ctx, func(now *state) ([]line, bool) { return d.lines(now, number+s.done, took), time.Now().After(end) })
	}
	return took, err
}

// watch draws what look makes of the workload, until that is done or the context. It returns the last state, nil where there is none.
func (d *demo) watch(ctx context.Context, look func(*state) (lines []line, done bool)) (*state, error) {
	for last := []line(nil); ; {
		now := d.observer.state()
		lines, done := look(now)
		if !slices.Equal(lines, last) { // who marks text on the screen wants it to stand still
			d.screen.draw(lines...)
		}
		if last = lines; done {
			return now, nil
		}
		select {
		case <-ctx.Done():
			return now, context.Cause(ctx)
		case <-d.observer.changed:
		case <-time.After(redraw):
		}
	}
}

// stay keeps everything up until the context is done, and shows what happens. It returns an error when the controller ends before.
func (d *demo) stay(ctx context.Context) error {
	heading := line{fmt.Sprintf("now  %s %s/%s", d.kind.name, d.place.namespace, setName), title}
	_, err := d.watch(ctx, func(now *state) ([]line, bool) {
		if now == nil {
			return []line{heading}, false
		}
		return append([]line{heading}, render(now)...), false
	})
	if errors.Is(err, errEnded) {
		return err
	}
	return nil
}

// change changes the workload in one request, or creates it where there are no changes, as a person with kubectl would. It
// returns the generation that this has made.
func (d *demo) change(ctx context.Context, changes []change) (generation int64, err error) {
	object := &unstructured.Unstructured{}
	if changes == nil {
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

// lines show a state under a title. A nil state is an empty one.
func (d *demo) lines(s *state, heading string, elapsed time.Duration) []line {
	out := []line{{fmt.Sprintf("%-70s %5.1f s", heading, elapsed.Seconds()), title}}
	if s == nil {
		return out
	}
	table := render(s)
	table[0].text += fmt.Sprintf(" (allowed %d, at most %d so far)", maxUnavailable, d.observer.most())
	return append(out, table...)
}

// listPods reads the pods of the workload from the API server.
func (d *demo) listPods(ctx context.Context) (out []*corev1.Pod, err error) {
	list, err := d.core.CoreV1().Pods(d.place.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("listing the pods of namespace %s: %w", d.place.namespace, err)
	}
	for i := range list.Items {
		if d.kind.controls(&list.Items[i]) {
			out = append(out, &list.Items[i])
		}
	}
	return out, nil
}
