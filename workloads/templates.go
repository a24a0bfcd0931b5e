// SPDX-License-Identifier: Apache-2.0

package workloads

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/podwright/podwright/internal/validation"
)

// TemplateChecker knows all rules of a pod template. The webhooks of workloads ask
// it about new and changed templates.
type TemplateChecker interface {
	// CheckTemplate returns nil for a valid template. An invalid one is an
	// error of the API server (Invalid, 422) whose causes name fields below
	// "template". Any other error means that it could not be checked.
	CheckTemplate(ctx context.Context, namespace string, template *corev1.PodTemplateSpec) error
}

// DryRun makes a TemplateChecker of the API server: it asks it to create a
// core/v1 PodTemplate without storing it. So templates are judged by the very
// release that will have to accept the pods. It needs the permission to create
// podtemplates; give it the CoreV1 of a clientset.
func DryRun(client typedcorev1.PodTemplatesGetter) TemplateChecker {
	return validation.DryRun{Client: client}
}
