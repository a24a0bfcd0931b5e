// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	"testing"
)

// DS-7: no new pod has the name of one that is there.
func TestNamesOfPodsAreTaken(t *testing.T) {
	s := place(t, newSet(), "n1 n2:v2")
	name := NewPlan(s).Create[0].Pod.Name
	s.Pods[0].Name = name
	if got := NewPlan(s).Create[0].Pod.Name; got == name {
		t.Errorf("two pods are named %s", got)
	}
}

// DS-CR5: if the current revision holds the present template under another name, the present one is the current one.
func TestCurrentRevisionOfAnotherName(t *testing.T) {
	set := newSet()
	set.Status.CurrentRevision = "web-other"
	s := place(t, set, "n1:v2")
	other := revisionOf(t, set, "v2")
	other.Name, other.Revision = "web-other", 0
	s.Revisions = append(s.Revisions, other)
	plan := NewPlan(s)
	if r := plan.Revisions; r.Current == nil || r.Current != r.Update || r.Update.Name == "web-other" {
		t.Errorf("current revision %v, update revision %v", r.Current, r.Update)
	}
}
