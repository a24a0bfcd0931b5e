// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"context"
	"fmt"
	"maps"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podwright/podwright/internal/admission"
	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

const (
	// MutatePath is the path by which webhook configurations name Webhook.Default.
	MutatePath = "/mutate-apps-kruise-io-v1alpha1-sidecarset"
	// ValidatePath is the path by which webhook configurations name Webhook.Validate.
	ValidatePath = "/validate-apps-kruise-io-v1alpha1-sidecarset"
)

// Webhook answers admission requests for SidecarSets. Its zero value judges each by
// itself. It may be used by many goroutines.
//
// Requests for other kinds and for subresources are allowed as they are. An
// object that cannot be decoded is refused with the code 400.
type Webhook struct {
	// Reader reads the other SidecarSets, revisions and the white list. Nil: a SidecarSet
	// is judged as if there were none.
	Reader AdmissionReader
	// PatchPodMetadataAllowed allows SidecarSets to patch all annotations if no rule of
	// the white list is about them. It is the gate
	// SidecarSetPatchPodMetadataDefaultsAllowed.
	PatchPodMetadataAllowed bool
	// Injection switches what differs between releases: it decides about defaults and hashes.
	Injection injection.Features
	// Containers judges new and changed containers by all the rules of a pod; nil: only
	// by the rules of ValidateCreate. It is asked last, see ContainerChecker.
	Containers *ContainerChecker
}

// Handlers returns the HTTP handlers by the paths that existing webhook
// configurations call.
func (w *Webhook) Handlers() map[string]http.Handler { return w.admission().Handlers() }

// Rules returns the RBAC rules that the webhook needs beside those of its Reader: for
// Containers to create pod templates, which a dry run does.
func (w *Webhook) Rules() []rbacv1.PolicyRule { return w.Containers.Rules() }

// Default answers CREATE and UPDATE with a JSON patch that sets the defaults and the
// hashes. Fields of the object that this version does not know stay as they are.
func (w *Webhook) Default(ctx context.Context, request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	return w.admission().Mutate(ctx, request)
}

// Validate answers CREATE and UPDATE. It refuses an invalid SidecarSet with the code
// 500, as OpenKruise does, and a cause for every field.
func (w *Webhook) Validate(ctx context.Context, request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	return w.admission().Validate(ctx, request)
}

type admissionChange = admission.Change[v1alpha1.SidecarSet]

func (w *Webhook) admission() admission.Webhook[v1alpha1.SidecarSet] {
	return admission.Webhook[v1alpha1.SidecarSet]{
		GroupKind: v1alpha1.Kind(kind), MutatePath: MutatePath, ValidatePath: ValidatePath,
		Default: func(_ context.Context, c admissionChange) error { return setDefaults(c.Object, w.Injection) },
		Check: func(ctx context.Context, c admissionChange) (field.ErrorList, error) {
			errs, err := w.check(ctx, c)
			if err != nil {
				return nil, err
			}
			return nil, invalid(c.Request, errs)
		},
		Confirm: func(ctx context.Context, c admissionChange) *admissionv1.AdmissionResponse {
			return warnBoth(c, w.Containers.confirm(ctx, c))
		},
	}
}

// warnBoth warns of a partition beside a selector of the update, when they come: OpenKruise 1.9 refuses both together. (SCS-V14)
func warnBoth(c admissionChange, answer *admissionv1.AdmissionResponse) *admissionv1.AdmissionResponse {
	both := func(s *v1alpha1.SidecarSetUpdateStrategy) bool {
		return s.Type != v1alpha1.NotUpdateSidecarSetStrategyType && s.Selector != nil && s.Partition != nil && *s.Partition != zero
	}
	if answer.Allowed && both(&c.Object.Spec.UpdateStrategy) && (c.Old == nil || !both(&c.Old.Spec.UpdateStrategy)) {
		answer.Warnings = append(answer.Warnings, "spec.updateStrategy: partition counts the pods that selector matches; OpenKruise 1.9 refuses both together")
	}
	return answer
}

// invalid is the error of a SidecarSet with which something is wrong. (SCS-W2)
func invalid(request *admissionv1.AdmissionRequest, errs field.ErrorList) error {
	return admission.Invalid(request, errs, http.StatusInternalServerError, metav1.StatusReasonInternalError)
}

// check says what is wrong with a change. What does not change is not judged again: a
// finalizer can be removed whatever others have come to say meanwhile. (SCS-W2, SCS-W3)
func (w *Webhook) check(ctx context.Context, c admissionChange) (field.ErrorList, error) {
	if c.Old != nil && equality.Semantic.DeepEqual(&c.Object.Spec, &c.Old.Spec) && maps.Equal(c.Object.Labels, c.Old.Labels) {
		return nil, nil
	}
	errs := c.Errors(ValidateCreate, ValidateUpdate)
	for _, look := range []func(context.Context, *v1alpha1.SidecarSet) (field.ErrorList, error){w.conflicts, w.revision, w.metadata} {
		more, err := look(ctx, c.Object)
		if err != nil {
			return nil, err
		}
		errs = append(errs, more...)
	}
	return errs, nil
}

// conflicts compares a SidecarSet with all others. (SCS-V3)
func (w *Webhook) conflicts(ctx context.Context, set *v1alpha1.SidecarSet) (field.ErrorList, error) {
	if w.Reader == nil {
		return nil, nil
	}
	others, err := w.Reader.SidecarSets(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the other SidecarSets: %w", err)
	}
	var unknown error
	errs := Conflicts(set, others, func(name string) *corev1.Namespace {
		namespace, err := w.Reader.Namespace(ctx, name)
		if err != nil {
			unknown = fmt.Errorf("read namespace %s: %w", name, err)
		}
		return namespace
	})
	return errs, unknown
}

// revision finds the revision that is to be injected. (SCS-W3)
func (w *Webhook) revision(ctx context.Context, set *v1alpha1.SidecarSet) (field.ErrorList, error) {
	wanted := set.Spec.InjectionStrategy.Revision
	if w.Reader == nil || wanted == nil || wanted.RevisionName == nil && wanted.CustomVersion == nil {
		return nil, nil
	}
	revisions, err := w.Reader.Revisions(ctx, set.Name)
	if err != nil {
		return nil, fmt.Errorf("read the revisions: %w", err)
	}
	if _, err := injection.Restore(set.DeepCopy(), revisions); err != nil {
		path, name := field.NewPath("spec", "injectionStrategy", "revision"), wanted.CustomVersion
		if wanted.RevisionName != nil {
			name = wanted.RevisionName
		}
		return field.ErrorList{field.Invalid(path, *name, err.Error())}, nil
	}
	return nil, nil
}

// metadata asks the white list about the annotations to patch. (SCS-V6)
func (w *Webhook) metadata(ctx context.Context, set *v1alpha1.SidecarSet) (field.ErrorList, error) {
	if len(set.Spec.PatchPodMetadata) == 0 {
		return nil, nil
	}
	var config *corev1.ConfigMap
	if w.Reader != nil {
		var err error
		if config, err = w.Reader.Configuration(ctx); err != nil {
			return nil, fmt.Errorf("read the white list of annotations, ConfigMap %s: %w", whitelistConfigMap, err)
		}
	}
	list, err := ReadWhitelist(config)
	if err != nil {
		return nil, err
	}
	return ValidateMetadata(set, list, w.PatchPodMetadataAllowed), nil
}
