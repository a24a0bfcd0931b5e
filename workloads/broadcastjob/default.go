// SPDX-License-Identifier: Apache-2.0

package broadcastjob

import (
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/internal/podtemplate"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// DefaultOptions tunes Default.
type DefaultOptions struct {
	// TemplateNoDefaults leaves the pod template as it was sent. Default false.
	TemplateNoDefaults bool
}

// Default sets the unset fields of a BroadcastJob to their defaults, in place.
// Old is the stored job of an update, and nil for a new job.
//
// The pod template is defaulted in a new job, and in an update that changes it. Its
// restartPolicy becomes Always, which Validate refuses: it has to be given.
func Default(job, old *v1alpha1.BroadcastJob, o DefaultOptions) {
	spec := &job.Spec
	if spec.Parallelism == nil {
		spec.Parallelism = new(intstr.FromInt32(v1alpha1.DefaultBroadcastJobParallelism))
	}
	if spec.CompletionPolicy.Type == "" {
		spec.CompletionPolicy.Type = v1alpha1.Always
	}
	if spec.FailurePolicy.Type == "" {
		spec.FailurePolicy.Type = v1alpha1.FailurePolicyTypeFailFast
	}
	if o.TemplateNoDefaults {
		return
	}
	var stored podtemplate.Templates
	if old != nil {
		stored = templates(&old.Spec)
	}
	templates(spec).Default(stored)
}

func templates(spec *v1alpha1.BroadcastJobSpec) podtemplate.Templates {
	return podtemplate.Templates{Pod: &spec.Template}
}
