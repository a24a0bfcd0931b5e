// SPDX-License-Identifier: Apache-2.0

package imagepulljob

import (
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

// Default sets the unset fields of a job to their defaults, in place. The
// parallelism stays unset; that means 1.
func Default(job *v1alpha1.ImagePullJob) {
	spec := &job.Spec
	if spec.CompletionPolicy.Type == "" {
		spec.CompletionPolicy.Type = v1alpha1.Always
	}
	if spec.PullPolicy == nil {
		spec.PullPolicy = &v1alpha1.PullPolicy{}
	}
	if spec.PullPolicy.TimeoutSeconds == nil {
		spec.PullPolicy.TimeoutSeconds = ptr.To[int32](v1alpha1.DefaultImagePullTimeoutSeconds)
	}
	if spec.PullPolicy.BackoffLimit == nil {
		spec.PullPolicy.BackoffLimit = ptr.To[int32](v1alpha1.DefaultImagePullBackoffLimit)
	}
}
