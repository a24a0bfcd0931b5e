// SPDX-License-Identifier: Apache-2.0

package imagelistpulljob

import (
	"github.com/podwright/podwright"
	"github.com/podwright/podwright/distribution"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/controller"
)

// Describe returns what a program takes that runs ImageListPullJobs, for package manager: the options are those of New. A nil webhook is
// not served. ImagePullJobs do the work: package imagepulljob describes them.
func Describe(o Options, w *Webhook) podwright.Kind {
	k := controller.Describe(component, v1alpha1.SchemeGroupVersion.WithResource("imagelistpulljobs"), o.Namespace, o, New, Rules)
	k.CRDs, k.Webhooks = distribution.CRDs, distribution.Webhooks
	if w != nil {
		k.Admission = controller.Admission(w, nil)
	}
	return k
}
