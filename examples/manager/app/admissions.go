// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/availability/podunavailablebudget"
	"github.com/podwright/podwright/distribution/persistentpodstate"
	"github.com/podwright/podwright/distribution/workloadspread"
	"github.com/podwright/podwright/examples/process/controllers"
	"github.com/podwright/podwright/examples/process/features"
	"github.com/podwright/podwright/examples/process/switches"
	"github.com/podwright/podwright/lifecycle/launchpriority"
	"github.com/podwright/podwright/lifecycle/podreadiness"
	"github.com/podwright/podwright/lifecycle/podwebhook"
	"github.com/podwright/podwright/lifecycle/probe/podprobemarker"
	podwrightmanager "github.com/podwright/podwright/manager"
	"github.com/podwright/podwright/sidecar/policies"
	"github.com/podwright/podwright/sidecar/sidecarset"
)

// admissions are what webhooks are made of, in every replica, whether it leads or not.
type admissions struct {
	kubernetes.Interface
	clients      controllers.Clients
	metadata     metadata.Interface
	definitions  []*unstructured.Unstructured // of what the controllers manage
	gates        *features.Gates
	ownNamespace string

	// What the webhooks know of objects.
	sidecars *sidecarset.CachedInjector
	budgets  *podunavailablebudget.CachedWebhook
	// pods are the parts of the webhook of pods. Those that go by objects wait until these are served.
	pods podwebhook.Parts
}

// newAdmissions returns what has read nothing yet. Nothing is asked of the API server.
func (m *Manager) newAdmissions(config *rest.Config) (*admissions, error) {
	var errs [9]error
	timeout := m.config.CacheSyncTimeout
	a := &admissions{gates: m.gates, ownNamespace: m.config.OwnNamespace}
	a.clients, errs[0] = controllers.NewClients(config, program)
	a.metadata, errs[1] = metadata.NewForConfig(config)
	a.definitions, errs[6] = m.definitions()
	objects, err := dynamic.NewForConfig(config)
	errs[7] = err
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	a.Interface = a.clients.Kubernetes
	a.pods = podwebhook.Parts{
		Readiness:      podwebhook.Fixed{Mutate: podreadiness.Mutate, MatchExpression: podreadiness.MatchExpression},
		LaunchPriority: podwebhook.Fixed{Mutate: launchpriority.Mutate, MatchExpression: launchpriority.MatchExpression},
		OwnNamespace:   m.config.OwnNamespace, Namespace: m.config.Namespace,
	}
	if m.gates.Enabled(features.KruisePodReadinessGate) {
		a.pods.Readiness.Mutate, a.pods.Readiness.Elsewhere = podreadiness.MutateAll, podreadiness.MatchExpressionAll
	}
	if m.gates.Enabled(features.WorkloadSpread) {
		spreads, err := workloadspread.NewPlacer(workloadspread.Options{
			Kubernetes: a.Interface, Distribution: a.clients.Distribution, PlacedByWorkloads: true, Dynamic: objects, ConfigNamespace: m.config.OwnNamespace,
			ControllerOptions: podwright.ControllerOptions{Namespace: m.config.Namespace, CacheSyncTimeout: timeout}})
		errs[2], a.pods.Spread = err, a.step(spreads, "WorkloadSpreads", workloadSpreadsResource)
	}
	sidecars := sidecarset.AdmissionOptions{
		Kubernetes: a.Interface, Sidecar: a.clients.Sidecar, ManagerNamespace: m.config.OwnNamespace, CacheSyncTimeout: timeout,
		Metrics: injections, Recorder: m.recorder, Injection: switches.Injection(m.gates),
	}
	if m.gates.Enabled(features.SidecarSetPolicies) {
		sidecars.MatchExpression = policies.MatchExpression
	}
	a.sidecars, errs[3] = sidecarset.NewCachedInjector(sidecars)
	a.pods.Sidecars = a.step(a.sidecars, "SidecarSets", sidecarSetsResource)
	states, err := persistentpodstate.NewPlacer(persistentpodstate.PlacerOptions{
		Kubernetes: a.Interface, Distribution: a.clients.Distribution, Namespace: m.config.Namespace, PlacedByWorkloads: true, ConfigNamespace: m.config.OwnNamespace,
		CacheSyncTimeout: timeout, RestoreAnnotations: m.gates.Enabled(features.PersistentPodStateRestoreAnnotations)})
	errs[4], a.pods.PersistentPodState = err, a.step(states, "PersistentPodStates", persistentPodStatesResource)
	if m.gates.Enabled(features.EnablePodProbeMarkerOnServerless) && m.gates.Enabled(features.PodProbeMarkerGate) {
		probes, err := podprobemarker.NewInjector(podprobemarker.InjectorOptions{Lifecycle: a.clients.Lifecycle, Namespace: m.config.Namespace, CacheSyncTimeout: timeout})
		errs[8], a.pods.Probes = err, a.step(probes, "PodProbeMarkers", podProbeMarkersResource)
	}
	budgets := podunavailablebudget.AdmissionOptions{
		Kubernetes: a.Interface, Availability: a.clients.Availability, CacheSyncTimeout: timeout, Metrics: budgetMetrics, NoPods: m.config.Namespace != "",
		Deletions: m.gates.Enabled(features.PodUnavailableBudgetDeleteGate), Updates: m.gates.Enabled(features.PodUnavailableBudgetUpdateGate),
		Features: switches.PodUnavailableBudget(m.gates)}
	if m.gates.Enabled(features.PodUnavailableBudgetDenialEvents) {
		budgets.Recorder = m.denials
	}
	a.budgets, errs[5] = podunavailablebudget.NewCachedWebhook(budgets)
	return a, errors.Join(errs[:]...)
}

// step returns a part of the webhook of pods that does without its objects until they are served.
func (a *admissions) step(s podwebhook.Step, what string, resource schema.GroupVersionResource) podwebhook.Step {
	return podwebhook.WhenServed(s, what, func(ctx context.Context, missing func()) error {
		return podwrightmanager.Await(ctx, a.Discovery(), resource, lookAgain, missing)
	})
}
