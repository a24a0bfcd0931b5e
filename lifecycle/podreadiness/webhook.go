// SPDX-License-Identifier: Apache-2.0

package podreadiness

import (
	"context"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/lifecycle/readiness"
)

// Expressions in the Common Expression Language of matchConditions in webhook
// configurations, which need Kubernetes 1.28. With them, pods that the webhook
// leaves as they are, like those of CloneSets, can be created while it does
// not answer. A webhook with further steps needs their expressions too, joined
// by ||.
const (
	// MatchExpression is true of the pods that Mutate changes.
	MatchExpression = MatchExpressionAll + ` && has(object.metadata.ownerReferences) && object.metadata.ownerReferences.exists(o, ` +
		`has(o.controller) && o.controller && o.apiVersion.startsWith('apps.kruise.io/'))`
	// MatchExpressionAll is true of the pods that MutateAll changes: all that
	// lack the gate.
	MatchExpressionAll = `!(has(object.spec.readinessGates) && object.spec.readinessGates.exists(g, g.conditionType == 'KruisePodReady'))`
)

// Mutate gives a pod that is about to be created the readiness gate
// KruisePodReady if its controller is of the group apps.kruise.io, whatever
// the kind. It is a step of podwebhook.Webhook and returns no error.
func Mutate(_ context.Context, _ *admissionv1.AdmissionRequest, pod *corev1.Pod) error {
	readiness.InjectGate(pod, false)
	return nil
}

// MutateAll gives the gate to every pod, so that each can be taken out of service
// by a ContainerRecreateRequest. Such a pod is not ready before a Controller has
// opened its gate, so it takes one that runs.
func MutateAll(_ context.Context, _ *admissionv1.AdmissionRequest, pod *corev1.Pod) error {
	readiness.InjectGate(pod, true)
	return nil
}
