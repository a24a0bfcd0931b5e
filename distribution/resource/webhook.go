// SPDX-License-Identifier: Apache-2.0

package resource

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/kubernetes"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/admission"
	"github.com/podwright/podwright/internal/manifests"
)

// ValidatePath is the path by which webhook configurations name Webhook.Validate.
const ValidatePath = "/validate-apps-kruise-io-v1alpha1-resourcedistribution"

// Webhook answers admission requests for ResourceDistributions. Its zero value works. It
// may be used by many goroutines.
//
// Requests for other kinds and for subresources are allowed as they are. An
// object that cannot be decoded is refused with the code 400.
type Webhook struct {
	// Kubernetes creates the resource by a dry run in Namespace, so that the API server says
	// what is wrong with it. Default nil: nothing is asked.
	Kubernetes kubernetes.Interface
	// Namespace must exist if Kubernetes is set: that of the manager.
	Namespace string
	// Access is asked whether who names a source may get it. kubernetes.Interface has one:
	// AuthorizationV1().SubjectAccessReviews(). Default nil: sources are refused. (RD-18)
	Access Access
}

// Access answers whether a user may do something.
type Access interface {
	// Create asks the API server to judge the review. The answer has its status.
	Create(ctx context.Context, review *authorizationv1.SubjectAccessReview, opts metav1.CreateOptions) (*authorizationv1.SubjectAccessReview, error)
}

// Handlers returns the HTTP handlers by the paths that existing webhook
// configurations call.
func (w *Webhook) Handlers() map[string]http.Handler { return w.admission().Handlers() }

// Validate answers CREATE and UPDATE. It refuses an invalid ResourceDistribution with the
// code 422 and a cause for every field. (RD-16, RD-18)
func (w *Webhook) Validate(ctx context.Context, request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	return w.admission().Validate(ctx, request)
}

// Rules returns the RBAC rules that the Webhook needs, and none beyond, in any namespace.
func (w *Webhook) Rules() (rules []rbacv1.PolicyRule) {
	if w.Kubernetes != nil {
		rules = append(rules, manifests.Rule("", "secrets", "create"), manifests.Rule("", "configmaps", "create"))
	}
	if w.Access != nil {
		rules = append(rules, manifests.Rule(authorizationv1.GroupName, "subjectaccessreviews", "create"))
	}
	return rules
}

type change = admission.Change[v1alpha1.ResourceDistribution]

func (w *Webhook) admission() admission.Webhook[v1alpha1.ResourceDistribution] {
	return admission.Webhook[v1alpha1.ResourceDistribution]{
		GroupKind: v1alpha1.Kind(Kind), ValidatePath: ValidatePath,
		Check: func(ctx context.Context, c change) (field.ErrorList, error) {
			errs := c.Errors(ValidateCreate, ValidateUpdate)
			if len(errs) > 0 {
				return errs, nil
			}
			if errs, err := w.review(ctx, c); len(errs) > 0 || err != nil {
				return errs, err
			}
			if w.Kubernetes == nil || c.Old != nil && string(c.Old.Spec.Resource.Raw) == string(c.Object.Spec.Resource.Raw) {
				return nil, nil
			}
			return w.try(ctx, c.Object), nil
		},
	}
}

// review asks whether who writes the ResourceDistribution may get its source. (RD-18)
func (w *Webhook) review(ctx context.Context, c change) (field.ErrorList, error) {
	question := reviewSource(c.Object, c.Old, c.Request.UserInfo)
	if question == nil {
		return nil, nil
	}
	path := field.NewPath("spec", "sourceRef")
	if w.Access == nil {
		return field.ErrorList{field.Forbidden(path, errSourcesOff.Error())}, nil
	}
	answer, err := w.Access.Create(ctx, question, metav1.CreateOptions{})
	switch {
	case err != nil:
		return nil, fmt.Errorf("ask whether %s may get what spec.sourceRef names: %w", question.Spec.User, err)
	case !answer.Status.Allowed || answer.Status.Denied:
		what := question.Spec.ResourceAttributes
		text := fmt.Sprintf("user %q cannot get %s %s/%s %s", question.Spec.User, what.Resource, what.Namespace, what.Name, answer.Status.Reason)
		return field.ErrorList{field.Forbidden(path, strings.TrimSpace(text))}, nil // an authorizer may give no reason
	}
	return nil, nil
}

// try creates the resource by a dry run. (RD-16)
func (w *Webhook) try(ctx context.Context, distribution *v1alpha1.ResourceDistribution) field.ErrorList {
	path := field.NewPath("spec", "resource")
	template, err := parseTemplate(distribution.Spec.Resource.Raw)
	if err != nil {
		return field.ErrorList{field.Invalid(path, field.OmitValueType{}, err.Error())}
	}
	dryRun := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}
	switch object := template.object(w.Namespace, distribution).(type) {
	case *corev1.Secret:
		object.OwnerReferences = nil // it does not exist yet
		_, err = w.Kubernetes.CoreV1().Secrets(w.Namespace).Create(ctx, object, dryRun)
	case *corev1.ConfigMap:
		object.OwnerReferences = nil
		_, err = w.Kubernetes.CoreV1().ConfigMaps(w.Namespace).Create(ctx, object, dryRun)
	}
	if err == nil || apierrors.IsAlreadyExists(err) {
		return nil
	}
	return field.ErrorList{field.Invalid(path, field.OmitValueType{}, fmt.Sprintf("failed to dry-run to validate spec.resource, error: %v", err))}
}
