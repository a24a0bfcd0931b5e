// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/internal/podplan"
)

// checkInput returns the error of a snapshot that no plan can be made of. It
// leaves out what does not belong to the CloneSet, and reports it.
func (p *planner) checkInput() error {
	if p.Snapshot == nil || p.Set == nil {
		return podplan.NoWorkload("CloneSet")
	}
	if p.Now.IsZero() {
		return podplan.ErrNoTime
	}
	s, uid := *p.Snapshot, p.Set.UID
	p.Snapshot, p.Workload, p.At, p.Refusals = &s, p.workload(), s.Now, s.Refused
	const owned = "that name the CloneSet as an owner"
	s.Pods = podplan.Usable(&p.Planner, s.Pods, "Snapshot.Pods", owned,
		func(pod *corev1.Pod) bool { return podplan.OwnedBy(pod, uid) })
	s.Claims = podplan.Usable(&p.Planner, s.Claims, "Snapshot.Claims", owned,
		func(claim *corev1.PersistentVolumeClaim) bool { return podplan.OwnedBy(claim, uid) })
	s.Revisions = p.UseHistory(s.Revisions, owned)
	return nil
}
