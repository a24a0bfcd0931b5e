package cloneset

import (
	"context"
	"fmt"
	"net/http"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/klog/v2"

	"github.com/podwright/podwright/internal/admission"
	"github.com/podwright/podwright/internal/quantities"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

const (
	// MutatePath is where webhook configurations look for Webhook.Default.
	MutatePath = "/mutate-apps-kruise-io-v1alpha1-cloneset"
	// ValidatePath is where webhook configurations look for Webhook.Validate.
	ValidatePath = "/validate-apps-kruise-io-v1alpha1-cloneset"
)

// templateCheckTimeout is the time for the API server's verdict on a template:
// half of what it gives a webhook by default.
const templateCheckTimeout = 5 * time.Second

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
	set, old, err := decodeSets(request)
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
	set, old, err := decodeSets(request)
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
	if len(errs) > 0 || w.Templates == nil || old != nil && !templatesChanged(set, old) {
		return admission.Validated(request, errs)
	}
	return w.validateTemplate(ctx, request, set)
}

// validateTemplate asks for the verdict on the template.
func (w *Webhook) validateTemplate(ctx context.Context, request *admissionv1.AdmissionRequest, set *v1alpha1.CloneSet) *admissionv1.AdmissionResponse {
	template, claims := templateToCheck(&set.Spec)
	limited, cancel := context.WithTimeout(ctx, templateCheckTimeout)
	defer cancel()
	err := w.Templates.CheckTemplate(limited, set.Namespace, template)
	if err == nil {
		return admission.Allowed()
	}
	if errs, ok := templateErrors(err, claims); ok {
		return admission.Validated(request, errs)
	}
	klog.FromContext(ctx).Error(err, "Allowed a CloneSet whose template could not be checked in full")
	response := admission.Allowed()
	response.Warnings = []string{"spec.template was checked only in part, because the API server gave no verdict on it: " + shortReason(err)}
	return response
}

// shortReason fits into a warning, which is cut off after 256 characters.
func shortReason(err error) string {
	if reason := apierrors.ReasonForError(err); reason != metav1.StatusReasonUnknown {
		return string(reason)
	}
	return "the request failed"
}

func (w *Webhook) validateDelete(request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	if w.DisableDeletionProtection || len(request.OldObject.Raw) == 0 {
		return admission.Allowed()
	}
	set, err := decodeSet("oldObject", request.OldObject.Raw)
	if err != nil {
		return admission.Errored(err)
	}
	if err := ValidateDelete(set); err != nil {
		return admission.Errored(&apierrors.StatusError{ErrStatus: metav1.Status{
			Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden, Message: err.Error()}})
	}
	return admission.Allowed()
}

func isCloneSet(request *admissionv1.AdmissionRequest) bool {
	return request.Kind.Group == v1alpha1.GroupName && request.Kind.Kind == "CloneSet" && request.SubResource == ""
}

// decodeSets returns the set of a CREATE or UPDATE, and for an UPDATE the
// stored one. The error is a BadRequest.
func decodeSets(request *admissionv1.AdmissionRequest) (set, old *v1alpha1.CloneSet, err error) {
	if set, err = decodeSet("object", request.Object.Raw); err != nil {
		return nil, nil, err
	}
	if request.Operation == admissionv1.Update {
		old, err = decodeSet("oldObject", request.OldObject.Raw)
	}
	return set, old, err
}

// decodeSet takes keys by their exact case, as the API server does.
func decodeSet(name string, raw []byte) (*v1alpha1.CloneSet, error) {
	set := &v1alpha1.CloneSet{}
	if err := json.Unmarshal(quantities.Tame(raw), set); err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("%s: want a CloneSet as JSON: %v", name, err))
	}
	return set, nil
}
