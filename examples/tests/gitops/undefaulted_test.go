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

// written is an object as its user wrote it, and the API server stores it if no webhook fills in defaults: without what
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

// The CRDs of OpenKruise have no defaults: the webhooks fill them in. If neither webhooks nor CRDs fill them in, Argo CD shows what is
// the case only if the user writes the fields. The test has what Argo CD shows of objects of users who leave them out. It also has what
// Argo CD shows if the API server fills in the defaults of workloads.CRDsWithDefaults.
func TestWithoutWebhooks(t *testing.T) {
	set, ordered, daemons, job, cron := newStateless(), newOrderly(), newFleet(), newErrand(), newTicker()
	set.Set.Spec.UpdateStrategy = v1alpha1.CloneSetUpdateStrategy{}
	type shown struct{ Object, Plain, Filled string }
	var got []shown
	show := func(what string, object any) {
		t.Helper()
		fields := written(t, object)
		plain := healthOrFailure(t, fields)
		fill(t, fields)
		got = append(got, shown{fields["kind"].(string) + " " + what, plain, healthOrFailure(t, fields)})
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
		{"AdvancedCronJob that is new", "fails: attempt to index a non-table object(nil) with key 'lastScheduleTime'",
			"fails: attempt to index a non-table object(nil) with key 'lastScheduleTime'"},
		{"AdvancedCronJob that is observed", "Degraded", "Degraded"},
		{"BroadcastJob that is new", "Progressing", "Progressing"},
		{"BroadcastJob that is complete", "Healthy", "Healthy"},
		{"CloneSet that is new", "Progressing", "Progressing"},
		{"CloneSet without updateStrategy", "fails: attempt to index a non-table object(nil) with key 'paused'", "Healthy"},
		{"CloneSet without partition", "Suspended", "Healthy"},
		{"StatefulSet without updateStrategy", "fails: attempt to index a non-table object(nil) with key 'rollingUpdate'", "Healthy"},
		{"StatefulSet without partition", "fails: cannot perform sub operation between number and nil", "Healthy"},
		{"DaemonSet without updateStrategy", "fails: attempt to index a non-table object(nil) with key 'rollingUpdate'", "Healthy"},
		{"DaemonSet without partition", "Healthy", "Healthy"},
	}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// healthOrFailure is what Argo CD shows, or how its check fails.
func healthOrFailure(t *testing.T, fields map[string]any) string {
	t.Helper()
	health, err := tryHealth(t, fields["kind"].(string), fields)
	if err != nil {
		first, _, _ := strings.Cut(err.Error(), "\n")
		return "fails: " + first[strings.Index(first, ": ")+2:] // it begins with the line of the script
	}
	return health
}
