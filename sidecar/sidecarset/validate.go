// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/admission"
	"github.com/podwright/podwright/internal/podstate"
	"github.com/podwright/podwright/internal/validation"
	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// ValidateCreate says what is wrong with a new SidecarSet, field by field; an empty
// list means that it can be created. It takes one before or after Default. What its
// containers are is for the API server to judge, and others for Conflicts. (SCS-V1)
func ValidateCreate(set *v1alpha1.SidecarSet) field.ErrorList {
	path := field.NewPath("spec")
	errs := append(validation.Name(set.Name, field.NewPath("metadata", "name"), "the value of a label"), validateSpec(&set.Spec, path)...)
	return append(errs, unworkable(&set.Spec, path)...)
}

// unworkable refuses the name of a namespace that cannot be: no pod gets the sidecars. OpenKruise takes it. (SCS-V12)
// It also refuses native sidecars that are to be upgraded hot: init containers are updated in place alone. (SCS-V20)
func unworkable(spec *v1alpha1.SidecarSetSpec, path *field.Path) (errs field.ErrorList) {
	for i := range spec.InitContainers {
		c := &spec.InitContainers[i]
		if podstate.IsNative(&c.Container) && c.UpgradeStrategy.UpgradeType == v1alpha1.SidecarContainerHotUpgrade {
			errs = append(errs, field.Forbidden(path.Child("initContainers").Index(i).Child("upgradeStrategy", "upgradeType"),
				"a native sidecar is not upgraded hot: there would be two of it, and both would serve; use ColdUpgrade, or a regular container"))
		}
	}
	if spec.Namespace == "" {
		return errs
	}
	for _, why := range utilvalidation.IsDNS1123Label(spec.Namespace) {
		errs = append(errs, field.Invalid(path.Child("namespace"), spec.Namespace, "no namespace can have this name: "+why))
	}
	return errs
}

// ValidateUpdate says what is wrong with the change from the stored SidecarSet old to
// set; an empty list means that it can be saved. (SCS-V2)
func ValidateUpdate(set, old *v1alpha1.SidecarSet) field.ErrorList {
	path := field.NewPath("spec")
	errs := append(validateSpec(&set.Spec, path), admission.Introduced(unworkable(&set.Spec, path), unworkable(&old.Spec, path))...)
	before := map[string]*v1alpha1.SidecarContainer{}
	for i := range old.Spec.Containers {
		before[old.Spec.Containers[i].Name] = &old.Spec.Containers[i]
	}
	for i := range set.Spec.Containers {
		c, at := &set.Spec.Containers[i], path.Child("containers").Index(i)
		was := before[c.Name]
		if was == nil {
			errs = append(errs, field.Invalid(at.Child("name"), c.Name,
				fmt.Sprintf("container %s is not found: containers can be removed, but neither added nor renamed; create another SidecarSet", c.Name)))
			continue
		}
		if is, was := c.UpgradeStrategy.UpgradeType, was.UpgradeStrategy.UpgradeType; was != "" && is != was {
			errs = append(errs, field.Invalid(at.Child("upgradeStrategy", "upgradeType"), is,
				fmt.Sprintf("container %s upgradeType is immutable: it has to stay %s", c.Name, was)))
		}
	}
	return errs
}

func validateSpec(spec *v1alpha1.SidecarSetSpec, path *field.Path) field.ErrorList {
	errs := requireSelector(spec.Selector, path.Child("selector"))
	switch {
	case spec.Namespace != "" && spec.NamespaceSelector != nil:
		errs = append(errs, field.Forbidden(path.Child("namespaceSelector"), "namespace and namespaceSelector exclude each other; remove one"))
	case spec.NamespaceSelector != nil:
		errs = append(errs, requireSelector(spec.NamespaceSelector, path.Child("namespaceSelector"))...)
	}
	if len(spec.InitContainers)+len(spec.Containers) == 0 {
		errs = append(errs, field.Required(path.Child("containers"), "there is nothing to inject: give containers or initContainers"))
	}
	errs = append(errs, validateContainers(spec, path)...)
	errs = append(errs, validateNames(spec)...)
	errs = append(errs, validateUpdateStrategy(&spec.UpdateStrategy, path.Child("updateStrategy"))...)
	errs = append(errs, validateInjectionStrategy(&spec.InjectionStrategy, path.Child("injectionStrategy"))...)
	return append(errs, validateMetadata(spec.PatchPodMetadata, path.Child("patchPodMetadata"))...)
}

