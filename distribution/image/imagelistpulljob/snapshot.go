// SPDX-License-Identifier: Apache-2.0

package imagelistpulljob

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

// Snapshot is everything that a plan depends on: what the caches held at one
// moment. Its objects are shared with the caches; nothing in this package
// changes them.
type Snapshot struct {
	// Job is the ImageListPullJob. Required.
	Job *v1alpha1.ImageListPullJob
	// Jobs are the ImagePullJobs that it controls, in any order.
	Jobs []*v1alpha1.ImagePullJob
	// Refused says of images why their ImagePullJobs could not be created the last time. Nil: all could, as far as is known.
	Refused map[string]string
	// Reported is when the status was last written. Zero: it is not known.
	Reported time.Time
	// Now is the time for which to plan.
	Now time.Time
}

// now is the time as it stands in objects, in whole seconds.
func (s *Snapshot) now() metav1.Time { return metav1.NewTime(s.Now.Truncate(time.Second)) }
