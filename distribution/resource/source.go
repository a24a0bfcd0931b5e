// SPDX-License-Identifier: Apache-2.0

package resource

import (
	"errors"
	"fmt"
	"slices"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/typedclient"
)

// errSourcesOff is why nothing is done if spec.sourceRef is set and not read. (RD-17)
var errSourcesOff = errors.New("sources are not read here, leave it out or have them read")

// findSource has the copies get the content of the source. An error says why nothing can be
// done. (RD-17)
func (p *Plan) findSource(s *Snapshot) error {
	ref := p.distribution.Spec.SourceRef
	switch {
	case ref == nil:
		return nil
	case !s.Sources:
		return fmt.Errorf("spec.sourceRef: %w", errSourcesOff)
	case !p.template.content.empty():
		return fmt.Errorf("spec.resource: %w", errTwoContents)
	}
	switch source := s.Source.(type) {
	case *corev1.Secret:
		p.template.content = ofSecret(source)
	case *corev1.ConfigMap:
		p.template.content = ofConfigMap(source)
	default:
		p.SourceMissing = fmt.Errorf("there is no %s %s/%s with the label %s", p.template.kind, ref.Namespace, ref.Name, v1alpha1.ResourceSourceLabel)
	}
	return nil
}

// errTwoContents is why nothing is done if both the resource and a source say what is in
// the copies.
var errTwoContents = errors.New("it must have no content beside spec.sourceRef")

// empty tells whether there is nothing in a resource.
func (c content) empty() bool {
	return (c.Type == "" || c.Type == corev1.SecretTypeOpaque) && len(c.Data) == 0 && len(c.Text) == 0 && c.Immutable == nil
}

// isSource tells whether the copy of a namespace would be the source itself. (RD-17)
func (p *Plan) isSource(namespace string) bool {
	ref := p.distribution.Spec.SourceRef
	return ref != nil && *ref == v1alpha1.ResourceDistributionSource{Namespace: namespace, Name: p.template.name}
}

// sourceCondition tells whether the source is missing, and which namespaces lack a copy for
// that. (RD-17)
func (p *Plan) sourceCondition(failures []Failure, observed []v1alpha1.ResourceDistributionCondition, now time.Time) v1alpha1.ResourceDistributionCondition {
	c := condition(v1alpha1.ResourceDistributionSourceMissing, failures, observed, now)
	if p.SourceMissing != nil {
		c.Status, c.Reason = conditionTrue, p.SourceMissing.Error()
	}
	return since(c, observed, now)
}

// validateSource checks spec.sourceRef, and that nothing else says what is in the copies. (RD-18)
func validateSource(distribution *v1alpha1.ResourceDistribution, template *template, spec *field.Path) (errs field.ErrorList) {
	ref := distribution.Spec.SourceRef
	if ref == nil {
		return nil
	}
	path := spec.Child("sourceRef")
	for _, wrong := range validation.IsDNS1123Label(ref.Namespace) {
		errs = append(errs, field.Invalid(path.Child("namespace"), ref.Namespace, wrong))
	}
	for _, wrong := range validation.IsDNS1123Subdomain(ref.Name) {
		errs = append(errs, field.Invalid(path.Child("name"), ref.Name, wrong))
	}
	if !template.content.empty() {
		errs = append(errs, field.Forbidden(spec.Child("resource"), errTwoContents.Error()))
	}
	return errs
}

// reviewSource returns the question whether a user may have what spec.sourceRef names distributed, by
// writing the ResourceDistribution: whether the user may get it himself. It is nil if there is none to
// ask: nothing is named, or the spec is the same in old. Old is nil for a new ResourceDistribution.
// (RD-18)
func reviewSource(distribution, old *v1alpha1.ResourceDistribution, user authenticationv1.UserInfo) *authorizationv1.SubjectAccessReview {
	ref := distribution.Spec.SourceRef
	if ref == nil || old != nil && equality.Semantic.DeepEqual(&distribution.Spec, &old.Spec) {
		return nil
	}
	template, err := parseTemplate(distribution.Spec.Resource.Raw)
	if err != nil {
		return nil // nothing of that is ever distributed
	}
	resource := resourceConfigMaps
	if template.kind == kindSecret {
		resource = resourceSecrets
	}
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: user.Username, UID: user.UID, Groups: user.Groups,
		ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "get", Version: "v1", Resource: string(resource), Namespace: ref.Namespace, Name: ref.Name},
	}}
	for key, values := range user.Extra {
		if review.Spec.Extra == nil {
			review.Spec.Extra = map[string]authorizationv1.ExtraValue{}
		}
		review.Spec.Extra[key] = authorizationv1.ExtraValue(slices.Clone(values))
	}
	return review
}

func allowSource(o *metav1.ListOptions) { o.LabelSelector = v1alpha1.ResourceSourceLabel }

// NewSourceSecretInformer makes an informer of the Secrets that may be sources, for
// Options.SourceSecrets.
func NewSourceSecretInformer(client kubernetes.Interface) cache.SharedIndexInformer {
	return typedclient.NewInformer(typedclient.Select(client.CoreV1().Secrets(""), allowSource), client, &corev1.Secret{}, 0, nil)
}

// NewSourceConfigMapInformer makes an informer of the ConfigMaps that may be sources, for
// Options.SourceConfigMaps.
func NewSourceConfigMapInformer(client kubernetes.Interface) cache.SharedIndexInformer {
	return typedclient.NewInformer(typedclient.Select(client.CoreV1().ConfigMaps(""), allowSource), client, &corev1.ConfigMap{}, 0, nil)
}

// source returns what spec.sourceRef names, nil if there is no such thing, or it has not the label.
func (r *reconciler) source(distribution *v1alpha1.ResourceDistribution) (Object, error) {
	ref := distribution.Spec.SourceRef
	template, err := parseTemplate(distribution.Spec.Resource.Raw)
	if ref == nil || err != nil {
		return nil, nil // the plan says what is wrong
	}
	resource := resourceSourceConfigMaps
	if template.kind == kindSecret {
		resource = resourceSourceSecrets
	}
	found, known, err := caches.Find(r.options.Reader, resource, ref.Namespace, ref.Name)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read %s %s/%s: %w", template.kind, ref.Namespace, ref.Name, err)
	case !known:
		return nil, fmt.Errorf("Options.Reader has no cache of %s: with Features.Sources it must have one", resource)
	}
	source, ok := found.(Object)
	if !ok {
		return nil, nil
	}
	if _, allowed := source.GetLabels()[v1alpha1.ResourceSourceLabel]; !allowed {
		return nil, nil // a shared informer holds others too
	}
	return source, nil
}

// sourceChanged enqueues the ResourceDistributions whose source has changed. (RD-17)
func (o *Options) sourceChanged(kind string) controller.Concern {
	return func(e controller.Event, enqueue controller.Enqueue) {
		source := e.Object()
		for _, object := range o.Distributions.GetIndexer().List() {
			distribution, ok := object.(*v1alpha1.ResourceDistribution)
			if !ok || distribution.Spec.SourceRef == nil ||
				*distribution.Spec.SourceRef != (v1alpha1.ResourceDistributionSource{Namespace: source.GetNamespace(), Name: source.GetName()}) {
				continue
			}
			if template, err := parseTemplate(distribution.Spec.Resource.Raw); err == nil && template.kind == kind {
				enqueue(types.NamespacedName{Name: distribution.Name})
			}
		}
	}
}
