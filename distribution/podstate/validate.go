// SPDX-License-Identifier: Apache-2.0

package podstate

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/admission"
)

// ValidateCreate says what is wrong with a new PersistentPodState, field by field; an empty list means that it can
// be created. Others are for Conflict to judge. (PPS-3)
func ValidateCreate(s *v1alpha1.PersistentPodState, kinds Whitelist) (errs field.ErrorList) {
	return append(validate(s, kinds), unworkable(&s.Spec)...)
}

// unworkable refuses weights with which a preference is left out. OpenKruise takes them, and its pods are refused. (PPS-33)
func unworkable(spec *v1alpha1.PersistentPodStateSpec) (errs field.ErrorList) {
	path := field.NewPath("spec", "preferredPersistentTopology")
	for i := range spec.PreferredPersistentTopology {
		if weight := spec.PreferredPersistentTopology[i].Weight; weight < leastWeight {
			errs = append(errs, field.Invalid(path.Index(i).Child("weight"), weight, "must be from 1 to 100"))
		}
	}
	return errs
}

func validate(s *v1alpha1.PersistentPodState, kinds Whitelist) (errs field.ErrorList) {
	path := field.NewPath("spec")
	errs = validateTarget(&s.Spec.TargetReference, kinds, path.Child("targetRef"))
	if s.Spec.RequiredPersistentTopology == nil && len(s.Spec.PreferredPersistentTopology) == 0 {
		errs = append(errs, field.Required(path, "give requiredPersistentTopology, preferredPersistentTopology or both"))
	}
	return errs
}

// ValidateUpdate says what is wrong with the change from the stored old to s; an empty list means that it can be
// saved. (PPS-3)
func ValidateUpdate(s, old *v1alpha1.PersistentPodState, kinds Whitelist) field.ErrorList {
	errs := append(validate(s, kinds), admission.Introduced(unworkable(&s.Spec), unworkable(&old.Spec))...)
	if s.Spec.TargetReference != old.Spec.TargetReference {
		errs = append(errs, field.Forbidden(field.NewPath("spec", "targetRef"), "cannot be modified"))
	}
	return errs
}

func validateTarget(ref *v1alpha1.TargetReference, kinds Whitelist, path *field.Path) (errs field.ErrorList) {
	for _, f := range []struct{ name, value string }{{"apiVersion", ref.APIVersion}, {"kind", ref.Kind}, {"name", ref.Name}} {
		if f.value == "" {
			errs = append(errs, field.Required(path.Child(f.name), "needs apiVersion, kind and name"))
		}
	}
	gv, err := schema.ParseGroupVersion(ref.APIVersion)
	if err != nil {
		return append(errs, field.Invalid(path.Child("apiVersion"), ref.APIVersion, "must be VERSION or GROUP/VERSION"))
	}
	if kind := (schema.GroupKind{Group: gv.Group, Kind: ref.Kind}); len(errs) == 0 && !kinds.Allows(kind) {
		errs = append(errs, field.Invalid(path.Child("kind"), kind.String(),
			"must be StatefulSet of apps or apps.kruise.io, or a kind of "+v1alpha1.PersistentPodStateWhitelistKey+" in ConfigMap kruise-configuration"))
	}
	return errs
}

// Conflict tells whether two PersistentPodStates of a namespace name the same workload. The version does not
// matter. (PPS-1)
func Conflict(a, b *v1alpha1.PersistentPodState) bool {
	gv, err := schema.ParseGroupVersion(a.Spec.TargetReference.APIVersion)
	ref := &a.Spec.TargetReference
	return err == nil && Targets(b, schema.GroupKind{Group: gv.Group, Kind: ref.Kind}, ref.Name)
}