// requireSelector wants a selector that selects something.
func requireSelector(selector *metav1.LabelSelector, path *field.Path) field.ErrorList {
	switch {
	case selector == nil:
		return field.ErrorList{field.Required(path, "it says by which labels the pods are found")}
	case len(selector.MatchLabels)+len(selector.MatchExpressions) == 0:
		return field.ErrorList{field.Invalid(path, "{}", "must not be empty: it would select everything")}
	}
	return metav1validation.ValidateLabelSelector(selector, metav1validation.LabelSelectorValidationOptions{}, path)
}

func validateContainers(spec *v1alpha1.SidecarSetSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	volumes := map[string]bool{}
	for _, v := range spec.Volumes {
		volumes[v.Name] = true
	}
	for i := range spec.InitContainers {
		errs = append(errs, validatePlace(&spec.InitContainers[i], volumes, path.Child("initContainers").Index(i))...)
		errs = append(errs, validateResources(&spec.InitContainers[i], true, path.Child("initContainers").Index(i))...)
	}
	for i := range spec.Containers {
		c, at := &spec.Containers[i], path.Child("containers").Index(i)
		errs = append(errs, validatePlace(c, volumes, at)...)
		errs = append(errs, validateResources(c, false, at)...)
		errs = append(errs, validation.Enum(c.UpgradeStrategy.UpgradeType, at.Child("upgradeStrategy", "upgradeType"),
			v1alpha1.SidecarContainerColdUpgrade, v1alpha1.SidecarContainerHotUpgrade)...)
		for t := range c.TransferEnv {
			errs = append(errs, validateSource(c.TransferEnv[t].SourceContainerNameFrom, at.Child("transferEnv").Index(t).Child("sourceContainerNameFrom", "fieldRef"))...)
		}
	}
	return errs
}

// validateNames wants containers of different names in pods, and of hot ones what the second container needs.
func validateNames(spec *v1alpha1.SidecarSetSpec) field.ErrorList {
	var errs field.ErrorList
	seen := map[string]bool{}
	eachContainer(spec, func(names []string, at *field.Path) {
		for _, name := range names {
			switch {
			case seen[name]:
				errs = append(errs, field.Duplicate(at.Child("name"), name))
			case len(names) > 1 && len(name) > utilvalidation.DNS1123LabelMaxLength:
				errs = append(errs, field.Invalid(at.Child("name"), name, fmt.Sprintf("a hot container has the names NAME-1 and NAME-2 in pods, of at most %d characters",
					utilvalidation.DNS1123LabelMaxLength)))
			}
			seen[name] = true
		}
	})
	for i := range spec.Containers {
		c := &spec.Containers[i].UpgradeStrategy
		if c.UpgradeType == v1alpha1.SidecarContainerHotUpgrade && c.HotUpgradeEmptyImage == "" {
			errs = append(errs, field.Required(field.NewPath("spec", "containers").Index(i).Child("upgradeStrategy", "hotUpgradeEmptyImage"),
				"it is the image of the container that does not work"))
		}
	}
	return errs
}

// validatePlace judges the place of a container and what it mounts.
func validatePlace(c *v1alpha1.SidecarContainer, volumes map[string]bool, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, mount := range c.VolumeMounts {
		if !volumes[mount.Name] {
			errs = append(errs, field.NotFound(path.Child("volumeMounts").Index(i).Child("name"), mount.Name))
		}
	}
	for i, device := range c.VolumeDevices {
		if !volumes[device.Name] {
			errs = append(errs, field.NotFound(path.Child("volumeDevices").Index(i).Child("name"), device.Name))
		}
	}
	errs = append(errs, validation.Enum(c.PodInjectPolicy, path.Child("podInjectPolicy"), v1alpha1.BeforeAppContainerType, v1alpha1.AfterAppContainerType)...)
	return append(errs, validation.Enum(c.ShareVolumePolicy.Type, path.Child("shareVolumePolicy", "type"),
		v1alpha1.ShareVolumePolicyEnabled, v1alpha1.ShareVolumePolicyDisabled)...)
}

func validateSource(source *v1alpha1.SourceContainerNameSource, path *field.Path) field.ErrorList {
	if source == nil || source.FieldRef == nil {
		return nil
	}
	var errs field.ErrorList
	if version := source.FieldRef.APIVersion; version != "" && version != "v1" {
		errs = append(errs, field.NotSupported(path.Child("apiVersion"), version, []string{"v1"}))
	}
	_, key, found := injection.FieldPath(source.FieldRef.FieldPath)
	if !found {
		return append(errs, field.Invalid(path.Child("fieldPath"), source.FieldRef.FieldPath, "must be metadata.labels['KEY'] or metadata.annotations['KEY']"))
	}
	for _, problem := range utilvalidation.IsQualifiedName(key) {
		errs = append(errs, field.Invalid(path.Child("fieldPath"), source.FieldRef.FieldPath, problem))
	}
	return errs
}

