// SPDX-License-Identifier: Apache-2.0

package gitops

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// written is an object as its user wrote it, and the API server stores it where no webhook fills in defaults: without what
// is empty.
func written(t *testing.T, object any) (fields map[string]any) {
	t.Helper()
	raw, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &fields); err != nil {
		t.Fatal(err)
	}
	withoutEmpty(fields)
	return fields
}

func withoutEmpty(fields map[string]any) {
	for key, value := range fields {
		if inner, ok := value.(map[string]any); ok {
			if withoutEmpty(inner); len(inner) == 0 {
				delete(fields, key)
			}
		} else if value == nil {
			delete(fields, key)
		}
	}
}

// The CRDs are those of OpenKruise and have no defaults: the webhooks fill them in. Where these are not served, the fields have
// to be written by the user for Argo CD to show what is the case: this is what it does with those who leave them out.
func TestWithoutWebhooks(t *testing.T) {
	set, ordered, daemons, job, cron := newStateless(), newOrderly(), newFleet(), newErrand(), newTicker()
	set.Set.Spec.UpdateStrategy = v1alpha1.CloneSetUpdateStrategy{}
	type shown struct{ Object, ArgoCD string }
	var got []shown
	show := func(what string, object any) {
		t.Helper()
		fields := written(t, object)
		kind := fields["kind"].(string)
		health, err := tryHealth(t, kind, fields)
		if err != nil {
			first, _, _ := strings.Cut(err.Error(), "\n")
			health = "fails: " + first[strings.Index(first, ": ")+2:] // it begins with the line of the script
		}
		got = append(got, shown{kind + " " + what, health})
	}
	show("that is new", cron.CronJob)
	cron.settle()
	show("that is observed", cron.CronJob)
	show("that is new", job.Job)
	job.settle()
	job.ends(0, "Succeeded")
	job.ends(1, "Succeeded")
	show("that is complete", job.Job)

	show("that is new", set.Set)
	set.settle()
	show("without updateStrategy", set.Set)
	set.edit(func(s *v1alpha1.CloneSetSpec) { s.UpdateStrategy.Type = "ReCreate" })
	set.settle()
	show("without partition", set.Set)

	ordered.settle()
	show("without updateStrategy", ordered.Set)
	ordered.edit(func(s *v1beta1.StatefulSetSpec) {
		s.UpdateStrategy.RollingUpdate = &v1beta1.RollingUpdateStatefulSetStrategy{PodUpdatePolicy: "ReCreate"}
	})
	ordered.settle()
	show("without partition", ordered.Set)

	daemons.settle()
	show("without updateStrategy", daemons.Set)
	daemons.edit(func(s *v1alpha1.DaemonSetSpec) {
		s.UpdateStrategy.RollingUpdate = &v1alpha1.RollingUpdateDaemonSet{Type: "Standard"}
	})
	daemons.settle()
	show("without partition", daemons.Set)
	if diff := cmp.Diff([]shown{
		{"AdvancedCronJob that is new", "fails: attempt to index a non-table object(nil) with key 'lastScheduleTime'"},
		{"AdvancedCronJob that is observed", "Degraded"},
		{"BroadcastJob that is new", "Progressing"},
		{"BroadcastJob that is complete", "Healthy"},
		{"CloneSet that is new", "Progressing"},
		{"CloneSet without updateStrategy", "fails: attempt to index a non-table object(nil) with key 'paused'"},
		{"CloneSet without partition", "Suspended"},
		{"StatefulSet without updateStrategy", "fails: attempt to index a non-table object(nil) with key 'rollingUpdate'"},
		{"StatefulSet without partition", "fails: cannot perform sub operation between number and nil"},
		{"DaemonSet without updateStrategy", "fails: attempt to index a non-table object(nil) with key 'rollingUpdate'"},
		{"DaemonSet without partition", "Healthy"},
	}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
