// SPDX-License-Identifier: Apache-2.0

package nodeimage

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	diff "github.com/google/go-cmp/cmp"

	"github.com/podwright/podwright/internal/images"
	"github.com/podwright/podwright/internal/testing/patches"
)

// showPlan shows a plan. Whatever it is, it changes nothing that it is made of, and is the same when it is made again.
func showPlan(t *testing.T, d *datadriven.TestData, s *Snapshot) string {
	asJSON := func(value any) string { return ownerJSON.ReplaceAllString(patches.JSON(t, value), `"$1/$2"`) }
	before := s.NodeImage.DeepCopy()
	plan := NewPlan(s)
	if changed := diff.Diff(before, s.NodeImage) + diff.Diff(plan, NewPlan(s)); changed != "" {
		t.Errorf("%s: it changes what it is made of, or is another the second time:\n%s", d.Pos, changed)
	}
	if len(plan.Pulls.Create) > 0 && plan.RequeueAfter == 0 {
		t.Errorf("%s: no look after a while", d.Pos)
	}
	out := []string{plan.String()}
	if plan.Create != nil {
		out = append(out, "labels "+asJSON(plan.Create.Labels))
	}
	for _, w := range plan.Waiting {
		out = append(out, fmt.Sprintf("waits since %s, %d of %d", w.Since.UTC().Format(time.TimeOnly), w.Reason.Observed, w.Reason.Limit))
	}
	if c := plan.Change; c != nil {
		out = append(out, "labels "+asJSON(c.Labels), "spec "+asJSON(c.Spec))
	}
	for _, gone := range plan.Gone {
		out = append(out, fmt.Sprintf("gone is %s/%s", gone.Namespace, gone.Name))
	}
	if plan.Status != nil {
		for _, name := range slices.Sorted(maps.Keys(plan.Status.ImageStatuses)) {
			for _, s := range plan.Status.ImageStatuses[name].Tags {
				out = append(out, strings.TrimPrefix(name+" status ", "nginx ")+asJSON(s))
			}
		}
		if first := plan.Status.FirstSyncStatus; first != nil {
			counts := *plan.Status
			counts.ImageStatuses = nil
			out = append(out, "counts "+asJSON(counts))
		}
		if plan.Status.ObservedGeneration > 0 {
			out = append(out, fmt.Sprint("of generation ", plan.Status.ObservedGeneration))
		}
	}
	for _, u := range plan.Pulls.Unpulled {
		out = append(out, fmt.Sprintf("tell %s/%s: %s", u.Job.Namespace, u.Job.Name, u.Message))
	}
	if plan.RequeueAfter > 0 {
		out = append(out, fmt.Sprint("again in ", plan.RequeueAfter))
	}
	if d.HasArg("whole") {
		for _, pod := range plan.Pulls.Create {
			out = append(out, asJSON(pod))
		}
		if plan.Change != nil {
			patch, err := plan.Change.Patch(s.NodeImage)
			if err != nil {
				t.Error(err)
			}
			out = append(out, "patch "+string(patch))
		}
	}
	text := cmp.Or(strings.TrimLeft(strings.Join(out, "\n"), "\n"), "nothing") + "\n"
	for _, pod := range slices.Concat(s.Pods, plan.Pulls.Create, plan.Pulls.Delete) {
		if task, ok := images.PullTaskOf(pod); ok && len(pod.OwnerReferences) > 0 {
			text = strings.ReplaceAll(text, pod.Name, fmt.Sprintf("%s/%s-%d", pod.Namespace, pod.OwnerReferences[0].Name, task.Attempt))
		}
	}
	return text
}

// ownerJSON is a reference to a job, which is shown as its namespace and name.
var ownerJSON = regexp.MustCompile(`\{"kind":"ImagePullJob","namespace":"([^"]*)","name":"([^"]*)",` +
	`"uid":"[^"]*","apiVersion":"apps.kruise.io/v1alpha1"\}`)
