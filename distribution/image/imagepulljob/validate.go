// SPDX-License-Identifier: Apache-2.0

package imagepulljob

import (
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/admission"
	"github.com/podwright/podwright/internal/images"
)

// ValidateCreate says what is wrong with a new job, field by field; an empty
// list means it can be created. It takes a job before or after Default.
func ValidateCreate(job *v1alpha1.ImagePullJob) field.ErrorList {
	return append(validate(job), unworkable(job)...)
}

func validate(job *v1alpha1.ImagePullJob) field.ErrorList {
	return append(images.ValidateImage(job.Spec.Image, field.NewPath("spec", "image")), images.ValidateJob(&job.Spec, field.NewPath("spec"))...)
}

// ValidateUpdate says what is wrong with the change from the stored job old to
// job; an empty list means it can be saved. Every field may change, the image
// too. Nothing is judged when the whole spec stays the same: labels, annotations
// and finalizers of a job can always be changed.
func ValidateUpdate(job, old *v1alpha1.ImagePullJob) field.ErrorList {
	if equality.Semantic.DeepEqual(&job.Spec, &old.Spec) {
		return nil
	}
	return append(validate(job), admission.Introduced(unworkable(job), unworkable(old))...)
}

// unworkable refuses what OpenKruise takes and with which no node ever pulls.
func unworkable(job *v1alpha1.ImagePullJob) field.ErrorList {
	return images.UnworkableJob(&job.Spec, field.NewPath("spec"))
}
