// SPDX-License-Identifier: Apache-2.0

package podwebhook_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/podwright/podwright/lifecycle/podwebhook"
)

// step is a Step with an expression of its own.
type step struct {
	expression string
	fails      error
	running    *int
	changed    []func()
	unfilled   bool
}

func (s *step) Mutate(_ context.Context, _ *admissionv1.AdmissionRequest, pod *corev1.Pod) error {
	pod.Name += s.expression
	return nil
}

func (s *step) MatchExpression(context.Context) (string, error) { return s.expression, s.fails }

func (s *step) OnMatchChange(changed func()) error {
	s.changed = append(s.changed, changed)
	return s.fails
}

func (s *step) Rules() []rbacv1.PolicyRule { return nil }

func (s *step) HasSynced() bool { return !s.unfilled }

func (s *step) Run(ctx context.Context) error {
	*s.running++
	defer func() { *s.running-- }()
	if s.fails != nil {
		return s.fails
	}
	<-ctx.Done()
	return nil
}

// All end with the context, or with the first that fails, and all hear of whom to tell of changes.
func TestStepsRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		running, failure := 0, errors.New("failure")
		ctx, cancel := context.WithCancel(t.Context())
		a, b := &step{running: &running}, &step{running: &running}
		ended := make(chan error, 1)
		go func() { ended <- podwebhook.Steps{a, b}.Run(ctx) }()
		synctest.Wait()
		if running != 2 {
			t.Errorf("%d run", running)
		}
		cancel()
		if err := <-ended; err != nil || running != 0 {
			t.Errorf("at the end %d run, error %v", running, err)
		}
		if err := (podwebhook.Steps{a, &step{running: &running, fails: failure}}).Run(t.Context()); !errors.Is(err, failure) || running != 0 {
			t.Errorf("error %v, %d run", err, running)
		}
		if expression, err := (podwebhook.Steps{&step{expression: "false"}}).MatchExpression(t.Context()); expression != "false" || err != nil {
			t.Errorf("none is asked about: %s, error %v", expression, err)
		}
		if err := (podwebhook.Steps{a, b}).OnMatchChange(func() {}); err != nil || len(a.changed) != 1 || len(b.changed) != 1 {
			t.Errorf("error %v, told of %d and %d", err, len(a.changed), len(b.changed))
		}
		if err := (podwebhook.Steps{a, &step{fails: failure}}).OnMatchChange(func() {}); !errors.Is(err, failure) {
			t.Errorf("error %v", err)
		}
	})
}

// A step refuses pods until it is known whether the API server serves what the step reads. While the API server does not, the
// step leaves pods unchanged. Once it does, the step changes them.
func TestWhenServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		running := 0
		look := make(chan bool)
		s := podwebhook.WhenServed(&step{expression: "a", running: &running}, "Widgets", func(ctx context.Context, missing func()) error {
			for {
				select {
				case served := <-look:
					if served {
						return nil
					}
					missing()
				case <-ctx.Done():
					return ctx.Err()
				}
			}
		})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- s.Run(ctx) }()
		over, end := context.WithCancel(t.Context())
		end()
		if _, err := s.MatchExpression(over); err == nil || !strings.Contains(err.Error(), "not known yet whether the API server serves Widgets") {
			t.Errorf("error %v", err)
		}
		pod := &corev1.Pod{}
		if err := s.Mutate(over, nil, pod); err == nil || !strings.Contains(err.Error(), "not known yet") {
			t.Errorf("error %v", err)
		}
		for _, served := range []bool{false, true} {
			look <- served
			synctest.Wait()
			expression, err := s.MatchExpression(t.Context())
			if want := map[bool]string{false: "false", true: "a"}[served]; expression != want || err != nil {
				t.Errorf("served %t: asked about %s, error %v", served, expression, err)
			}
			if err := s.Mutate(t.Context(), nil, pod); err != nil || (pod.Name != "") != served || (running != 0) != served {
				t.Errorf("served %t: changed to %q, %d run, error %v", served, pod.Name, running, err)
			}
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		failure := errors.New("failure")
		if err := podwebhook.WhenServed(&step{}, "Widgets", func(context.Context, func()) error { return failure }).Run(t.Context()); !errors.Is(err, failure) {
			t.Errorf("error %v", err)
		}
		if err := podwebhook.WhenServed(&step{}, "Widgets", func(context.Context, func()) error { return failure }).Run(over); err != nil {
			t.Errorf("at the end: error %v", err)
		}
	})
}

// A step of one's own beside those of podwright. Each of them would be a field of the Webhook, by its Mutate.
func ExampleSteps() {
	running := 0
	all := podwebhook.Steps{&step{expression: "request.namespace == 'shop'", running: &running}, &step{expression: "false", running: &running}}
	if err := all.OnMatchChange(func() { fmt.Println("register the webhook anew") }); err != nil {
		panic(err)
	}
	expression, err := all.MatchExpression(context.Background())
	fmt.Println(expression, err)
	// Output: (request.namespace == 'shop') <nil>
}

func TestStepsHaveSynced(t *testing.T) {
	filled, empty := &step{}, &step{unfilled: true}
	wait := make(chan struct{})
	await := func(_ context.Context, missing func()) error {
		missing()
		close(wait)
		return context.Canceled
	}
	optional := podwebhook.WhenServed(empty, "widgets", await)
	for _, test := range []struct {
		steps podwebhook.Steps
		want  bool
	}{{nil, true}, {podwebhook.Steps{filled}, true}, {podwebhook.Steps{filled, empty}, false}, {podwebhook.Steps{filled, optional}, false}} {
		if got := test.steps.HasSynced(); got != test.want {
			t.Errorf("%d steps have synced: %v, want %v", len(test.steps), got, test.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := optional.Run(ctx); err != nil {
		t.Error(err)
	}
	if <-wait; !optional.HasSynced() {
		t.Error("what it reads is not served, and it has not synced")
	}
}