func validateUpdateStrategy(s *v1alpha1.SidecarSetUpdateStrategy, path *field.Path) field.ErrorList {
	errs := validation.Enum(s.Type, path.Child("type"), v1alpha1.RollingUpdateSidecarSetStrategyType, v1alpha1.NotUpdateSidecarSetStrategyType)
	if s.Type == v1alpha1.NotUpdateSidecarSetStrategyType {
		return errs
	}
	if s.Selector != nil {
		errs = append(errs, requireSelector(s.Selector, path.Child("selector"))...)
	}
	errs = append(errs, validateNumber(s.Partition, path.Child("partition"))...)
	errs = append(errs, validateNumber(s.MaxUnavailable, path.Child("maxUnavailable"))...)
	errs = append(errs, validation.Priority(s.PriorityStrategy, path.Child("priorityStrategy"))...)
	seen := map[v1alpha1.UpdateScatterTerm]bool{}
	for i, term := range s.ScatterStrategy {
		at := path.Child("scatterStrategy").Index(i)
		switch {
		case term.Key == "":
			errs = append(errs, field.Required(at.Child("key"), "the key of a label"))
		case seen[term]:
			errs = append(errs, field.Duplicate(at, term))
		}
		seen[term] = true
	}
	return errs
}

func validateNumber(n *intstr.IntOrString, path *field.Path) field.ErrorList {
	if n == nil {
		return nil
	}
	if n.Type == intstr.Int && n.IntVal < 0 {
		return field.ErrorList{field.Invalid(path, n.IntVal, "must not be negative")}
	}
	if _, err := rollout.Count(path.String(), *n, 100, rollout.RoundDown); err != nil || n.Type == intstr.String && len(utilvalidation.IsValidPercent(n.StrVal)) > 0 {
		return field.ErrorList{field.Invalid(path, n.String(), `must be a number such as 3 or a percentage such as "30%"`)}
	}
	return nil
}

func validateInjectionStrategy(s *v1alpha1.SidecarSetInjectionStrategy, path *field.Path) field.ErrorList {
	r := s.Revision
	if r == nil {
		return nil
	}
	at := path.Child("revision")
	errs := validation.Enum(r.Policy, at.Child("policy"),
		v1alpha1.AlwaysSidecarSetInjectRevisionPolicy, v1alpha1.PartialSidecarSetInjectRevisionPolicy)
	if r.RevisionName == nil && r.CustomVersion == nil {
		errs = append(errs, field.Required(at.Child("revisionName"), "one of revisionName and customVersion"))
	}
	return errs
}

func validateMetadata(patches []v1alpha1.SidecarSetPatchPodMetadata, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	seen := map[string]bool{}
	for i, patch := range patches {
		at := path.Index(i)
		errs = append(errs, validation.Enum(patch.PatchPolicy, at.Child("patchPolicy"), v1alpha1.SidecarSetRetainPatchPolicy,
			v1alpha1.SidecarSetOverwritePatchPolicy, v1alpha1.SidecarSetMergePatchJSONPatchPolicy)...)
		if len(patch.Annotations) == 0 {
			errs = append(errs, field.Required(at.Child("annotations"), "there is nothing to patch"))
		}
		for _, key := range sortedKeys(patch.Annotations) {
			for _, problem := range utilvalidation.IsQualifiedName(key) {
				errs = append(errs, field.Invalid(at.Child("annotations"), key, problem))
			}
			if seen[key] {
				errs = append(errs, field.Duplicate(at.Child("annotations").Key(key), key))
			}
			seen[key] = true
			if problem := unmergeable(patch.Annotations[key]); problem != "" && patch.PatchPolicy == v1alpha1.SidecarSetMergePatchJSONPatchPolicy {
				errs = append(errs, field.Invalid(at.Child("annotations").Key(key), patch.Annotations[key], problem))
			}
		}
	}
	return errs
}

// unmergeable says why a value cannot be merged into that of a pod; empty if it can.
func unmergeable(value string) string {
	var object map[string]any
	if json.Unmarshal([]byte(value), &object) != nil || object == nil {
		return "MergePatchJson merges JSON objects, and this is none"
	}
	if hasArray(object) {
		return "MergePatchJson would replace an array of the pod as a whole; use an object, or Overwrite"
	}
	return ""
}

func hasArray(value any) bool {
	switch v := value.(type) {
	case []any:
		return true
	case map[string]any:
		for _, member := range v {
			if hasArray(member) {
				return true
			}
		}
	}
	return false
}
