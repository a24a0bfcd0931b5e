// SPDX-License-Identifier: Apache-2.0

// Package podwebhook is the webhook that pods go through as they are created.
//
// Several parts of podwright have something to do to a new pod, and what one of
// them adds is work for the next. So there is one webhook for all of them, on
// one path, and [Webhook] calls them in a fixed order:
//
//	webhook := &podwebhook.Webhook{
//		Readiness:      podreadiness.Mutate,
//		LaunchPriority: launchpriority.Mutate,
//	}
//	for path, handler := range webhook.Handlers() {
//		mux.Handle(path, handler)
//	}
//
// Those parts that go by objects, such as WorkloadSpreads, are each a [Step]. It has caches, which run, and says about which
// pods the API server has to ask. [Steps] are all of them; [WhenServed] is for objects whose CRD is perhaps not
// installed.
package podwebhook

import (
	"context"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/podwright/podwright/internal/admission"
)

// MutatePath is the path by which webhook configurations name Webhook.Default.
const MutatePath = "/mutate-pod"

// Mutator changes a pod that is about to be created. The pod is its own; the
// request is not to be changed. An error refuses the pod: one of
// k8s.io/apimachinery/pkg/api/errors keeps its code, any other has the code 500.
//
// The API server may call the webhook again about the same pod, also for a dry
// run. So a Mutator does nothing to what it has done already, and has no side
// effects.
type Mutator func(ctx context.Context, request *admissionv1.AdmissionRequest, pod *corev1.Pod) error

// Webhook answers admission requests for new pods. Its fields are called in the
// order in which they stand here; one that is nil is left out. It may be used
// by many goroutines.
//
// Requests for other kinds, for other operations and for subresources are
// allowed as they are. A pod that cannot be decoded is refused with the code 400.
type Webhook struct {
	// Readiness adds the readiness gate KruisePodReady; podreadiness.Mutate does,
	// and podreadiness.MutateAll to every pod.
	Readiness Mutator
	// Spread gives pods the subset of nodes that they go to; workloadspread.Placer does.
	Spread Mutator
	// Sidecars adds containers, and labels and annotations that they need; sidecarset.CachedInjector does.
	Sidecars Mutator
	// LaunchPriority orders the start of all containers; launchpriority.Mutate
	// does. It comes after Sidecars, whose containers and annotations count.
	LaunchPriority Mutator
	// PersistentPodState sends the pod to the node on which the one of its name ran before; persistentpodstate.Placer does.
	PersistentPodState Mutator
	// Probes hands the probes of the pod over to what runs the pods of virtual nodes; podprobemarker.Injector does. It is the last, since
	// the containers and labels that the others write count.
	Probes Mutator
}

// steps are the mutators in their order, which is that of OpenKruise: readiness
// gates, WorkloadSpread, sidecars, launch priority, PodUnavailableBudget,
// PersistentPodState, probes. A new step takes its place there.
func (w *Webhook) steps() []Mutator {
	return []Mutator{w.Readiness, w.Spread, w.Sidecars, w.LaunchPriority, w.PersistentPodState, w.Probes}
}

// Handlers returns the HTTP handlers by the paths that existing webhook
// configurations call.
func (w *Webhook) Handlers() map[string]http.Handler { return w.admission().Handlers() }

// Rules returns the RBAC rules that the Webhook needs beside those of its Steps: none, since it asks the API server nothing by itself.
func (w *Webhook) Rules() []rbacv1.PolicyRule { return nil }

// Default answers CREATE with a JSON patch that holds what all mutators did.
// Fields of the pod that this version does not know stay as they are. The first
// error ends it.
func (w *Webhook) Default(ctx context.Context, request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	return w.admission().Mutate(ctx, request)
}

func (w *Webhook) admission() admission.Webhook[corev1.Pod] {
	return admission.Webhook[corev1.Pod]{
		GroupKind: schema.GroupKind{Kind: "Pod"}, MutatePath: MutatePath, CreateOnly: true,
		Default: func(ctx context.Context, c admission.Change[corev1.Pod]) error {
			for _, mutate := range w.steps() {
				if mutate == nil {
					continue
				}
				if err := mutate(ctx, c.Request, c.Object); err != nil {
					return err
				}
			}
			return nil
		},
	}
}
