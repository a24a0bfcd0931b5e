// SPDX-License-Identifier: Apache-2.0

package imagelistpulljob

import (
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/admission"
	"github.com/podwright/podwright/internal/images"
)

// ValidateCreate says what is wrong with a new job, field by field; an empty
// list means it can be created. It takes a job before or after Default. (ILP-2)
func ValidateCreate(job *v1alpha1.ImageListPullJob) field.ErrorList {
	return append(validate(&job.Spec), unworkable(&job.Spec)...)
}

// ValidateUpdate says what is wrong with the change from the stored job old to
// job; an empty list means it can be saved. Every field may change. Nothing is judged when the whole
// spec stays the same: labels, annotations and finalizers of a job can always be changed.
func ValidateUpdate(job, old *v1alpha1.ImageListPullJob) field.ErrorList {
	if equality.Semantic.DeepEqual(&job.Spec, &old.Spec) {
		return nil
	}
	return append(validate(&job.Spec), admission.Introduced(unworkable(&job.Spec), unworkable(&old.Spec))...)
}

// unworkable refuses what OpenKruise takes and with which no node ever pulls.
func unworkable(spec *v1alpha1.ImageListPullJobSpec) field.ErrorList {
	return images.UnworkableList(spec, field.NewPath("spec"))
}

func validate(spec *v1alpha1.ImageListPullJobSpec) field.ErrorList {
	return images.ValidateList(spec, field.NewPath("spec"))
}
