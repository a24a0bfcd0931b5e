// SPDX-License-Identifier: Apache-2.0

package validation

import (
	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podwright/podwright/internal/podtemplate"
)

// Templates checks the fields template and volumeClaimTemplates of a spec at
// path, for pods that run until they are deleted. Kind is that of the workload.
// All rules of a pod are not here: they are the API server's, and grow with
// every release of it.
func Templates(t podtemplate.Templates, kind string, path *field.Path) field.ErrorList {
	at, spec := path.Child("template", "spec"), &t.Pod.Spec
	errs := metadata(t.Pod, path)
	if p := spec.RestartPolicy; p != "" && p != corev1.RestartPolicyAlways {
		errs = append(errs, field.NotSupported(at.Child("restartPolicy"), p, []corev1.RestartPolicy{corev1.RestartPolicyAlways}))
	}
	if spec.ActiveDeadlineSeconds != nil {
		errs = append(errs, field.Forbidden(at.Child("activeDeadlineSeconds"), "pods of a "+kind+" run until they are deleted"))
	}
	return append(errs, volumesAndContainers(t, path)...)
}

// JobTemplate checks the field template of a spec at path, for pods that run to
// their end. What restartPolicy may be is the kind's.
func JobTemplate(template *corev1.PodTemplateSpec, path *field.Path) field.ErrorList {
	return append(metadata(template, path), volumesAndContainers(podtemplate.Templates{Pod: template}, path)...)
}

func metadata(template *corev1.PodTemplateSpec, path *field.Path) field.ErrorList {
	at := path.Child("template", "metadata")
	errs := metav1validation.ValidateLabels(template.Labels, at.Child("labels"))
	return append(errs, apivalidation.ValidateAnnotations(template.Annotations, at.Child("annotations"))...)
}

func volumesAndContainers(t podtemplate.Templates, path *field.Path) field.ErrorList {
	volumes, errs := volumeNames(t, path)
	return append(errs, containers(&t.Pod.Spec, volumes, path.Child("template", "spec"))...)
}

// PodTemplate checks a pod template at path, of pods that may end. All rules of a pod
// are not here, as with Templates.
func PodTemplate(template *corev1.PodTemplateSpec, path *field.Path) field.ErrorList {
	errs := metav1validation.ValidateLabels(template.Labels, path.Child("metadata", "labels"))
	errs = append(errs, apivalidation.ValidateAnnotations(template.Annotations, path.Child("metadata", "annotations"))...)
	volumes, at := names{}, path.Child("spec")
	for i := range template.Spec.Volumes {
		errs = append(errs, volumes.add(template.Spec.Volumes[i].Name, at.Child("volumes").Index(i).Child("name"))...)
	}
	return append(errs, containers(&template.Spec, volumes, at)...)
}

// volumeNames checks the names of the volumes and claim templates, and
// returns them all. A claim template takes the place of a volume of the same name.
func volumeNames(t podtemplate.Templates, path *field.Path) (map[string]bool, field.ErrorList) {
	var errs field.ErrorList
	volumes := names{}
	for i := range t.Pod.Spec.Volumes {
		errs = append(errs, volumes.add(t.Pod.Spec.Volumes[i].Name, path.Child("template", "spec", "volumes").Index(i).Child("name"))...)
	}
	claims := names{}
	for i := range t.Claims {
		errs = append(errs, claims.add(t.Claims[i].Name, path.Child("volumeClaimTemplates").Index(i).Child("metadata", "name"))...)
	}
	for name := range claims {
		volumes[name] = true
	}
	return volumes, errs
}

func containers(spec *corev1.PodSpec, volumes map[string]bool, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	seen := names{}
	for i := range spec.InitContainers {
		errs = append(errs, container(&spec.InitContainers[i], seen, volumes, path.Child("initContainers").Index(i))...)
	}
	if len(spec.Containers) == 0 {
		errs = append(errs, field.Required(path.Child("containers"), "a pod has one container or more"))
	}
	for i := range spec.Containers {
		errs = append(errs, container(&spec.Containers[i], seen, volumes, path.Child("containers").Index(i))...)
	}
	return errs
}

func container(c *corev1.Container, seen names, volumes map[string]bool, path *field.Path) field.ErrorList {
	errs := seen.add(c.Name, path.Child("name"))
	if c.Image == "" {
		errs = append(errs, field.Required(path.Child("image"), "it is what the container runs"))
	}
	for i := range c.VolumeMounts {
		if name := c.VolumeMounts[i].Name; !volumes[name] {
			errs = append(errs, field.NotFound(path.Child("volumeMounts").Index(i).Child("name"), name))
		}
	}
	for i := range c.VolumeDevices {
		if name := c.VolumeDevices[i].Name; !volumes[name] {
			errs = append(errs, field.NotFound(path.Child("volumeDevices").Index(i).Child("name"), name))
		}
	}
	return errs
}

// names collects names that have to be DNS labels and different.
type names map[string]bool

func (n names) add(name string, path *field.Path) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(path, "")}
	}
	var errs field.ErrorList
	for _, problem := range validation.IsDNS1123Label(name) {
		errs = append(errs, field.Invalid(path, name, problem))
	}
	if n[name] {
		errs = append(errs, field.Duplicate(path, name))
	}
	n[name] = true
	return errs
}
