// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"fmt"
	"slices"

	"github.com/google/go-cmp/cmp"

	"github.com/podwright/podwright/internal/podplan"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// changeOf is the change of a pod, by a planner that has read the pods.
func (s *planScript) changeOf(name string) change {
	s.T.Helper()
	p := &planner{Snapshot: s.snapshot(), plan: &Plan{}}
	p.Planner = podplan.NewPlanner(&p.plan.Plan, failedUpdate)
	s.must(p.checkInput())
	s.must(p.read())
	if !p.planRevisions() {
		s.T.Fatal(p.plan.Problems)
	}
	p.classify()
	return p.change(p.pods[slices.IndexFunc(p.pods, func(pod *pod) bool { return pod.Name == name })])
}

// checkPlain tells whether the update of a pod is written without maps and encoding/json. Then it has the bytes of any other. (SCS-11, SCS-13)
func (s *planScript) checkPlain(name string) string {
	s.T.Helper()
	fast, slow, since := s.changeOf(name), s.changeOf(name), notReadySince(s.Pod(name))
	fast.since, slow.since = since, since
	if !fast.replacePlainly() {
		if !fast.Empty() {
			s.T.Errorf("it is no plain one, and the patch has %v", fast.Patch)
		}
		return "not plain"
	}
	s.must(slow.upgrade())
	s.must(slow.record())
	if diff := cmp.Diff(slow.Patch, fast.Patch); diff != "" {
		s.T.Errorf("-as any other +as a plain one:\n%s", diff)
	}
	return fast.Patch.String()
}

// checkRecords tells whether records of a pod are those of the SidecarSet alone. These are replaced without being read, and come to the same; others
// are read, and stay. (SCS-12)
func (s *planScript) checkRecords(name, text string) string {
	s.T.Helper()
	c, before := s.changeOf(name), s.Pod(name).Annotations[v1alpha1.SidecarSetHashAnnotation]
	s.Pod(name).Annotations[v1alpha1.SidecarSetHashAnnotation] = text
	defer func() { s.Pod(name).Annotations[v1alpha1.SidecarSetHashAnnotation] = before }()
	alone := c.p.ownAlone(text)
	read, err := c.recordsAfter(false)
	s.must(err)
	if replaced, err := c.recordsAfter(true); alone && (replaced != read || err != nil) {
		s.T.Errorf("replaced they are %v (%v), and read %v", replaced, err, read)
	}
	return fmt.Sprintf("alone %t, then %s", alone, read.text)
}
