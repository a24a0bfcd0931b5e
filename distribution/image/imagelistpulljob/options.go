// SPDX-License-Identifier: Apache-2.0

package imagelistpulljob

import (
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/internal/controller"
)

// Options says what a Controller or a Reconciler works with. Distribution is required; every other field has a useful zero value.
type Options struct {
	podwright.ControllerOptions
	// Recorder receives events about ImageListPullJobs. Default: that of Recorders.
	Recorder record.EventRecorder

	// Distribution reads ImageListPullJobs and writes their status, and reads, creates, changes and deletes
	// ImagePullJobs.
	Distribution client.Interface

	// ImageListPullJobs and ImagePullJobs are shared informers, see ControllerOptions.
	ImageListPullJobs, ImagePullJobs cache.SharedIndexInformer
}

func (o *Options) check(c *controller.Checks) {
	c.KindClient("Distribution", "distribution", o.Distribution != nil)
}
