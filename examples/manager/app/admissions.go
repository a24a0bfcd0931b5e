// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/component-base/featuregate"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/availability/podunavailablebudget"
	"github.com/podwright/podwright/distribution/persistentpodstate"
	"github.com/podwright/podwright/distribution/workloadspread"
	"github.com/podwright/podwright/examples/process/controllers"
	"github.com/podwright/podwright/examples/process/crds"
	"github.com/podwright/podwright/examples/process/features"
	"github.com/podwright/podwright/examples/process/permissions"
	"github.com/podwright/podwright/lifecycle/launchpriority"
	"github.com/podwright/podwright/lifecycle/podreadiness"
	"github.com/podwright/podwright/lifecycle/podwebhook"
	"github.com/podwright/podwright/sidecar/policies"
	"github.com/podwright/podwright/sidecar/sidecarset"
)

// admissions are what webhooks are made of, in every replica, whether it leads or not.
type admissions struct {
	kubernetes.Interface
	clients      controllers.Clients
	metadata     metadata.Interface
	definitions  []*unstructured.Unstructured // of what the controllers manage
	gates        featuregate.FeatureGate
	ownNamespace string

	// What the webhooks know of objects. Spreads are nil if the gate is closed.
	sidecars *sidecarset.CachedInjector
	spreads  *workloadspread.Placer
	states   *persistentpodstate.Placer
	budgets  *podunavailablebudget.CachedWebhook
	// pods is the webhook of pods, and steps are those of it that go by objects, once these are served.
	pods  podwebhook.Webhook
	steps podwebhook.Steps
}

// newAdmissions returns what has read nothing yet. Nothing is asked of the API server.
func (m *Manager) newAdmissions(config *rest.Config) (*admissions, error) {
	var errs [6]error
	a := &admissions{definitions: m.definitions(), gates: m.gates, ownNamespace: m.config.OwnNamespace}
	a.clients, errs[0] = controllers.NewClients(config, program)
	a.metadata, errs[1] = metadata.NewForConfig(config)
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	a.Interface = a.clients.Kubernetes
	a.pods = podwebhook.Webhook{Readiness: podreadiness.Mutate, LaunchPriority: launchpriority.Mutate}
	if m.gates.Enabled(features.KruisePodReadinessGate) {
		a.pods.Readiness = podreadiness.MutateAll
	}
	if m.gates.Enabled(features.WorkloadSpread) {
		a.spreads, errs[2] = workloadspread.NewPlacer(workloadspread.Options{
			Kubernetes: a.Interface, Distribution: a.clients.Distribution, ControllerOptions: podwright.ControllerOptions{Namespace: m.config.Namespace}, PlacedByWorkloads: true})
		a.pods.Spread = a.step(a.spreads, "WorkloadSpreads", workloadSpreadsResource)
	}
	sidecars := sidecarset.AdmissionOptions{Kubernetes: a.Interface, Sidecar: a.clients.Sidecar, ManagerNamespace: m.config.OwnNamespace, Metrics: injections, Recorder: m.recorder}
	if m.gates.Enabled(features.SidecarSetPolicies) {
		sidecars.MatchExpression = policies.MatchExpression
	}
	a.sidecars, errs[3] = sidecarset.NewCachedInjector(sidecars)
	a.pods.Sidecars = a.step(a.sidecars, "SidecarSets", sidecarSetsResource)
	a.states, errs[4] = persistentpodstate.NewPlacer(persistentpodstate.PlacerOptions{
		Kubernetes: a.Interface, Distribution: a.clients.Distribution, Namespace: m.config.Namespace, PlacedByWorkloads: true, ConfigNamespace: m.config.OwnNamespace})
	a.pods.PersistentPodState = a.step(a.states, "PersistentPodStates", persistentPodStatesResource)
	a.budgets, errs[5] = podunavailablebudget.NewCachedWebhook(podunavailablebudget.AdmissionOptions{
		Kubernetes: a.Interface, Availability: a.clients.Availability, Metrics: budgetMetrics, NoPods: m.config.Namespace != "",
		Deletions: m.gates.Enabled(features.PodUnavailableBudgetDeleteGate), Updates: m.gates.Enabled(features.PodUnavailableBudgetUpdateGate)})
	return a, errors.Join(errs[:]...)
}

// step adds a step of the webhook of pods that does without its objects until they are served.
func (a *admissions) step(s podwebhook.Step, what string, resource schema.GroupVersionResource) podwebhook.Mutator {
	s = podwebhook.WhenServed(s, what, a.await(resource))
	a.steps = append(a.steps, s)
	return s.Mutate
}

func (a *admissions) await(resource schema.GroupVersionResource) podwebhook.Await {
	return func(ctx context.Context, missing func()) error {
		return crds.Await(ctx, discovery.ToDiscoveryInterfaceWithContext(a.Discovery()), resource, lookAgain, missing)
	}
}

// runBudgets has the webhook know budgets as soon as they are served, until the context is done.
func (a *admissions) runBudgets(ctx context.Context) error {
	err := a.await(podUnavailableBudgetsResource)(ctx, a.budgets.Missing)
	if err == nil {
		err = a.budgets.Run(ctx)
	}
	if ctx.Err() != nil {
		return nil // the manager ends
	}
	return err
}

// permissions are those of the caches of the webhooks.
func (a *admissions) permissions(namespace string) []permissions.Part {
	rules := append(a.sidecars.Rules(), a.states.Rules()...)
	if a.spreads != nil {
		rules = append(rules, a.spreads.Rules()...)
	}
	needed := confined("", namespace, rules)
	for _, more := range []func() (string, []rbacv1.PolicyRule){a.sidecars.NamespaceRules, a.states.NamespaceRules} {
		where, there := more()
		needed = append(needed, permissions.Part{Namespace: where, Rules: there})
	}
	return needed
}

// onMatchChange has a function called when conditions have become others.
func (a *admissions) onMatchChange(changed func()) error {
	return errors.Join(a.steps.OnMatchChange(changed), a.budgets.OnMatchChange(changed))
}

// conditions keep pods away from the webhooks that leave them as they are. If all pods are changed, those in the
// manager's own namespace are asked for only if they would be changed anyway: the manager must be able to start. Nothing
// is injected there, and nothing placed.
func (a *admissions) conditions(ctx context.Context) (map[string]string, error) {
	some, err := a.steps.MatchExpression(ctx)
	protected, err2 := a.budgets.MatchExpression(ctx)
	return map[string]string{
		podwebhook.MutatePath:                podCondition(a.gates, a.ownNamespace, some),
		podunavailablebudget.ValidatePodPath: protected,
	}, errors.Join(err, err2)
}

// podCondition is true of the pods that the webhook of pods changes. The expression is that of its steps.
func podCondition(gates featuregate.FeatureGate, ownNamespace, some string) string {
	condition := "(" + launchpriority.MatchExpression + ") || (" + podreadiness.MatchExpression + ")"
	others := []string{some}
	if gates.Enabled(features.KruisePodReadinessGate) {
		others = []string{podreadiness.MatchExpressionAll, some}
	}
	for _, expression := range others {
		if expression != "false" {
			condition += " || request.namespace != '" + ownNamespace + "' && (" + expression + ")"
		}
	}
	return condition
}
