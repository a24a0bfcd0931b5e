// SPDX-License-Identifier: Apache-2.0

package nodeimage

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

// ValidateCreate says what is wrong with a new NodeImage, field by field; an
// empty list means it can be created. It takes one after Default.
func ValidateCreate(n *v1alpha1.NodeImage) field.ErrorList {
	return ValidateUpdate(n, &v1alpha1.NodeImage{})
}

// ValidateUpdate says what is wrong with the change from the stored NodeImage
// old to n; an empty list means it can be saved. A task that does not change is
// not judged: it must not keep others from being given or taken away.
func ValidateUpdate(n, old *v1alpha1.NodeImage) field.ErrorList {
	path := field.NewPath("spec", "images")
	var errs field.ErrorList
	if images := len(n.Spec.Images); images > v1alpha1.MaxNodeImageImages && images > len(old.Spec.Images) {
		errs = append(errs, field.TooMany(path, images, v1alpha1.MaxNodeImageImages))
	}
	for _, name := range slices.Sorted(maps.Keys(n.Spec.Images)) {
		stored, known := old.Spec.Images[name]
		if name == "" && !known {
			errs = append(errs, field.Required(path.Key(name), "the key is the name of the image"))
		}
		errs = append(errs, validateTasks(n.Spec.Images[name].Tags, stored.Tags, path.Key(name).Child("tags"))...)
	}
	return errs
}

func validateTasks(tasks, old []v1alpha1.ImageTagSpec, path *field.Path) field.ErrorList {
	if equality.Semantic.DeepEqual(tasks, old) {
		return nil
	}
	var errs field.ErrorList
	seen := map[string]bool{}
	for i := range tasks {
		task, at := &tasks[i], path.Index(i)
		if seen[task.Tag] {
			errs = append(errs, field.Duplicate(at.Child("tag"), task.Tag))
		}
		seen[task.Tag] = true
		stays := slices.ContainsFunc(old, func(o v1alpha1.ImageTagSpec) bool { return equality.Semantic.DeepEqual(&o, task) })
		if !stays {
			errs = append(errs, validateTask(task, at)...)
		}
	}
	return errs
}

func validateTask(task *v1alpha1.ImageTagSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if task.Tag == "" {
		errs = append(errs, field.Required(path.Child("tag"), "it is a tag or a digest"))
	}
	if task.CreatedAt == nil {
		errs = append(errs, field.Required(path.Child("createdAt"), "a task without it would be removed at once"))
	}
	if task.Version < 0 {
		errs = append(errs, field.Invalid(path.Child("version"), task.Version, "must be 0 or more"))
	}
	if task.PullPolicy == nil {
		return append(errs, field.Required(path.Child("pullPolicy"), "it must say ttlSecondsAfterFinished"))
	}
	if task.PullPolicy.TTLSecondsAfterFinished == nil {
		errs = append(errs, field.Required(path.Child("pullPolicy", "ttlSecondsAfterFinished"), "otherwise the task would stay for ever"))
	}
	return errs
}
