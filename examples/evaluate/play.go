// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
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
		final, err := d.Kubernetes.CoreV1().Pods(d.namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return fmt.Errorf("listing the pods of namespace %s: %w", d.namespace, err)
		}
		all := append(checks(d.observer.history.Changes(), d.observer.since, final.Items, act), asked()...)
		if act.also != nil {
			all = append(all, act.also())
		}
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
		changed := make(chan error, 1)
		go func() { changed <- s.do(patience, d) }()
		generation := int64(-1) // what it was changed to
		var err error
		last, err = d.watch(patience, "  ...     "+s.title, func(now *state) (bool, error) {
			select {
			case err := <-changed:
				if err != nil {
					return false, err
				}
				if generation, err = d.generation(patience); err != nil {
					return false, err
				}
			default:
			}
			return generation >= 0 && now.settled(generation, s.want) && (s.until == nil || s.until(patience, d)), nil
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
func (d *demo) watch(ctx context.Context, heading string, done func(*state) (bool, error)) (last []line, err error) {
	err = wait.PollUntilContextCancel(ctx, redraw, true, func(context.Context) (bool, error) {
		now := d.observer.state()
		last = render(now)
		d.screen.draw(append([]line{{heading, title}}, last...)...)
		return done(now)
	})
	return last, err
}

// create creates what the manifest of the demo holds, as a person with kubectl would.
func create(ctx context.Context, d *demo) error { return d.kind.create(ctx, d) }

func (k *kind) create(ctx context.Context, d *demo) error {
	for document := range bytes.SplitSeq(k.manifest, []byte("\n---\n")) {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(document, object); err != nil {
			return fmt.Errorf("manifest of the %s: %w", k.name, err)
		}
		resource, _ := meta.UnsafeGuessKindToResource(object.GroupVersionKind())
		if _, err := d.objects(resource).Create(ctx, object, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict}); err != nil {
			return fmt.Errorf("creating the %s %s: %w", object.GetKind(), object.GetName(), err)
		}
	}
	return nil
}

// change changes the workload in one request by the operations of a JSON patch.
func change(operations ...string) func(context.Context, *demo) error {
	return func(ctx context.Context, d *demo) error {
		patch := "[" + strings.Join(operations, ",") + "]"
		if _, err := d.objects(d.kind.resource).Patch(ctx, setName, types.JSONPatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
			return fmt.Errorf("writing the %s %s: %w", d.kind.name, setName, err)
		}
		return nil
	}
}

// generation is that of the workload now.
func (d *demo) generation(ctx context.Context) (int64, error) {
	object, err := d.objects(d.kind.resource).Get(ctx, setName, metav1.GetOptions{})
	if err != nil {
		return 0, fmt.Errorf("reading the %s %s: %w", d.kind.name, setName, err)
	}
	return object.GetGeneration(), nil
}

// objects reads and writes those of a resource.
func (d *demo) objects(resource schema.GroupVersionResource) dynamic.ResourceInterface {
	if resource.Resource == "sidecarsets" {
		return d.untyped.Resource(resource)
	}
	return d.untyped.Resource(resource).Namespace(d.namespace)
}
