// SPDX-License-Identifier: Apache-2.0

package nodepodprobe

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// Plan is what to do about the probes of a node now: data, to be looked at,
// compared and applied. The same Snapshot gives the same Plan.
type Plan struct {
	// Create is the NodePodProbe to create, or nil.
	Create *v1alpha1.NodePodProbe
	// Delete says that the NodePodProbe is to be deleted, since its node is gone.
	Delete bool
	// Waiting says in words why a node has no NodePodProbe, and will not get one
	// now; empty otherwise.
	Waiting string

	// Spec is what the NodePodProbe should ask for, or nil if that stands.
	Spec *v1alpha1.NodePodProbeSpec
	// Dropped lists the probes that Spec takes away, each with the reason.
	Dropped []Dropped

	// LeftOut says why the node has no room for probes of markers, by marker. Those that are too large for any node are not
	// among them.
	LeftOut map[types.NamespacedName]string

	// Patches are the pods that results are to be written to, each in one request, by namespace and name.
	Patches []PodPatch
	// Ignored lists the results that are not written, each with the reason.
	Ignored []Ignored

	// RequeueAfter is the time after which the plan may be another without
	// any event; 0 when only events can change it.
	RequeueAfter time.Duration
}

// Dropped is a probe that is taken away from a node.
type Dropped struct {
	// Pod names the pod that was probed.
	Pod types.NamespacedName
	// Probe is its name in the NodePodProbe.
	Probe string
	// Reason says in words why.
	Reason string
}

// PodPatch writes results to a pod: a condition, labels and annotations, all in one request.
type PodPatch struct {
	// Pod is the pod as it was observed, shared with the caches.
	Pod *corev1.Pod
	podpatch.Patch
	// Results says what results of which markers they are. If it is that of the last write, they have other words, or another
	// client has changed the pod since.
	Results string
}

// Ignored is a result that is not written, or not in full.
type Ignored struct {
	// Pod names the pod that the result is about.
	Pod types.NamespacedName
	// Probe is its name in the NodePodProbe.
	Probe string
	// Reason says in words why.
	Reason string
}

// NewPlan decides what to do about the probes of a node: nothing for a nil Snapshot.
func NewPlan(s *Snapshot) *Plan {
	if s == nil {
		return &Plan{}
	}
	p := newPlanner(s)
	switch n := s.NodePodProbe; {
	case n == nil:
		p.planCreation()
	case s.Node == nil || s.Node.DeletionTimestamp != nil:
		p.plan.Delete = n.DeletionTimestamp == nil
	case n.DeletionTimestamp != nil:
		p.plan.Waiting = "the NodePodProbe is being deleted"
	case p.serverless:
		p.planSpec()
		p.planServerless()
	default:
		p.planSpec()
		p.planPods()
	}
	p.plan.LeftOut = p.room.markers
	return p.plan
}

// planCreation makes the NodePodProbe of a node that is ready. (PPM-3.1)
func (p *planner) planCreation() {
	switch {
	case p.Node == nil:
	case p.Node.DeletionTimestamp != nil:
		p.plan.Waiting = "the node is being deleted"
	case virtual(p.Node):
		p.plan.Waiting = "the node is a virtual kubelet, on which no agent runs"
		p.planServerless()
	case !ready(p.Node):
		p.plan.Waiting = "the node is not ready"
	default:
		n := &v1alpha1.NodePodProbe{ObjectMeta: metav1.ObjectMeta{Name: p.Node.Name}}
		n.Spec.PodProbes = p.wantedProbes(nil)
		p.plan.Create = n
	}
}

func ready(node *corev1.Node) bool {
	for i := range node.Status.Conditions {
		if c := &node.Status.Conditions[i]; c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// requeueAt has another plan made at a time at the latest.
func (p *planner) requeueAt(at time.Time) {
	p.plan.RequeueAfter = apply.Soonest(p.plan.RequeueAfter, max(at.Sub(p.Now), time.Millisecond))
}
