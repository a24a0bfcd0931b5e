// SPDX-License-Identifier: Apache-2.0

package workloadspread

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podwright/podwright/distribution/spread"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/admission"
	"github.com/podwright/podwright/internal/podtemplate"
	"github.com/podwright/podwright/internal/validation"
	workloadsv1alpha1 "github.com/podwright/podwright/workloads/v1alpha1"
	workloadsv1beta1 "github.com/podwright/podwright/workloads/v1beta1"
)

// tryPatches has the API server judge what new patches make of the template of the workload. Only a verdict counts: if there is
// none in time, the WorkloadSpread is allowed with a warning. If the workload is not known, it is allowed without one.
// (WS-21.2)
func (w *Webhook) tryPatches(ctx context.Context, c change) *admissionv1.AdmissionResponse {
	response := admission.Allowed()
	if !w.Features.TryPatches || w.Templates == nil {
		return response
	}
	var templates *podtemplate.Templates
	var errs field.ErrorList
	for i := range c.Object.Spec.Subsets {
		subset := &c.Object.Spec.Subsets[i]
		if len(subset.Patch.Raw) == 0 || isTried(c.Old, subset) {
			continue
		}
		if templates == nil {
			object, err := w.target(ctx, c.Object, c.Request.Namespace)
			if templates = templatesOf(object); err != nil {
				response.Warnings = []string{"the patches were not tried on the workload: " + validation.ShortReason(err)}
			}
			if templates == nil {
				return response
			}
		}
		more, noVerdict := w.tryPatch(ctx, c, templates, subset, field.NewPath("spec", "subsets").Index(i).Child("patch"))
		if errs = append(errs, more...); noVerdict != "" {
			response.Warnings = []string{"the patches were tried only in part, because the API server gave no verdict on them: " + noVerdict}
			break
		}
	}
	if err := admission.Invalid(c.Request, errs, http.StatusBadRequest, metav1.StatusReasonBadRequest); err != nil {
		return admission.Errored(err)
	}
	return response
}

// isTried tells whether a stored WorkloadSpread has the patch in the subset already.
func isTried(old *v1alpha1.WorkloadSpread, subset *v1alpha1.WorkloadSpreadSubset) bool {
	if old == nil {
		return false
	}
	for i := range old.Spec.Subsets {
		if was := &old.Spec.Subsets[i]; was.Name == subset.Name {
			return bytes.Equal(was.Patch.Raw, subset.Patch.Raw)
		}
	}
	return false
}

// tryPatch judges one patch. What is wrong with the template itself is not its fault.
func (w *Webhook) tryPatch(ctx context.Context, c change, templates *podtemplate.Templates, subset *v1alpha1.WorkloadSpreadSubset, path *field.Path) (errs field.ErrorList, noVerdict string) {
	changed, err := spread.ApplyTo(templates.Pod, subset)
	if err != nil {
		return field.ErrorList{field.Invalid(path, field.OmitValueType{}, err.Error())}, ""
	}
	judge := func(t podtemplate.Templates) (field.ErrorList, string) {
		return validation.Verdict(ctx, c.Request, c.Request.Namespace, t, validation.DryRun{Client: w.Templates})
	}
	wrong, noVerdict := judge(podtemplate.Templates{Pod: changed, Claims: templates.Claims})
	if len(wrong) == 0 || noVerdict != "" {
		return nil, noVerdict
	}
	before, noVerdict := judge(*templates)
	if noVerdict != "" {
		return nil, noVerdict
	}
	for _, err := range admission.Introduced(wrong, before) {
		at := strings.TrimPrefix(strings.TrimPrefix(err.Field, "spec.template"), ".")
		errs = append(errs, field.Invalid(path, field.OmitValueType{}, fmt.Sprintf("pods of %s %s would be invalid: %s: %s",
			c.Object.Spec.TargetReference.Kind, c.Object.Spec.TargetReference.Name, at, err.ErrorBody())))
	}
	return errs, ""
}

// templatesOf is what a workload makes its pods of; nil if that is not known.
func templatesOf(workload runtime.Object) *podtemplate.Templates {
	switch w := workload.(type) {
	case *appsv1.Deployment:
		return &podtemplate.Templates{Pod: &w.Spec.Template}
	case *appsv1.ReplicaSet:
		return &podtemplate.Templates{Pod: &w.Spec.Template}
	case *appsv1.StatefulSet:
		return &podtemplate.Templates{Pod: &w.Spec.Template, Claims: w.Spec.VolumeClaimTemplates}
	case *batchv1.Job:
		return &podtemplate.Templates{Pod: &w.Spec.Template}
	case *workloadsv1alpha1.CloneSet:
		return &podtemplate.Templates{Pod: &w.Spec.Template, Claims: w.Spec.VolumeClaimTemplates}
	case *workloadsv1beta1.StatefulSet:
		return &podtemplate.Templates{Pod: &w.Spec.Template, Claims: w.Spec.VolumeClaimTemplates}
	}
	return nil
}
