// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"
)

const (
	// redraw is how often the screen is drawn.
	redraw = 50 * time.Millisecond
	// look is how long a person is given to see what has come of a step.
	look = 3 * time.Second
)

// play shows all acts, and says in the end what was checked of them.
func (d *demo) play(ctx context.Context) (failed error) {
	var report []line
	defer func() { d.screen.print(report...) }() // also where a later act fails
	for _, act := range d.kind.acts {
		d.observer.begin()
		asked := d.ask(ctx, act)
		for _, s := range act.steps {
			if err := d.show(ctx, s); err != nil {
				return err
			}
		}
		if act.name == "" {
			continue
		}
		final, err := d.core.CoreV1().Pods(d.namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return fmt.Errorf("listing the pods of namespace %s: %w", d.namespace, err)
		}
		all := append(checks(d.observer.history.Changes(), d.observer.since, final.Items, act), asked()...)
		if d.own {
			all = append(all, d.observer.review())
		}
		lines, err := verdict(act.name, all)
		report, failed = append(report, lines...), errors.Join(failed, err)
	}
	return failed
}

// verdict says what was checked of an act, and errChecks where a check failed.
func verdict(name string, checks []check) (lines []line, err error) {
	lines = []line{{}, {name + ", checked with the API server:", title}}
	for _, c := range checks {
		if c.ok {
			lines = append(lines, line{"  ok      " + c.text, good})
		} else {
			lines, err = append(lines, line{"  FAILED  " + c.text, bad}), errChecks
		}
	}
	return lines, err
}

// show makes the changes of a step and shows it until it is done, and gives a person the time to see what has come of it.
func (d *demo) show(ctx context.Context, s step) error {
	patience, cancel := context.WithTimeout(ctx, d.Patience)
	defer cancel()
	var last []line
	err := d.screen.step(s.title, func() error {
		generation, err := d.change(ctx, s)
		if err != nil {
			return err
		}
		last, err = d.watch(patience, "  ...     "+s.title, func(now *state) bool {
			return now.settled(generation, s.want) && (s.until == nil || s.until(patience, d))
		})
		return err
	})
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("%q is not done after %v: the plan above says what is waited for, the controller's log why it does not do "+
			"what is planned. The flag --patience waits longer", s.title, d.Patience)
	}
	if err != nil || !d.screen.live {
		d.screen.print(append(last, line{})...)
		return err
	}
	d.screen.draw(last...)
	select {
	case <-ctx.Done():
	case <-time.After(look):
	}
	return nil
}

// watch draws the workload below a heading until it is done, or the context. It returns what it has drawn last.
func (d *demo) watch(ctx context.Context, heading string, done func(*state) bool) (last []line, err error) {
	err = wait.PollUntilContextCancel(ctx, redraw, true, func(context.Context) (bool, error) {
		now := d.observer.state()
		last = render(now)
		d.screen.draw(append([]line{{heading, title}}, last...)...)
		return done(now), nil
	})
	return last, err
}

// change changes the workload in one request, or creates an object, as a person with kubectl would. It returns the generation
// that this has made.
func (d *demo) change(ctx context.Context, s step) (generation int64, err error) {
	object, kind := &unstructured.Unstructured{}, cmp.Or(s.creates, d.kind)
	client := d.objects(kind)
	if s.changes == nil {
		if err := yaml.Unmarshal(kind.manifest, object); err != nil {
			return 0, fmt.Errorf("manifest of the %s: %w", kind.name, err)
		}
		object, err = client.Create(ctx, object, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
	} else {
		patch := "[" + strings.Join(s.changes, ",") + "]"
		object, err = client.Patch(ctx, setName, types.JSONPatchType, []byte(patch), metav1.PatchOptions{})
	}
	if err != nil {
		return 0, fmt.Errorf("writing the %s %s: %w", kind.name, setName, err)
	}
	return object.GetGeneration(), nil
}

// objects reads and writes those of a kind.
func (d *demo) objects(k *kind) dynamic.ResourceInterface {
	if k.sidecars {
		return d.untyped.Resource(k.resource)
	}
	return d.untyped.Resource(k.resource).Namespace(d.namespace)
}
