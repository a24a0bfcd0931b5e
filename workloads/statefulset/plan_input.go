// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"maps"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/internal/podplan"
)

// checkInput returns the error of a snapshot that no plan can be made of. It
// leaves out what does not belong to the StatefulSet, and reports it. Pods that
// have a name of its pods and another controller stay: they take the name.
func (p *planner) checkInput() error {
	if p.Snapshot == nil || p.Set == nil {
		return podplan.NoWorkload("StatefulSet")
	}
	if p.Now.IsZero() {
		return podplan.ErrNoTime
	}
	s := *p.Snapshot
	p.Snapshot, p.rolling, p.At, p.Refusals, p.Began = &s, rollingUpdate(s.Set), s.Now, s.Refused, s.HeldSince
	p.Workload = p.workload()
	s.Pods = podplan.Usable(&p.Planner, s.Pods, "Snapshot.Pods", "named after the StatefulSet and an ordinal",
		func(pod *corev1.Pod) bool { _, ok := ordinalOf(s.Set.Name, pod.Name); return ok })
	s.Revisions = p.UseHistory(s.Revisions, "that name the StatefulSet as an owner")
	for name, claim := range s.Claims {
		if claim == nil {
			s.Claims = maps.Clone(s.Claims)
			delete(s.Claims, name)
		}
	}
	return nil
}
