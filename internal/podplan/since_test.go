// SPDX-License-Identifier: Apache-2.0

package podplan

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/testing/patches"
)

// A wait says since when it is there, as far as an object tells. History has revisions, of which web-b is the one to update to, and when they
// were made, in minutes.
func TestSince(t *testing.T) {
	type row struct {
		History map[string]int
		Label   string
		Created int
		Pod     json.RawMessage
	}
	at := func(minutes int) metav1.Time {
		return metav1.NewTime(time.Date(2026, 1, 2, 12, minutes, 0, 0, time.UTC))
	}
	blank := func() row { return row{Created: 2, Pod: json.RawMessage("{}")} }
	patches.PlayRows(t, "testdata/since.txt", blank, func(t *testing.T, _ string, r *row) string {
		labels := map[string]string{RevisionLabel: r.Label}
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web-0", Labels: labels, CreationTimestamp: at(r.Created)}}
		patches.Strategic(t, pod, string(r.Pod))
		plan := rollout.Plan{}
		p := NewPlanner(&plan, "FailedUpdate")
		for _, name := range slices.Sorted(maps.Keys(r.History)) {
			made := &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: at(r.History[name])}}
			if p.History = append(p.History, made); name == "web-b" {
				plan.Revisions.Update = made
			}
		}
		p.wantedSince = p.revisionSince()
		p.Wait(nil, &rollout.Reason{})
		p.Wait(pod, &rollout.Reason{})
		view := View{}
		view.Observe(pod)
		view.Updated = plan.Revisions.Update != nil && r.Label == plan.Revisions.Update.Name
		p.TellSince(&view)
		since := plan.Waiting[1].Since
		if told := view.Waits(&rollout.Reason{}).Since; !told.Equal(since) || !plan.Waiting[0].Since.IsZero() {
			t.Errorf("since %s, an observed pod since %s, and new pods, of which nothing tells, since %s", since, told, plan.Waiting[0].Since)
		}
		if since.IsZero() {
			return "not known"
		}
		return since.UTC().Format("15:04")
	})
}
