// SPDX-License-Identifier: Apache-2.0

package podwebhook

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/podwright/podwright/internal/admission"
)

// Step is a Mutator that goes by objects of the API server, of which it has caches. workloadspread.Placer,
// persistentpodstate.Placer, sidecarset.CachedInjector and podprobemarker.Injector are Steps. Its methods may be called by many goroutines, and
// Mutate and MatchExpression wait for the caches as long as the context allows.
type Step interface {
	// Mutate is a Mutator, for the field of Webhook that is for it.
	Mutate(ctx context.Context, request *admissionv1.AdmissionRequest, pod *corev1.Pod) error
	// MatchExpression returns an expression in the Common Expression Language for the matchConditions of the webhook. It is
	// true of all pods that Mutate changes by the objects that there are now, and of some others. It is "false" if that
	// is none. An error says that the caches are not filled yet.
	MatchExpression(ctx context.Context) (string, error)
	// OnMatchChange has a function called whenever MatchExpression has come to return something else, and perhaps more
	// often: then the webhook is to be registered anew. The function must not wait for anything.
	OnMatchChange(changed func()) error
	// Rules returns the RBAC rules that the caches take, and none beyond.
	Rules() []rbacv1.PolicyRule
	// Run fills the caches until the context is done. What it returns, and when, is as with podwright.Controller. It can be
	// called once.
	Run(ctx context.Context) error
	// HasSynced tells whether the caches have been filled that Mutate reads now.
	HasSynced() bool
}

// Steps are several, which run together.
type Steps []Step

// Run runs all of them until the context is done or one of them fails, and waits for all. It returns the error of the first
// that failed, but for those with which they end when the context is done.
func (all Steps) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var running sync.WaitGroup
	var failed error
	var once sync.Once
	for _, step := range all {
		running.Go(func() {
			if err := step.Run(ctx); err != nil && ctx.Err() == nil {
				once.Do(func() { failed = err })
				cancel(err)
			}
		})
	}
	running.Wait()
	return failed
}

// HasSynced tells whether the caches of all of them have been filled.
func (all Steps) HasSynced() bool {
	return !slices.ContainsFunc(all, func(step Step) bool { return !step.HasSynced() })
}

// Rules returns the RBAC rules that all of them take.
func (all Steps) Rules() (rules []rbacv1.PolicyRule) {
	for _, step := range all {
		rules = append(rules, step.Rules()...)
	}
	return rules
}

// OnMatchChange is that of each of them.
func (all Steps) OnMatchChange(changed func()) error {
	var errs []error
	for _, step := range all {
		errs = append(errs, step.OnMatchChange(changed))
	}
	return errors.Join(errs...)
}

// MatchExpression is true of the pods that one of them has to be asked about; "false" for none.
func (all Steps) MatchExpression(ctx context.Context) (string, error) {
	var terms []string
	for _, step := range all {
		term, err := step.MatchExpression(ctx)
		if err != nil {
			return "", err
		}
		if term != "false" {
			terms = append(terms, "("+term+")")
		}
	}
	if len(terms) == 0 {
		return "false", nil
	}
	return strings.Join(terms, " || "), nil
}

// Await returns nil once the API server serves a resource, or an error when the context is done before. It calls missing once
// it is known that the resource is not served yet.
type Await func(ctx context.Context, missing func()) error

// WhenServed returns a Step that does without the objects which another one reads, until the API server serves them. The CRD
// of an optional kind is perhaps not installed, or comes later. Then it leaves pods as they are, and its expression is
// "false". Until it is known whether that is so, and once it is not, its methods wait like those of the other. No pod is
// let through that an object might be about. What names the kind, for errors.
func WhenServed(step Step, what string, await Await) Step {
	return &whenServed{step, admission.NewKnown[Step]("whether the API server serves " + what), await}
}

type whenServed struct {
	Step
	served *admission.Known[Step]
	await  Await
}

func (w *whenServed) Mutate(ctx context.Context, request *admissionv1.AdmissionRequest, pod *corev1.Pod) error {
	step, there, err := w.served.Get(ctx)
	if err != nil || !there {
		return err
	}
	return step.Mutate(ctx, request, pod)
}

func (w *whenServed) MatchExpression(ctx context.Context) (string, error) {
	step, there, err := w.served.Get(ctx)
	if err != nil || !there {
		return "false", err
	}
	return step.MatchExpression(ctx)
}

// NamespaceRules are those of the Step, if it has some.
func (w *whenServed) NamespaceRules() (string, []rbacv1.PolicyRule) {
	if more, ok := w.Step.(namespaced); ok {
		return more.NamespaceRules()
	}
	return "", nil
}

// Run runs the Step as soon as the API server serves what it reads.
func (w *whenServed) Run(ctx context.Context) error {
	if err := w.await(ctx, w.served.Missing); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	w.served.Set(w.Step)
	return w.Step.Run(ctx)
}

// HasSynced is that of the other Step; true while the API server does not serve what it reads.
func (w *whenServed) HasSynced() bool {
	step, there := w.served.Now()
	return w.served.IsKnown() && (!there || step.HasSynced())
}
