// SPDX-License-Identifier: Apache-2.0

package nodeimage

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/images"
)

// nodeImageChanged enqueues the node when the labels or the tasks of a NodeImage change,
// or a task begins or ends. Before or after may be nil. The progress of a pull changes no
// plan.
func nodeImageChanged(before, after *v1alpha1.NodeImage, enqueue controller.Enqueue) {
	switch {
	case after == nil:
		enqueue(types.NamespacedName{Name: before.Name})
	case before == nil || before.UID != after.UID || before.Generation != after.Generation ||
		!maps.Equal(before.Labels, after.Labels) ||
		(before.DeletionTimestamp == nil) != (after.DeletionTimestamp == nil) ||
		!maps.Equal(reports(before), reports(after)):
		enqueue(types.NamespacedName{Name: after.Name})
	}
}

// taskName names a task.
type taskName struct{ image, tag string }

// report is what a plan reads of the report about a task.
type report struct {
	version  int64
	finished int64 // Unix time in seconds, 0 if it has not
}

// reports returns what the agent says about all tasks.
func reports(n *v1alpha1.NodeImage) map[taskName]report {
	out := map[taskName]report{}
	for name, image := range n.Status.ImageStatuses {
		for i := range image.Tags {
			status := &image.Tags[i]
			r := report{version: status.Version}
			if status.CompletionTime != nil {
				r.finished = status.CompletionTime.Unix()
			}
			out[taskName{name, status.Tag}] = r
		}
	}
	return out
}

// pullPodChanged enqueues the node to which a pod has an image pulled; before or after
// may be nil. What is compared is what the plan reads: see reads.
func pullPodChanged(before, after *corev1.Pod, enqueue controller.Enqueue) {
	for _, pod := range []*corev1.Pod{before, after} {
		if pod == nil {
			continue
		}
		if task, ok := images.PullTaskOf(pod); ok {
			enqueue(types.NamespacedName{Name: task.Node})
		}
	}
}

// jobChanged enqueues the nodes that hold tasks of a job, when the job ends, goes, or
// comes to want another image. Before or after may be nil.
func (o *Options) jobChanged(before, after *v1alpha1.ImagePullJob, enqueue controller.Enqueue) {
	if before == nil {
		return // no node has known it
	}
	if after != nil && before.UID == after.UID && before.Status.CompletionTime.Equal(after.Status.CompletionTime) &&
		before.Spec.Image == after.Spec.Image && before.Spec.CompletionPolicy.Type == after.Spec.CompletionPolicy.Type &&
		(before.DeletionTimestamp == nil) == (after.DeletionTimestamp == nil) {
		return
	}
	nodes, err := caches.NodesWithTasksOf(o.Reader, resourceNodeImages, before.UID)
	if err != nil {
		return // the index is there since New
	}
	for _, n := range nodes {
		enqueue(types.NamespacedName{Name: n.Name})
	}
}
