// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	"errors"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/podplan"
)

// checkInput returns the error of a snapshot that no plan can be made of. It
// leaves out what does not belong to the DaemonSet, and reports it.
func (p *planner) checkInput() error {
	if p.Snapshot == nil || p.Set == nil {
		return podplan.NoWorkload(kind)
	}
	if p.Now.IsZero() {
		return podplan.ErrNoTime
	}
	s, uid := *p.Snapshot, p.Set.UID
	p.Snapshot, p.rolling, p.At, p.Refusals, p.Began = &s, rollingUpdate(s.Set), s.Now, s.Refused, s.HeldSince
	p.Workload = p.workload()
	const owned = "that name the DaemonSet as an owner"
	s.Pods = podplan.Usable(&p.Planner, s.Pods, "Snapshot.Pods", owned+", or without a controller", func(pod *corev1.Pod) bool {
		return podplan.OwnedBy(pod, uid) || metav1.GetControllerOfNoCopy(pod) == nil
	})
	s.Revisions = p.UseHistory(s.Revisions, owned)
	if missing := func(node *corev1.Node) bool { return node == nil }; slices.ContainsFunc(s.Nodes, missing) {
		p.UpdateProblem(errors.New("Snapshot.Nodes: nil left out"))
		s.Nodes = slices.DeleteFunc(slices.Clone(s.Nodes), missing)
	}
	return nil
}
