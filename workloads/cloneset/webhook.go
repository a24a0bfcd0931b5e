package cloneset

import (
	"context"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podwright/podwright/internal/admission"
	"github.com/podwright/podwright/internal/validation"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

const (
	// MutatePath is where webhook configurations look for Webhook.Default.
	MutatePath = "/mutate-apps-kruise-io-v1alpha1-cloneset"
	// ValidatePath is where webhook configurations look for Webhook.Validate.
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

	// Pods looks up the pods that are named in podsToDelete; a cache is good
	// enough. Nil: any name is taken.
	Pods PodLookup
	// Templates judges new and changed templates by all the rules of a pod,
	// see DryRun. Nil: only by the rules of ValidateCreate.
	//
	// It is asked last, about sets without any other problem, and only a
	// verdict counts: where it cannot be had in time (no permission, no quota,
	// an API server in trouble), the set is allowed with a warning. A rollback
	// must not fail because a check does, and what slips through is refused
	// when the pods are created.
	Templates TemplateChecker
}

// Handlers returns the HTTP handlers by the paths that existing webhook
// configurations call.
func (w *Webhook) Handlers() map[string]http.Handler {
	return map[string]http.Handler{
		MutatePath:   admission.Handler(w.Default),
		ValidatePath: admission.Handler(w.Validate),
	}
}

// Default answers CREATE and UPDATE with a JSON patch that sets the defaults.
// Fields of the object that this version does not know stay as they are.
func (w *Webhook) Default(_ context.Context, request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	if !isCloneSet(request) || request.Operation != admissionv1.Create && request.Operation != admissionv1.Update {
		return admission.Allowed()
	}
	set, old, err := admission.Objects[v1alpha1.CloneSet](request)
	if err != nil {
		return admission.Errored(err)
	}
	Default(set, old, DefaultOptions{TemplateNoDefaults: w.TemplateNoDefaults})
	return admission.Patched(request.Object.Raw, set)
}

// Validate answers CREATE, UPDATE and DELETE. It refuses an invalid set with
// the code 422 and a cause for every field, and the deletion of a protected
// set with the code 403.
func (w *Webhook) Validate(ctx context.Context, request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	if !isCloneSet(request) {
		return admission.Allowed()
	}
	switch request.Operation {
	case admissionv1.Create, admissionv1.Update:
		return w.validateChange(ctx, request)
	case admissionv1.Delete:
		return w.validateDelete(request)
	}
	return admission.Allowed()
}

func (w *Webhook) validateChange(ctx context.Context, request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	set, old, err := admission.Objects[v1alpha1.CloneSet](request)
	if err != nil {
		return admission.Errored(err)
	}
	set.Namespace = request.Namespace
	var errs field.ErrorList
	if old == nil {
		errs = ValidateCreate(set)
	} else {
		errs = ValidateUpdate(set, old)
	}
	if w.Pods != nil {
		podErrs, err := ValidatePodsToDelete(ctx, set, old, w.Pods)
		if err != nil {
			return admission.Errored(err)
		}
		errs = append(errs, podErrs...)
	}
	if len(errs) > 0 || w.Templates == nil || old != nil && templates(&set.Spec).Equal(templates(&old.Spec)) {
		return admission.Validated(request, errs)
	}
	return validation.AnswerTemplates(ctx, request, templates(&set.Spec), w.Templates.CheckTemplate)
}

func (w *Webhook) validateDelete(request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	if w.DisableDeletionProtection {
		return admission.Allowed()
	}
	return admission.Deleted(request, ValidateDelete)
}

func isCloneSet(request *admissionv1.AdmissionRequest) bool {
	return admission.IsAbout(request, v1alpha1.Kind(kind))
}
