package nodeimage

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/caches"
)

// nodeChanged has a pass made when labels or readiness of a node change, when it
// appears and when it goes; before or after may be nil. Heartbeats, and all else
// that nodes report, change no plan.
func (c *Controller) nodeChanged(before, after *corev1.Node) {
	switch {
	case after == nil:
		c.enqueue(before.Name)
	case before == nil || before.UID != after.UID || !maps.Equal(before.Labels, after.Labels) ||
		(before.DeletionTimestamp == nil) != (after.DeletionTimestamp == nil) || readinessChanged(before, after):
		c.enqueue(after.Name)
	}
}

func readinessChanged(before, after *corev1.Node) bool {
	was, is := condition(before, corev1.NodeReady), condition(after, corev1.NodeReady)
	if was == nil || is == nil {
		return was != is
	}
	return was.Status != is.Status || !was.LastTransitionTime.Equal(&is.LastTransitionTime)
}

// nodeImageChanged has a pass made when the labels or the tasks of a NodeImage
// change, or a task begins or ends; before or after may be nil. The progress of a
// pull changes no plan.
func (c *Controller) nodeImageChanged(before, after *v1alpha1.NodeImage) {
	switch {
	case after == nil:
		c.enqueue(before.Name)
	case before == nil || before.UID != after.UID || before.Generation != after.Generation ||
		!maps.Equal(before.Labels, after.Labels) ||
		(before.DeletionTimestamp == nil) != (after.DeletionTimestamp == nil) ||
		!maps.Equal(reports(before), reports(after)):
		c.enqueue(after.Name)
	}
}

// taskName names a task.
type taskName struct{ image, tag string }

// report is what a plan reads of the report about a task.
type report struct {
	version  int64
	finished int64 // Unix time in seconds, 0 where it has not
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

// jobChanged has passes made over the nodes that hold tasks of a job, when the
// job ends, goes, or comes to want another image; before or after may be nil.
func (c *Controller) jobChanged(before, after *v1alpha1.ImagePullJob) {
	if before == nil {
		return // no node has known it
	}
	if after != nil && before.UID == after.UID && before.Status.CompletionTime.Equal(after.Status.CompletionTime) &&
		before.Spec.Image == after.Spec.Image && before.Spec.CompletionPolicy.Type == after.Spec.CompletionPolicy.Type &&
		(before.DeletionTimestamp == nil) == (after.DeletionTimestamp == nil) {
		return
	}
	c.enqueueNodesOf(before.UID)
}

func (c *Controller) enqueueNodesOf(job types.UID) {
	nodes, err := caches.NodesWithTasksOf(c.nodeImages, job)
	if err != nil {
		return // the index is there since New
	}
	for _, n := range nodes {
		c.enqueue(n.Name)
	}
}
