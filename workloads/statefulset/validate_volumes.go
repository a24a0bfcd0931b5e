// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/internal/admission"
	"github.com/podwright/podwright/internal/validation"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// StorageClasses reads storage classes, as StorageClasses of a client of k8s.io/client-go does.
type StorageClasses interface {
	// Get returns the storage class of a name. NotFound refuses the claim template that has it; other errors are warnings.
	Get(ctx context.Context, name string, o metav1.GetOptions) (*storagev1.StorageClass, error)
	// List returns all storage classes, so that the default one is found. An error is a warning.
	List(ctx context.Context, o metav1.ListOptions) (*storagev1.StorageClassList, error)
}

// whileGrowing is what errors say about when a rule holds.
const whileGrowing = "while volumeClaimUpdateStrategy.type is OnPodRollingUpdate"

// asksToGrow tells whether a rolling update would grow claims by a spec. (STS-40)
func asksToGrow(spec *v1beta1.StatefulSetSpec, features Features) bool {
	s := spec.VolumeClaimUpdateStrategy
	return features.ResizeClaims && s != nil && s.Type == v1beta1.OnPodRollingUpdateVolumeClaimUpdateStrategyType
}

// validateResize refuses changes of claim templates that no existing claim can follow. (STS-V9)
func validateResize(spec, old *v1beta1.StatefulSetSpec, path *field.Path, features Features) (errs field.ErrorList) {
	if !asksToGrow(spec, features) {
		return nil
	}
	path = path.Child("volumeClaimTemplates")
	if is, was := len(spec.VolumeClaimTemplates), len(old.VolumeClaimTemplates); is != was {
		errs = append(errs, field.Invalid(path, is, fmt.Sprintf("must stay %d claim templates %s: pods that run cannot get or lose a volume", was, whileGrowing)))
	}
	for i := range spec.VolumeClaimTemplates {
		template, at := &spec.VolumeClaimTemplates[i], path.Index(i)
		was := templateNamed(old.VolumeClaimTemplates, template.Name)
		if was == nil {
			errs = append(errs, field.Invalid(at.Child("metadata", "name"), template.Name, fmt.Sprintf(
				"must be the name of a claim template that there was (%s) %s", strings.Join(names(old.VolumeClaimTemplates), ", "), whileGrowing)))
			continue
		}
		if class, before := template.Spec.StorageClassName, was.Spec.StorageClassName; class != nil && before != nil && *class != *before {
			errs = append(errs, field.Invalid(at.Child("spec", "storageClassName"), *class, fmt.Sprintf("must stay %q %s: no claim can change its class", *before, whileGrowing)))
		}
		if modes, before := template.Spec.AccessModes, was.Spec.AccessModes; !slices.Equal(modes, before) {
			errs = append(errs, field.Invalid(at.Child("spec", "accessModes"), modes, fmt.Sprintf("must stay %v %s: no claim can change its access modes", before, whileGrowing)))
		}
	}
	return errs
}

func templateNamed(templates []corev1.PersistentVolumeClaim, name string) *corev1.PersistentVolumeClaim {
	if i := slices.IndexFunc(templates, func(t corev1.PersistentVolumeClaim) bool { return t.Name == name }); i >= 0 {
		return &templates[i]
	}
	return nil
}

func names(templates []corev1.PersistentVolumeClaim) (names []string) {
	for i := range templates {
		names = append(names, templates[i].Name)
	}
	return names
}

