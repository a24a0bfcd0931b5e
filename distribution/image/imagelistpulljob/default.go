// SPDX-License-Identifier: Apache-2.0

package imagelistpulljob

import (
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/images"
)

// Default sets the unset fields of a job to their defaults, in place: those of an ImagePullJob. The
// parallelism stays unset; that means 1. (ILP-1)
func Default(job *v1alpha1.ImageListPullJob) { images.DefaultList(&job.Spec) }
