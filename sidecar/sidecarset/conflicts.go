// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// Conflicts says where a SidecarSet and others would inject things of the same name into
// one pod; an empty list means nowhere. The one of the same name among the others is left
// out. Namespaces returns a namespace, nil if there is none of that name. (SCS-V3)
func Conflicts(set *v1alpha1.SidecarSet, others []*v1alpha1.SidecarSet, namespaces func(name string) *corev1.Namespace) field.ErrorList {
	others = slices.DeleteFunc(slices.Clone(others), func(other *v1alpha1.SidecarSet) bool { return other == nil || other.Name == set.Name })
	slices.SortFunc(others, func(a, b *v1alpha1.SidecarSet) int { return cmp.Compare(a.Name, b.Name) })
	var errs field.ErrorList
	for _, other := range others { // most have no name in common, which is found out soonest
		with := conflictsWith(set, other)
		if len(with) > 0 && shareNamespaces(set, other, namespaces) && overlap(set.Spec.Selector, other.Spec.Selector) {
			errs = append(errs, with...)
		}
	}
	return errs
}

func conflictsWith(set, other *v1alpha1.SidecarSet) field.ErrorList {
	path := field.NewPath("spec")
	errs := sameContainers(set, other)
	volumes := map[string]*corev1.Volume{}
	for i := range other.Spec.Volumes {
		volumes[other.Spec.Volumes[i].Name] = &other.Spec.Volumes[i]
	}
	for i := range set.Spec.Volumes {
		v := &set.Spec.Volumes[i]
		if theirs := volumes[v.Name]; theirs != nil && !equality.Semantic.DeepEqual(theirs, v) {
			errs = append(errs, field.Invalid(path.Child("volumes").Index(i).Child("name"), v.Name,
				fmt.Sprintf("volume %s is in conflict with sidecarset %s", v.Name, other.Name)))
		}
	}
	return append(errs, sameMetadata(set, other, path.Child("patchPodMetadata"))...)
}

// sameContainers compares the names that containers have in pods, in which init containers and others share one
// space. (SCS-V3)
func sameContainers(set, other *v1alpha1.SidecarSet) field.ErrorList {
	theirs := map[string]bool{}
	eachContainer(&other.Spec, func(names []string, _ *field.Path) {
		for _, name := range names {
			theirs[name] = true
		}
	})
	var errs field.ErrorList
	eachContainer(&set.Spec, func(names []string, at *field.Path) {
		for _, name := range names {
			if theirs[name] {
				errs = append(errs, field.Invalid(at.Child("name"), name, fmt.Sprintf("container %s already exist in %s", name, other.Name)))
			}
		}
	})
	return errs
}

// eachContainer tells the names in pods of each container, and its field.
func eachContainer(spec *v1alpha1.SidecarSetSpec, tell func(names []string, at *field.Path)) {
	path := field.NewPath("spec")
	for i := range spec.Containers {
		tell(injection.NamesOf(&spec.Containers[i]), path.Child("containers").Index(i))
	}
	for i := range spec.InitContainers {
		tell([]string{spec.InitContainers[i].Name}, path.Child("initContainers").Index(i))
	}
}

// sameMetadata compares the policies of annotations that both patch: what one overwrites,
// the other must leave alone, or only add if it is absent. (SCS-V3)
func sameMetadata(set, other *v1alpha1.SidecarSet, path *field.Path) field.ErrorList {
	theirs := map[string]v1alpha1.SidecarSetPatchPolicyType{}
	for _, patch := range other.Spec.PatchPodMetadata {
		for key := range patch.Annotations {
			theirs[key] = retainByDefault(patch.PatchPolicy)
		}
	}
	var errs field.ErrorList
	for i, patch := range set.Spec.PatchPodMetadata {
		mine := retainByDefault(patch.PatchPolicy)
		for _, key := range sortedKeys(patch.Annotations) {
			policy, both := theirs[key]
			retained := mine == v1alpha1.SidecarSetRetainPatchPolicy || policy == v1alpha1.SidecarSetRetainPatchPolicy
			overwritten := mine == v1alpha1.SidecarSetOverwritePatchPolicy || policy == v1alpha1.SidecarSetOverwritePatchPolicy
			if both && !retained && overwritten {
				errs = append(errs, field.Invalid(path.Index(i).Child("annotations"), key,
					fmt.Sprintf("annotation %s is in conflict with sidecarset %s", key, other.Name)))
			}
		}
	}
	return errs
}

func retainByDefault(policy v1alpha1.SidecarSetPatchPolicyType) v1alpha1.SidecarSetPatchPolicyType {
	return cmp.Or(policy, v1alpha1.SidecarSetRetainPatchPolicy)
}

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }

// shareNamespaces tells whether pods of one namespace may be meant by both. (SCS-V5)
func shareNamespaces(set, other *v1alpha1.SidecarSet, namespaces func(string) *corev1.Namespace) bool {
	a, b := &set.Spec, &other.Spec
	switch {
	case a.Namespace != "" && b.Namespace != "":
		return a.Namespace == b.Namespace
	case a.NamespaceSelector != nil && b.NamespaceSelector != nil:
		return overlap(a.NamespaceSelector, b.NamespaceSelector)
	case a.Namespace != "" && b.NamespaceSelector != nil:
		return selectsNamespace(b.NamespaceSelector, namespaces(a.Namespace))
	default:
		return a.NamespaceSelector == nil || b.Namespace == ""
	}
}

func selectsNamespace(selector *metav1.LabelSelector, namespace *corev1.Namespace) bool {
	read, err := metav1.LabelSelectorAsSelector(selector)
	return err == nil && namespace != nil && read.Matches(labels.Set(namespace.Labels))
}