// confirmGrowth refuses claim templates that ask for more if their storage class does not let volumes grow. If the class cannot be
// read in time, the change is allowed with a warning: the controller reads the class again. (STS-V9)
func (w *Webhook) confirmGrowth(ctx context.Context, c change, response *admissionv1.AdmissionResponse) *admissionv1.AdmissionResponse {
	if !response.Allowed || c.Old == nil || !asksToGrow(&c.Object.Spec, w.Features) {
		return response
	}
	warnOfShrinking(c, response)
	if w.StorageClasses == nil {
		return response
	}
	ctx, cancel := validation.InTime(ctx)
	defer cancel()
	var errs field.ErrorList
	for i := range c.Object.Spec.VolumeClaimTemplates {
		template := &c.Object.Spec.VolumeClaimTemplates[i]
		was := templateNamed(c.Old.Spec.VolumeClaimTemplates, template.Name)
		if was == nil || !grows(template, was) {
			continue
		}
		at := field.NewPath("spec", "volumeClaimTemplates").Index(i).Child("spec")
		class, err := w.classOf(ctx, template)
		switch name := ptr.Deref(template.Spec.StorageClassName, ""); {
		case apierrors.IsNotFound(err):
			errs = append(errs, field.NotFound(at.Child("storageClassName"), name))
		case err != nil:
			response.Warnings = append(response.Warnings, fmt.Sprintf("%s: the storage class could not be asked whether volumes may grow: %s", at, validation.ShortReason(err)))
		case class != nil && !ptr.Deref(class.AllowVolumeExpansion, true):
			errs = append(errs, field.Invalid(at.Child("resources", "requests").Key("storage"), template.Spec.Resources.Requests.Storage().String(), fmt.Sprintf(
				"must stay %s or less: storage class %s does not let volumes grow. Set allowVolumeExpansion there, or volumeClaimUpdateStrategy.type to OnDelete",
				was.Spec.Resources.Requests.Storage(), class.Name)))
		}
	}
	if len(errs) > 0 {
		return admission.Validated(c.Request, errs)
	}
	return response
}

// warnOfShrinking says that claims which are there do not get smaller. (STS-V9)
func warnOfShrinking(c change, response *admissionv1.AdmissionResponse) {
	for i := range c.Object.Spec.VolumeClaimTemplates {
		template := &c.Object.Spec.VolumeClaimTemplates[i]
		was := templateNamed(c.Old.Spec.VolumeClaimTemplates, template.Name)
		if was == nil || template.Spec.Resources.Requests.Storage().Cmp(*was.Spec.Resources.Requests.Storage()) >= 0 {
			continue
		}
		response.Warnings = append(response.Warnings, fmt.Sprintf("%s: claims that ask for more than %s stay so, since storage does not shrink; claims of new pods ask for %s",
			field.NewPath("spec", "volumeClaimTemplates").Index(i).Child("spec", "resources", "requests").Key("storage"),
			template.Spec.Resources.Requests.Storage(), template.Spec.Resources.Requests.Storage()))
	}
}

// grows tells whether a claim template asks for more than it did, or may have more.
func grows(template, was *corev1.PersistentVolumeClaim) bool {
	is, before := &template.Spec.Resources, &was.Spec.Resources
	return is.Requests.Storage().Cmp(*before.Requests.Storage()) > 0 || is.Limits.Storage().Cmp(*before.Limits.Storage()) > 0
}

// classOf returns the storage class of a claim template: the newest default class if the template names none. It is nil if no class
// is the default.
func (w *Webhook) classOf(ctx context.Context, template *corev1.PersistentVolumeClaim) (*storagev1.StorageClass, error) {
	if name := ptr.Deref(template.Spec.StorageClassName, ""); name != "" {
		return w.StorageClasses.Get(ctx, name, metav1.GetOptions{})
	}
	if template.Spec.StorageClassName != nil { // the empty name asks for no class
		return nil, nil
	}
	list, err := w.StorageClasses.List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	classes := slices.DeleteFunc(list.Items, func(c storagev1.StorageClass) bool { return c.Annotations[defaultClassAnnotation] != "true" })
	if len(classes) == 0 {
		return nil, nil
	}
	newest := slices.MaxFunc(classes, func(a, b storagev1.StorageClass) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), strings.Compare(b.Name, a.Name))
	})
	return &newest, nil
}

// defaultClassAnnotation marks the storage class of claims that name none.
const defaultClassAnnotation = "storageclass.kubernetes.io/is-default-class"
