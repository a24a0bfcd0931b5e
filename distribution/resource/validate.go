// SPDX-License-Identifier: Apache-2.0

package resource

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/admission"
)

// ValidateCreate says what is wrong with a new ResourceDistribution, field by field; an
// empty list means it can be created. (RD-16, RD-18)
func ValidateCreate(distribution *v1alpha1.ResourceDistribution) field.ErrorList {
	path := field.NewPath("spec")
	template, errs := validateResource(distribution, path.Child("resource"))
	if len(errs) > 0 {
		return errs
	}
	errs = append(validateTargets(&distribution.Spec.Targets, path.Child("targets")), validateSource(distribution, template, path)...)
	return append(errs, unworkable(template)...)
}

// unworkable refuses what makes the API server refuse every copy. OpenKruise takes it. (RD-23)
func unworkable(template *template) field.ErrorList {
	path := field.NewPath("spec", "resource")
	errs := metav1validation.ValidateLabels(template.meta.Labels, path.Child("metadata", "labels"))
	errs = append(errs, apivalidation.ValidateAnnotations(template.meta.Annotations, path.Child("metadata", "annotations"))...)
	for _, key := range slices.Sorted(maps.Keys(template.content.Data)) {
		errs = append(errs, validateKey(key, path.Child("data"))...)
	}
	for _, key := range slices.Sorted(maps.Keys(template.content.Text)) {
		errs = append(errs, validateKey(key, path.Child("data"))...)
	}
	return errs
}

func validateKey(key string, path *field.Path) (errs field.ErrorList) {
	for _, why := range validation.IsConfigMapKey(key) {
		errs = append(errs, field.Invalid(path.Key(key), key, why))
	}
	return errs
}

// ValidateUpdate says what is wrong with the change from the stored ResourceDistribution
// old; an empty list means it can be saved. Nothing is judged when the whole spec stays
// the same. (RD-16, RD-18)
func ValidateUpdate(distribution, old *v1alpha1.ResourceDistribution) field.ErrorList {
	if equality.Semantic.DeepEqual(&distribution.Spec, &old.Spec) {
		return nil
	}
	path := field.NewPath("spec", "resource")
	template, errs := validateResource(distribution, path)
	if len(errs) > 0 {
		return errs
	}
	var stored field.ErrorList
	if was, err := parseTemplate(old.Spec.Resource.Raw); err == nil {
		if was.kind != template.kind || was.name != template.name {
			errs = append(errs, field.Forbidden(path, fmt.Sprintf("resource apiVersion, kind, and name are immutable: it is %s %s", was.kind, was.name)))
		}
		stored = unworkable(was)
	}
	errs = append(errs, admission.Introduced(unworkable(template), stored)...)
	errs = append(errs, validateTargets(&distribution.Spec.Targets, field.NewPath("spec", "targets"))...)
	return append(errs, validateSource(distribution, template, field.NewPath("spec"))...)
}

func validateResource(distribution *v1alpha1.ResourceDistribution, path *field.Path) (*template, field.ErrorList) {
	raw := distribution.Spec.Resource.Raw
	if len(raw) == 0 {
		return nil, field.ErrorList{field.Required(path, "empty resource is not allowed")}
	}
	template, err := parseTemplate(raw)
	if err != nil {
		return nil, field.ErrorList{field.Invalid(path, field.OmitValueType{}, err.Error())}
	}
	if template.name == "" {
		return nil, field.ErrorList{field.Required(path.Child("metadata", "name"), "it names the copies")}
	}
	if wrong := validation.IsDNS1123Subdomain(template.name); len(wrong) > 0 {
		return nil, field.ErrorList{field.Invalid(path.Child("metadata", "name"), template.name, strings.Join(wrong, "; "))}
	}
	return template, nil
}

func validateTargets(targets *v1alpha1.ResourceDistributionTargets, path *field.Path) field.ErrorList {
	errs := validateNamespaces(&targets.IncludedNamespaces, path.Child("includedNamespaces", "list"))
	errs = append(errs, validateNamespaces(&targets.ExcludedNamespaces, path.Child("excludedNamespaces", "list"))...)
	var both []string
	excluded := names(&targets.ExcludedNamespaces)
	for _, namespace := range targets.IncludedNamespaces.List {
		if excluded[namespace.Name] && !slices.Contains(both, namespace.Name) {
			both = append(both, namespace.Name)
		}
	}
	if len(both) > 0 {
		errs = append(errs, field.Invalid(path, both,
			fmt.Sprintf("ambiguous targets because namespace %v is in both IncludedNamespaces.List and ExcludedNamesapces.List", both)))
	}
	selector := path.Child("namespaceLabelSelector")
	return append(errs, metav1validation.ValidateLabelSelector(&targets.NamespaceLabelSelector, metav1validation.LabelSelectorValidationOptions{}, selector)...)
}

func validateNamespaces(namespaces *v1alpha1.ResourceDistributionTargetNamespaces, path *field.Path) (errs field.ErrorList) {
	for i, namespace := range namespaces.List {
		if wrong := validation.IsDNS1123Label(namespace.Name); len(wrong) > 0 {
			errs = append(errs, field.Invalid(path.Index(i).Child("name"), namespace.Name, strings.Join(wrong, "; ")))
		}
	}
	return errs
}
