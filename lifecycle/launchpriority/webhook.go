// SPDX-License-Identifier: Apache-2.0

package launchpriority

import (
	"context"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/rand"

	"github.com/podwright/podwright/lifecycle/launchpriority/barrier"
)

// MatchExpression is true of the pods that Mutate changes, in the Common
// Expression Language of matchConditions in webhook configurations. With it,
// all other pods can be created while no webhook answers. It needs
// Kubernetes 1.28. A webhook with further steps needs their expressions too,
// joined by ||.
const MatchExpression = `size(object.spec.containers) > 1 && (` +
	`has(object.metadata.annotations) && 'apps.kruise.io/container-launch-priority' in object.metadata.annotations && ` +
	`object.metadata.annotations['apps.kruise.io/container-launch-priority'] == 'Ordered' || ` +
	`object.spec.containers.exists(c, has(c.env) && c.env.exists(e, e.name == 'KRUISE_CONTAINER_PRIORITY')))`

// Mutate gives the containers of a pod that is about to be created their
// barriers, see barrier.Mutate. It is a step of podwebhook.Webhook. A priority
// that is no integer is refused with the code 500, as OpenKruise does it. The
// message names the container, the value and the rule.
func Mutate(_ context.Context, _ *admissionv1.AdmissionRequest, pod *corev1.Pod) error {
	return barrier.Mutate(pod, rand.String(5))
}
