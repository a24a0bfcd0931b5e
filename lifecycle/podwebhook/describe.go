// SPDX-License-Identifier: Apache-2.0

package podwebhook

import (
	"context"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/lifecycle"
)

// Parts are what a webhook of pods is joined of. What is nil, or has no Mutate, is left out.
type Parts struct {
	// Readiness is podreadiness.Mutate or podreadiness.MutateAll with its expression, and LaunchPriority is launchpriority.Mutate.
	Readiness, LaunchPriority Fixed
	// Spread is a workloadspread.Placer, Sidecars a sidecarset.CachedInjector, PersistentPodState a persistentpodstate.Placer, Probes a
	// podprobemarker.Injector.
	Spread, Sidecars, PersistentPodState, Probes Step
	// OwnNamespace is that of the program. Pods there are asked for only if a Fixed.MatchExpression is true of them: the
	// program must be able to start while no webhook answers. Default: there is no such namespace.
	OwnNamespace string
	// Namespace is the one in which the Steps read what has a namespace. Default: all.
	Namespace string
}

// Fixed is a part that goes by the pod alone.
type Fixed struct {
	// Mutate is that part of the webhook.
	Mutate Mutator
	// MatchExpression is true of the pods that Mutate changes, wherever they are. Empty: of none.
	MatchExpression string
	// Elsewhere is true of the pods that Mutate changes outside of the OwnNamespace. Default: there are no others.
	Elsewhere string
}

// Webhook returns the webhook of the parts. It takes Steps, which have to run.
func (p *Parts) Webhook() *Webhook {
	w := &Webhook{Readiness: p.Readiness.Mutate, LaunchPriority: p.LaunchPriority.Mutate}
	for _, part := range []struct {
		step  Step
		field *Mutator
	}{{p.Spread, &w.Spread}, {p.Sidecars, &w.Sidecars}, {p.PersistentPodState, &w.PersistentPodState}, {p.Probes, &w.Probes}} {
		if part.step != nil {
			*part.field = part.step.Mutate
		}
	}
	return w
}

// Steps returns those of the parts that have caches.
func (p *Parts) Steps() (all Steps) {
	for _, step := range (Steps{p.Spread, p.Sidecars, p.PersistentPodState, p.Probes}) {
		if step != nil {
			all = append(all, step)
		}
	}
	return all
}

// MatchExpression is true of the pods that the webhook of the parts changes, and of some others; "false" for none. It waits for the
// caches of the Steps. An error says that these are not filled yet.
func (p *Parts) MatchExpression(ctx context.Context) (string, error) {
	some, err := p.Steps().MatchExpression(ctx)
	if err != nil {
		return "", err
	}
	var terms []string
	for _, part := range []Fixed{p.LaunchPriority, p.Readiness} {
		if part.MatchExpression != "" {
			terms = append(terms, "("+part.MatchExpression+")")
		}
	}
	for _, expression := range []string{p.LaunchPriority.Elsewhere, p.Readiness.Elsewhere, some} {
		switch {
		case expression == "" || expression == "false":
		case p.OwnNamespace == "":
			terms = append(terms, "("+expression+")")
		default:
			terms = append(terms, "request.namespace != '"+p.OwnNamespace+"' && ("+expression+")")
		}
	}
	if len(terms) == 0 {
		return "false", nil
	}
	return strings.Join(terms, " || "), nil
}

// Describe returns what a program takes that serves the webhook of pods, for package manager. There is no controller.
func Describe(p Parts) podwright.Kind {
	steps := p.Steps()
	a := controller.Admission(p.Webhook(), nil)
	a.Permissions, a.OnMatchChange, a.Run = nil, steps.OnMatchChange, steps.Run
	for _, step := range steps {
		a.Permissions = append(a.Permissions, controller.Confined(p.Namespace, step.Rules())...)
		if more, ok := step.(namespaced); ok {
			a.Permissions = append(a.Permissions, controller.In(more.NamespaceRules()))
		}
	}
	a.Conditions = map[string]func(context.Context) (string, error){MutatePath: p.MatchExpression}
	return podwright.Kind{Webhooks: lifecycle.Webhooks, Admission: a}
}

// namespaced is a Step that reads more in one namespace.
type namespaced interface {
	NamespaceRules() (namespace string, rules []rbacv1.PolicyRule)
}
