// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"context"
	"net/http"
	"slices"

	admissionv1 "k8s.io/api/admission/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podwright/podwright/inplace"
	"github.com/podwright/podwright/internal/admission"
	"github.com/podwright/podwright/internal/manifests"
	"github.com/podwright/podwright/internal/podtemplate"
	"github.com/podwright/podwright/internal/validation"
	"github.com/podwright/podwright/workloads"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

const (
	// MutatePath is the path by which webhook configurations name Webhook.Default.
	MutatePath = "/mutate-apps-kruise-io-v1alpha1-cloneset"
	// ValidatePath is the path by which webhook configurations name Webhook.Validate.
	ValidatePath = "/validate-apps-kruise-io-v1alpha1-cloneset"
)

// Webhook answers admission requests for CloneSets. Its zero value works, with
// defaults, validation and deletion protection as they are by default. It may
// be used by many goroutines.
//
// Requests for other kinds and for subresources are allowed as they are. An
// object that cannot be decoded is refused with the code 400.
type Webhook struct {
	// TemplateNoDefaults leaves templates as they were sent, see DefaultOptions.
	TemplateNoDefaults bool
	// DisableDeletionProtection lets every CloneSet be deleted, see ValidateDelete.
	DisableDeletionProtection bool
	// InPlaceResize lets cpu and memory of containers change with type InPlaceOnly. For
	// controllers with Features.InPlaceResize.
	InPlaceResize bool
	// PercentSigns refuses "30" for "30%" in updateStrategy, as OpenKruise does from 1.9 on. (CS-V11)
	PercentSigns bool

	// Pods looks up the pods that are named in podsToDelete; a cache is good
	// enough. Nil: any name is taken.
	Pods PodLookup
	// Templates judges new and changed templates by all the rules of a pod,
	// see workloads.DryRun. Nil: only by the rules of ValidateCreate.
	//
	// It is asked last, about sets without any other problem, and only a
	// verdict counts. If it cannot be had in time (no permission, no quota,
	// an API server in trouble), the set is allowed with a warning. A rollback
	// must not fail because a check does, and what slips through is refused
	// when the pods are created.
	Templates workloads.TemplateChecker
}

// Handlers returns the HTTP handlers by the paths that existing webhook
// configurations call.
func (w *Webhook) Handlers() map[string]http.Handler { return w.admission().Handlers() }

// Rules returns the RBAC rules that the webhook needs. For Templates it creates
// pod templates, which a dry run does, and for Pods it gets pods. Nil fields
// need none.
func (w *Webhook) Rules() []rbacv1.PolicyRule {
	return slices.Concat(
		manifests.If(w.Templates != nil, manifests.JudgeTemplates()),
		manifests.If(w.Pods != nil, manifests.Rule("", "pods", "get")),
	)
}

// Default answers CREATE and UPDATE with a JSON patch that sets the defaults.
// Fields of the object that this version does not know stay as they are.
func (w *Webhook) Default(ctx context.Context, request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	return w.admission().Mutate(ctx, request)
}

// Validate answers CREATE, UPDATE and DELETE. It refuses an invalid set with
// the code 422 and a cause for every field. It refuses the deletion of a
// protected set with the code 403.
func (w *Webhook) Validate(ctx context.Context, request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	return w.admission().Validate(ctx, request)
}

// numberStrings refuses strings without a percent sign that a request introduces. (CS-V11)
func (w *Webhook) numberStrings(c change) field.ErrorList {
	if !w.PercentSigns {
		return nil
	}
	errs := numberStrings(&c.Object.Spec.UpdateStrategy)
	if c.Old == nil {
		return errs
	}
	return admission.Introduced(errs, numberStrings(&c.Old.Spec.UpdateStrategy))
}

type change = admission.Change[v1alpha1.CloneSet]

func (w *Webhook) admission() admission.Webhook[v1alpha1.CloneSet] {
	k := admission.Webhook[v1alpha1.CloneSet]{
		GroupKind: v1alpha1.Kind(kind), MutatePath: MutatePath, ValidatePath: ValidatePath,
		Default: admission.Defaults(Default, DefaultOptions{TemplateNoDefaults: w.TemplateNoDefaults}),
		Check: func(ctx context.Context, c change) (field.ErrorList, error) {
			errs := c.Errors(ValidateCreate, func(set, old *v1alpha1.CloneSet) field.ErrorList {
				return validateUpdate(set, old, inplace.CalculateOptions{Resize: w.InPlaceResize})
			})
			errs = append(errs, w.numberStrings(c)...)
			if w.Pods == nil {
				return errs, nil
			}
			c.Object.Namespace = c.Request.Namespace
			podErrs, err := ValidatePodsToDelete(ctx, c.Object, c.Old, w.Pods)
			return append(errs, podErrs...), err
		},
		Confirm: validation.ConfirmTemplates(func(set *v1alpha1.CloneSet) podtemplate.Templates { return templates(&set.Spec) }, w.Templates),
	}
	if !w.DisableDeletionProtection {
		k.CheckDelete = ValidateDelete
	}
	return k
}
