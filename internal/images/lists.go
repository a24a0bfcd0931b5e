// SPDX-License-Identifier: Apache-2.0

package images

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

// JobOf is the spec of the ImagePullJob of one image of a list. (ILP-1)
func JobOf(list *v1alpha1.ImageListPullJobSpec, image string) v1alpha1.ImagePullJobSpec {
	list = list.DeepCopy()
	return v1alpha1.ImagePullJobSpec{
		Image: image, PullSecrets: list.PullSecrets, Selector: list.Selector, PodSelector: list.PodSelector, Parallelism: list.Parallelism,
		PullPolicy: list.PullPolicy, CompletionPolicy: list.CompletionPolicy, SandboxConfig: list.SandboxConfig, ImagePullPolicy: list.ImagePullPolicy,
	}
}

// DefaultList sets the unset fields of the spec of an ImageListPullJob to their defaults, in place: those of an ImagePullJob. (ILP-1)
func DefaultList(list *v1alpha1.ImageListPullJobSpec) {
	one := v1alpha1.ImagePullJobSpec{PullPolicy: list.PullPolicy, CompletionPolicy: list.CompletionPolicy}
	DefaultJob(&one)
	list.PullPolicy, list.CompletionPolicy = one.PullPolicy, one.CompletionPolicy
}

// UnworkableList refuses what OpenKruise takes in a spec at a path, and with which no node ever pulls. (ILP-2)
func UnworkableList(list *v1alpha1.ImageListPullJobSpec, path *field.Path) field.ErrorList {
	one := JobOf(list, "")
	return UnworkableJob(&one, path)
}

// ValidateList says what is wrong with the spec of an ImageListPullJob at a path. (ILP-2)
func ValidateList(list *v1alpha1.ImageListPullJobSpec, path *field.Path) field.ErrorList {
	one := JobOf(list, "")
	return append(validateImages(list.Images, path.Child("images")), ValidateJob(&one, path)...)
}

func validateImages(names []string, path *field.Path) (errs field.ErrorList) {
	switch {
	case len(names) == 0:
		return field.ErrorList{field.Required(path, "it says what to pull")}
	case len(names) > v1alpha1.MaxImageListPullJobImages:
		return field.ErrorList{field.TooMany(path, len(names), v1alpha1.MaxImageListPullJobImages)}
	}
	seen := map[string]bool{}
	for i, name := range names {
		if seen[name] {
			errs = append(errs, field.Duplicate(path.Index(i), name))
			continue
		}
		seen[name] = true
		errs = append(errs, ValidateImage(name, path.Index(i))...)
	}
	return errs
}
