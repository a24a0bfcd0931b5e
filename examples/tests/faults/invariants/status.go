// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/testing/simulation/invariants"
	"github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// judgeStatus: a status counts the pods as they have been at a moment since all was settled. The status of a CloneSet may also count
// pods that its author has created since that moment. If a gap hides some of the moments, that cannot be told.
func (j *Judge) judgeStatus(v *verdict, c Change) {
	s := j.sets[c.latest().GetUID()]
	if w := j.writeOfStatus(c); w != nil && !v.gap && !s.lumped {
		for _, violation := range s.asBefore(c).judge(w, false, s.counted(c.New)...) {
			v.add(violation)
		}
	}
}

// counted are the pods that a status may count: those of every moment. The status of a CloneSet may count with them those that
// came later, as they were created. (CS-S2)
func (s *set) counted(workload metav1.Object) []map[string]*corev1.Pod {
	if _, is := workload.(*v1alpha1.CloneSet); !is {
		return s.states
	}
	var all []map[string]*corev1.Pod
	created := map[string]*corev1.Pod{}
	for i := len(s.states) - 2; i >= 0; i-- {
		for name, pod := range s.states[i+1] {
			if was := s.states[i][name]; was == nil || was.UID != pod.UID {
				created[name] = pod
			}
		}
		if len(created) > 0 {
			with := maps.Clone(created)
			maps.Copy(with, s.states[i])
			all = append(all, with)
		}
	}
	slices.Reverse(all)
	return append(all, s.states...)
}

// asBefore is a workload without the version that a status which names another current revision has made: its author could not
// know it.
func (s *set) asBefore(c Change) *set {
	last := len(s.counting) - 1
	if last < 1 || currentRevision(c.Old) == currentRevision(c.New) || s.counting[last].GetGeneration() != c.New.GetGeneration() {
		return s
	}
	known := *s
	known.counting = s.counting[:last]
	return &known
}

// writeOfStatus returns the write of a status; nil if it is a user who has changed a workload, or nothing has changed.
func (j *Judge) writeOfStatus(c Change) *invariants.Write {
	if c.Old == nil || c.New == nil || c.Old.GetGeneration() != c.New.GetGeneration() {
		return nil
	}
	w := &invariants.Write{Verb: "patch", Subresource: "status", Truth: j.truth(c.New.GetUID(), c)}
	switch before := c.Old.(type) {
	case *v1alpha1.CloneSet:
		after := c.New.(*v1alpha1.CloneSet)
		w.Resource, w.Before, w.After = "clonesets", before, after
		if equality.Semantic.DeepEqual(before.Status, after.Status) {
			return nil
		}
	case *v1beta1.StatefulSet:
		after := c.New.(*v1beta1.StatefulSet)
		w.Resource, w.Before, w.After = "statefulsets", before, after
		if equality.Semantic.DeepEqual(before.Status, after.Status) {
			return nil
		}
	}
	return w
}
