// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"context"
	"net/http"
	"slices"

	admissionv1 "k8s.io/api/admission/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podwright/podwright/inplace"
	"github.com/podwright/podwright/internal/admission"
	"github.com/podwright/podwright/internal/manifests"
	"github.com/podwright/podwright/internal/podtemplate"
	"github.com/podwright/podwright/internal/validation"
	"github.com/podwright/podwright/workloads"
	"github.com/podwright/podwright/workloads/conversion"
	"github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

const (
	// MutatePath is the path by which webhook configurations name Webhook.Default.
	MutatePath = "/mutate-apps-kruise-io-statefulset"
	// ValidatePath is the path by which webhook configurations name Webhook.Validate.
	ValidatePath = "/validate-apps-kruise-io-statefulset"
)

// Webhook answers admission requests for StatefulSets, in v1beta1 and in
// v1alpha1. Its zero value works, with defaults, validation and deletion
// protection as they are by default. It may be used by many goroutines.
//
// Requests for other kinds and for subresources are allowed as they are. An
// object that cannot be decoded is refused with the code 400.
type Webhook struct {
	// TemplateNoDefaults leaves templates as they were sent, see DefaultOptions.
	TemplateNoDefaults bool
	// DisableDeletionProtection lets every StatefulSet be deleted, see ValidateDelete.
	DisableDeletionProtection bool
	// InPlaceResize lets cpu and memory of containers change with podUpdatePolicy InPlaceOnly. For
	// controllers with Features.InPlaceResize.
	InPlaceResize bool
	// Features are those of the controllers that the StatefulSets are for.
	Features Features

	// Templates judges new and changed templates by all the rules of a pod,
	// see workloads.DryRun. Nil: only by the rules of ValidateCreate.
	//
	// It is asked last, about sets without any other problem, and only a
	// verdict counts. If it cannot be had in time (no permission, no quota,
	// an API server in trouble), the set is allowed with a warning. A rollback
	// must not fail because a check does, and what slips through is refused
	// when the pods are created.
	Templates workloads.TemplateChecker
	// StorageClasses is asked, with Features.ResizeClaims, whether volumes may grow, when a claim template that existing claims
	// follow asks for more. It is StorageV1().StorageClasses() of a client. If no answer can be had, the set is allowed with a warning.
	// Nil: the controller alone asks.
	StorageClasses StorageClasses
}

// Handlers returns the HTTP handlers by the paths that existing webhook
// configurations call.
func (w *Webhook) Handlers() map[string]http.Handler { return w.admission().Handlers() }

// Rules returns the RBAC rules that the webhook needs. For Templates it creates pod templates, which a dry
// run does, and for StorageClasses it reads them. Without either it needs none.
func (w *Webhook) Rules() []rbacv1.PolicyRule {
	return slices.Concat(
		manifests.If(w.Templates != nil, manifests.JudgeTemplates()),
		manifests.If(w.StorageClasses != nil && w.Features.ResizeClaims, manifests.Rule("storage.k8s.io", "storageclasses", "get list")),
	)
}

// Default answers CREATE and UPDATE with a JSON patch that sets the defaults,
// in the version of the request. Fields of the object that this version does
// not know stay as they are, and a v1alpha1 object gets no field that only
// v1beta1 has.
func (w *Webhook) Default(ctx context.Context, request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	return w.admission().Mutate(ctx, request)
}

// Validate answers CREATE, UPDATE and DELETE. It refuses an invalid set with
// the code 422 and a cause for every field. It refuses the deletion of a
// protected set with the code 403. A v1alpha1 set is judged with the
// fields that annotations of conversion.KeptFieldsPrefix hold.
func (w *Webhook) Validate(ctx context.Context, request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	return w.admission().Validate(ctx, request)
}

type change = admission.Change[v1beta1.StatefulSet]

func (w *Webhook) admission() admission.Webhook[v1beta1.StatefulSet] {
	confirmTemplates := validation.ConfirmTemplates(func(set *v1beta1.StatefulSet) podtemplate.Templates { return templates(&set.Spec) }, w.Templates)
	k := admission.Webhook[v1beta1.StatefulSet]{
		GroupKind: v1beta1.Kind(kind), MutatePath: MutatePath, ValidatePath: ValidatePath,
		Default: func(_ context.Context, c change) error {
			o := DefaultOptions{TemplateNoDefaults: w.TemplateNoDefaults, ResizeClaims: w.Features.ResizeClaims}
			if isV1alpha1(c.Request) {
				defaultShared(c.Object, c.Old, o)
			} else {
				Default(c.Object, c.Old, o)
			}
			return nil
		},
		Convert: inV1beta1,
		Check: func(_ context.Context, c change) (field.ErrorList, error) {
			create := func(set *v1beta1.StatefulSet) field.ErrorList { return validateCreate(set, w.Features) }
			return c.Errors(create, func(set, old *v1beta1.StatefulSet) field.ErrorList {
				return validateUpdate(set, old, w.Features, inplace.CalculateOptions{Resize: w.InPlaceResize})
			}), nil
		},
		Confirm: func(ctx context.Context, c change) *admissionv1.AdmissionResponse {
			return w.confirmGrowth(ctx, c, confirmTemplates(ctx, c))
		},
	}
	if !w.DisableDeletionProtection {
		k.CheckDelete = ValidateDelete // labels and replicas are the same in both versions
	}
	return k
}

func isV1alpha1(request *admissionv1.AdmissionRequest) bool {
	return request.Kind.Version == v1alpha1.SchemeGroupVersion.Version
}

// inV1beta1 returns the request with its objects in v1beta1. The error is a
// BadRequest.
//
// A stored set that cannot be converted, because an annotation that keeps fields was
// written by hand, is left unchanged. So an update can repair it.
func inV1beta1(request *admissionv1.AdmissionRequest) (*admissionv1.AdmissionRequest, error) {
	if !isV1alpha1(request) {
		return request, nil
	}
	version := v1beta1.SchemeGroupVersion.String()
	object, err := conversion.StatefulSet(request.Object.Raw, version)
	if err != nil {
		return nil, apierrors.NewBadRequest("object: " + err.Error())
	}
	converted := *request
	converted.Object.Raw = object
	if old, err := conversion.StatefulSet(request.OldObject.Raw, version); err == nil {
		converted.OldObject.Raw = old
	}
	return &converted, nil
}
