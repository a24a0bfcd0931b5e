// SPDX-License-Identifier: Apache-2.0

package nodeimage

import (
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

// Default sets the unset fields of the tasks in a NodeImage to their defaults,
// in place, and sorts tasks and states by tag. A task without createdAt is given
// now.
func Default(n *v1alpha1.NodeImage, now time.Time) {
	for _, image := range n.Spec.Images {
		for i := range image.Tags {
			defaultTask(&image.Tags[i], now)
		}
		slices.SortStableFunc(image.Tags, func(a, b v1alpha1.ImageTagSpec) int { return strings.Compare(a.Tag, b.Tag) })
	}
	for _, image := range n.Status.ImageStatuses {
		slices.SortStableFunc(image.Tags, func(a, b v1alpha1.ImageTagStatus) int { return strings.Compare(a.Tag, b.Tag) })
	}
}

func defaultTask(task *v1alpha1.ImageTagSpec, now time.Time) {
	if task.CreatedAt == nil {
		task.CreatedAt = ptr.To(metav1.NewTime(now.Truncate(time.Second)))
	}
	if task.PullPolicy == nil {
		task.PullPolicy = &v1alpha1.ImageTagPullPolicy{}
	}
	if task.PullPolicy.TimeoutSeconds == nil {
		task.PullPolicy.TimeoutSeconds = ptr.To[int32](v1alpha1.DefaultImagePullTimeoutSeconds)
	}
	if task.PullPolicy.BackoffLimit == nil {
		task.PullPolicy.BackoffLimit = ptr.To[int32](v1alpha1.DefaultImagePullBackoffLimit)
	}
}
