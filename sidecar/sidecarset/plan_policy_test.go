// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The status says why no policy injects what the SidecarSet has, from the first reconcile until
// one can. (SCS-25)
func TestFailedPolicy(t *testing.T) {
	const merges = `{containers: [{name: log, image: "log:v1"}], patchPodMetadata: [{annotations: {a: "{}"}, patchPolicy: MergePatchJson}]}`
	const want = "no policy injects what it has: SidecarSet demo: spec.patchPodMetadata[0]: a policy cannot merge JSON; use Retain or Overwrite, or have a webhook inject"
	w := newWorld(t, merges)
	sync := func(policies bool) string {
		t.Helper()
		s := w.snapshot()
		s.Policies = policies
		plan := NewPlan(s)
		w.apply(plan)
		c := conditionOf(&w.set.Status, failedPolicy)
		if c == nil {
			return ""
		}
		if !c.LastTransitionTime.Equal(&metav1.Time{Time: noon}) {
			t.Errorf("since %v", c.LastTransitionTime)
		}
		return c.Message
	}
	if got := sync(false); got != "" {
		t.Errorf("without policies: %s", got)
	}
	if got := sync(true); got != want {
		t.Errorf("with policies: %q, want %q", got, want)
	}
	w.now = noon.Add(time.Minute)
	w.edit(`{containers: [{name: log, image: "log:v2"}]}`)
	if got := sync(true); got != want {
		t.Errorf("of a revision that is not there yet: %q, want %q", got, want)
	}
	w.edit(`{patchPodMetadata: null, injectionStrategy: {revision: {revisionName: none}}}`)
	if got := sync(true); got != `its policy stays unchanged: spec.injectionStrategy.revision: there is no revision "none" of the SidecarSet; correct revisionName` {
		t.Errorf("of a revision that is not there: %q", got)
	}
	w.edit(`{injectionStrategy: {revision: null, paused: true}}`)
	if got := sync(true); got != "" {
		t.Errorf("paused: %s", got)
	}
}
