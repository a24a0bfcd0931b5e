package cloneset

import (
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podwright/podwright/inplace"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

func templatesChanged(set, old *v1alpha1.CloneSet) bool {
	return !equality.Semantic.DeepEqual(&set.Spec.Template, &old.Spec.Template) ||
		!equality.Semantic.DeepEqual(set.Spec.VolumeClaimTemplates, old.Spec.VolumeClaimTemplates)
}

// validateTemplates checks the pod template with the claim templates, which
// are volumes of every pod. All rules of a pod are not here: they are the API
// server's, and grow with every release of it.
func validateTemplates(spec *v1alpha1.CloneSetSpec, path *field.Path) field.ErrorList {
	at, template := path.Child("template"), &spec.Template
	errs := metav1validation.ValidateLabels(template.Labels, at.Child("metadata", "labels"))
	errs = append(errs, apivalidation.ValidateAnnotations(template.Annotations, at.Child("metadata", "annotations"))...)
	at = at.Child("spec")
	if p := template.Spec.RestartPolicy; p != "" && p != corev1.RestartPolicyAlways {
		errs = append(errs, field.NotSupported(at.Child("restartPolicy"), p, []corev1.RestartPolicy{corev1.RestartPolicyAlways}))
	}
	if template.Spec.ActiveDeadlineSeconds != nil {
		errs = append(errs, field.Forbidden(at.Child("activeDeadlineSeconds"), "pods of a CloneSet run until they are deleted"))
	}
	volumes, volumeErrs := validateVolumes(spec, path)
	errs = append(errs, volumeErrs...)
	return append(errs, validateContainers(&template.Spec, volumes, at)...)
}

// validateVolumes checks the names of the volumes and claim templates, and
// returns them all. A claim template takes the place of a volume of the same name.
func validateVolumes(spec *v1alpha1.CloneSetSpec, path *field.Path) (map[string]bool, field.ErrorList) {
	var errs field.ErrorList
	volumes := names{}
	for i := range spec.Template.Spec.Volumes {
		errs = append(errs, volumes.add(spec.Template.Spec.Volumes[i].Name, path.Child("template", "spec", "volumes").Index(i).Child("name"))...)
	}
	claims := names{}
	for i := range spec.VolumeClaimTemplates {
		errs = append(errs, claims.add(spec.VolumeClaimTemplates[i].Name, path.Child("volumeClaimTemplates").Index(i).Child("metadata", "name"))...)
	}
	for name := range claims {
		volumes[name] = true
	}
	return volumes, errs
}

func validateContainers(spec *corev1.PodSpec, volumes map[string]bool, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	seen := names{}
	for i := range spec.InitContainers {
		errs = append(errs, validateContainer(&spec.InitContainers[i], seen, volumes, path.Child("initContainers").Index(i))...)
	}
	if len(spec.Containers) == 0 {
		errs = append(errs, field.Required(path.Child("containers"), "a pod has one container or more"))
	}
	for i := range spec.Containers {
		errs = append(errs, validateContainer(&spec.Containers[i], seen, volumes, path.Child("containers").Index(i))...)
	}
	return errs
}

func validateContainer(c *corev1.Container, seen names, volumes map[string]bool, path *field.Path) field.ErrorList {
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

// validateInPlaceOnly refuses what a running pod cannot take: of the pod's
// spec only the images of containers may change, of its metadata everything.
func validateInPlaceOnly(template, old *corev1.PodTemplateSpec, path *field.Path) field.ErrorList {
	verdict, err := inplace.Compare(old, template, inplace.CalculateOptions{})
	if err != nil {
		return field.ErrorList{field.InternalError(path, err)}
	}
	var errs field.ErrorList
	for _, o := range verdict.Obstacles {
		errs = append(errs, field.Forbidden(fieldPath(path, o.Path),
			o.Reason+": updateStrategy.type is InPlaceOnly; with InPlaceIfPossible the pods would be recreated"))
	}
	return errs
}

// fieldPath turns a JSON pointer below path into a field path.
func fieldPath(path *field.Path, pointer string) *field.Path {
	unescape := strings.NewReplacer("~1", "/", "~0", "~")
	for _, part := range strings.Split(strings.TrimPrefix(pointer, "/"), "/") {
		part = unescape.Replace(part)
		if index, err := strconv.Atoi(part); err == nil {
			path = path.Index(index)
		} else if strings.ContainsAny(part, "./") {
			path = path.Key(part)
		} else {
			path = path.Child(part)
		}
	}
	return path
}
