// SPDX-License-Identifier: Apache-2.0

package monitoring

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/rules"
)

// Each alert fires in the minute that it should, and not before. A value stands for a minute, as in Prometheus' own tests of rules: "0x30" is a
// zero and 30 more.
func TestAlerts(t *testing.T) {
	for _, tt := range []struct {
		name   string
		series string
		want   map[int]string // the alert that fires, by the minute; the minutes before, none does
	}{
		{"nothing is wrong", `
			kruise_cloneset_status_replicas_expected_updated{namespace="shop",cloneset="web"} 5x120
			kruise_cloneset_status_replicas_updated{namespace="shop",cloneset="web"} 5x120
			kruise_cloneset_status_replicas_updated_ready{namespace="shop",cloneset="web"} 5x120
			kruise_cloneset_spec_paused{namespace="shop",cloneset="web"} 0x120
			kruise_statefulset_spec_replicas{namespace="shop",statefulset="db"} 5x120
			kruise_statefulset_spec_strategy_rollingupdate_partition{namespace="shop",statefulset="db"} 3x120
			kruise_statefulset_spec_strategy_type{namespace="shop",statefulset="db",type="OnDelete"} 0x120
			kruise_statefulset_status_replicas_updated{namespace="shop",statefulset="db"} 2x120
			kruise_statefulset_status_replicas_updated_ready{namespace="shop",statefulset="db"} 2x120
			kruise_statefulset_spec_paused{namespace="shop",statefulset="db"} 0x120
			kruise_daemonset_status_desired_number_scheduled{namespace="infra",daemonset="agent"} 9x120
			kruise_daemonset_spec_strategy_rollingupdate_partition{namespace="infra",daemonset="agent"} 0x120
			kruise_daemonset_spec_strategy_type{namespace="infra",daemonset="agent",type="OnDelete"} 0x120
			kruise_daemonset_status_updated_number_scheduled{namespace="infra",daemonset="agent"} 9x120
			kruise_daemonset_spec_paused{namespace="infra",daemonset="agent"} 0x120
			kruise_podunavailablebudget_status_unavailable_allowed{namespace="shop",podunavailablebudget="web"} 1x120
			kruise_podunavailablebudget_status_total_replicas{namespace="shop",podunavailablebudget="web"} 5x120
			podwright_sidecarset_missed_pods{sidecarset="log"} 0x120
			kruise_imagepulljob_status_failed{namespace="infra",imagepulljob="ahead"} 0x120
			kruise_imagelistpulljob_status_completed{namespace="infra",imagelistpulljob="daily"} 2x120
			kruise_imagelistpulljob_status_succeeded{namespace="infra",imagelistpulljob="daily"} 2x120
			kruise_containerrecreaterequest_created{namespace="shop",containerrecreaterequest="restart"} 0x120
			kruise_containerrecreaterequest_status_phase{namespace="shop",containerrecreaterequest="restart",phase="Pending"} 0x120
			kruise_containerrecreaterequest_status_phase{namespace="shop",containerrecreaterequest="restart",phase="Completed"} 1x120`, nil},

		{"a CloneSet whose third pod does not become ready", `
			kruise_cloneset_status_replicas_expected_updated{namespace="shop",cloneset="web"} 5x60
			kruise_cloneset_status_replicas_updated{namespace="shop",cloneset="web"} 0 1 2 3x57
			kruise_cloneset_status_replicas_updated_ready{namespace="shop",cloneset="web"} 0 0 1 2x57
			kruise_cloneset_spec_paused{namespace="shop",cloneset="web"} 0x60`,
			map[int]string{21: "", 22: `CloneSetRolloutStuck{cloneset="web", namespace="shop"}`}},
		{"a CloneSet that updates a pod every eight minutes", `
			kruise_cloneset_status_replicas_expected_updated{namespace="shop",cloneset="web"} 5x40
			kruise_cloneset_status_replicas_updated{namespace="shop",cloneset="web"} 0x7 1x7 2x7 3x7 4x7 5x3
			kruise_cloneset_status_replicas_updated_ready{namespace="shop",cloneset="web"} 0x7 0x7 1x7 2x7 3x7 5x3`, nil},
		{"a CloneSet that is paused", `
			kruise_cloneset_status_replicas_expected_updated{namespace="shop",cloneset="web"} 5x60
			kruise_cloneset_status_replicas_updated{namespace="shop",cloneset="web"} 2x60
			kruise_cloneset_status_replicas_updated_ready{namespace="shop",cloneset="web"} 2x60
			kruise_cloneset_spec_paused{namespace="shop",cloneset="web"} 1x60`, nil},
		{"a CloneSet that begins to update after a long time", `
			kruise_cloneset_status_replicas_expected_updated{namespace="shop",cloneset="web"} 5x60
			kruise_cloneset_status_replicas_updated{namespace="shop",cloneset="web"} 5x30 0x9 5x20
			kruise_cloneset_status_replicas_updated_ready{namespace="shop",cloneset="web"} 5x30 0x9 5x20`, nil},

		{"a StatefulSet whose pod is not ready above the partition", `
			kruise_statefulset_spec_replicas{namespace="shop",statefulset="db"} 5x60
			kruise_statefulset_spec_strategy_rollingupdate_partition{namespace="shop",statefulset="db"} 3x60
			kruise_statefulset_spec_strategy_type{namespace="shop",statefulset="db",type="OnDelete"} 0x60
			kruise_statefulset_status_replicas_updated{namespace="shop",statefulset="db"} 2x60
			kruise_statefulset_status_replicas_updated_ready{namespace="shop",statefulset="db"} 1x60`,
			map[int]string{9: "", 10: `StatefulSetRolloutStuck{namespace="shop", statefulset="db"}`}},
		{"a StatefulSet whose pods users delete", `
			kruise_statefulset_spec_replicas{namespace="shop",statefulset="db"} 5x60
			kruise_statefulset_spec_strategy_rollingupdate_partition{namespace="shop",statefulset="db"} 0x60
			kruise_statefulset_spec_strategy_type{namespace="shop",statefulset="db",type="OnDelete"} 1x60
			kruise_statefulset_status_replicas_updated{namespace="shop",statefulset="db"} 2x60
			kruise_statefulset_status_replicas_updated_ready{namespace="shop",statefulset="db"} 2x60`, nil},
		{"a StatefulSet that is paused", `
			kruise_statefulset_spec_replicas{namespace="shop",statefulset="db"} 5x60
			kruise_statefulset_spec_strategy_rollingupdate_partition{namespace="shop",statefulset="db"} 0x60
			kruise_statefulset_spec_paused{namespace="shop",statefulset="db"} 1x60
			kruise_statefulset_status_replicas_updated{namespace="shop",statefulset="db"} 2x60
			kruise_statefulset_status_replicas_updated_ready{namespace="shop",statefulset="db"} 2x60`, nil},
		{"a StatefulSet that updates a pod every eight minutes", `
			kruise_statefulset_spec_replicas{namespace="shop",statefulset="db"} 5x60
			kruise_statefulset_spec_strategy_rollingupdate_partition{namespace="shop",statefulset="db"} 0x60
			kruise_statefulset_status_replicas_updated{namespace="shop",statefulset="db"} 0x7 1x7 2x7 3x7 4x7 5x3
			kruise_statefulset_status_replicas_updated_ready{namespace="shop",statefulset="db"} 0x7 0x7 1x7 2x7 3x7 5x3`, nil},

		{"a DaemonSet that stops at a node", `
			kruise_daemonset_status_desired_number_scheduled{namespace="infra",daemonset="agent"} 9x60
			kruise_daemonset_spec_strategy_rollingupdate_partition{namespace="infra",daemonset="agent"} 2x60
			kruise_daemonset_spec_strategy_type{namespace="infra",daemonset="agent",type="OnDelete"} 0x60
			kruise_daemonset_status_updated_number_scheduled{namespace="infra",daemonset="agent"} 6x60`,
			map[int]string{9: "", 10: `DaemonSetRolloutStuck{daemonset="agent", namespace="infra"}`}},
		{"a DaemonSet that stops at its partition", `
			kruise_daemonset_status_desired_number_scheduled{namespace="infra",daemonset="agent"} 9x60
			kruise_daemonset_spec_strategy_rollingupdate_partition{namespace="infra",daemonset="agent"} 2x60
			kruise_daemonset_status_updated_number_scheduled{namespace="infra",daemonset="agent"} 7x60`, nil},
		{"a DaemonSet whose partition is a percentage", `
			kruise_daemonset_status_desired_number_scheduled{namespace="infra",daemonset="agent"} 9x60
			kruise_daemonset_spec_strategy_rollingupdate_partition{namespace="infra",daemonset="agent"} 0.5x60
			kruise_daemonset_status_updated_number_scheduled{namespace="infra",daemonset="agent"} 4x60`, nil},
		{"a DaemonSet that is paused", `
			kruise_daemonset_status_desired_number_scheduled{namespace="infra",daemonset="agent"} 9x60
			kruise_daemonset_spec_strategy_rollingupdate_partition{namespace="infra",daemonset="agent"} 0x60
			kruise_daemonset_spec_paused{namespace="infra",daemonset="agent"} 1x60
			kruise_daemonset_status_updated_number_scheduled{namespace="infra",daemonset="agent"} 6x60`, nil},
		{"a DaemonSet whose pods users delete", `
			kruise_daemonset_status_desired_number_scheduled{namespace="infra",daemonset="agent"} 9x60
			kruise_daemonset_spec_strategy_rollingupdate_partition{namespace="infra",daemonset="agent"} 0x60
			kruise_daemonset_spec_strategy_type{namespace="infra",daemonset="agent",type="OnDelete"} 1x60
			kruise_daemonset_status_updated_number_scheduled{namespace="infra",daemonset="agent"} 6x60`, nil},
		{"a DaemonSet that updates a node every eight minutes", `
			kruise_daemonset_status_desired_number_scheduled{namespace="infra",daemonset="agent"} 4x60
			kruise_daemonset_spec_strategy_rollingupdate_partition{namespace="infra",daemonset="agent"} 0x60
			kruise_daemonset_status_updated_number_scheduled{namespace="infra",daemonset="agent"} 0x7 1x7 2x7 3x7 4x7`, nil},

		{"a budget that allows nothing", `
			kruise_podunavailablebudget_status_unavailable_allowed{namespace="shop",podunavailablebudget="web"} 1 0x80
			kruise_podunavailablebudget_status_total_replicas{namespace="shop",podunavailablebudget="web"} 5x81`,
			map[int]string{60: "", 61: `BudgetExhausted{namespace="shop", podunavailablebudget="web"}`}},
		{"a budget that allows something now and then", `
			kruise_podunavailablebudget_status_unavailable_allowed{namespace="shop",podunavailablebudget="web"} 0x40 1 0x40
			kruise_podunavailablebudget_status_total_replicas{namespace="shop",podunavailablebudget="web"} 5x81`, nil},
		{"a budget without pods", `
			kruise_podunavailablebudget_status_unavailable_allowed{namespace="shop",podunavailablebudget="web"} 0x80
			kruise_podunavailablebudget_status_total_replicas{namespace="shop",podunavailablebudget="web"} 0x80`, nil},

		{"a pod without its sidecars, as two managers see it", `
			podwright_sidecarset_missed_pods{sidecarset="log",pod="manager-1"} 0 1x20
			podwright_sidecarset_missed_pods{sidecarset="log",pod="manager-2"} 0 1x20`,
			map[int]string{5: "", 6: `SidecarSetGap{sidecarset="log"}`}},

		{"a node that cannot pull", `
			kruise_imagepulljob_status_failed{namespace="infra",imagepulljob="ahead"} 0 1x20`,
			map[int]string{5: "", 6: `ImagePullJobFailing{imagepulljob="ahead", namespace="infra"}`}},

		{"an image of a list that a node cannot pull", `
			kruise_imagelistpulljob_status_completed{namespace="infra",imagelistpulljob="daily"} 0 2x20
			kruise_imagelistpulljob_status_succeeded{namespace="infra",imagelistpulljob="daily"} 0 1x20`,
			map[int]string{5: "", 6: `ImageListPullJobFailing{imagelistpulljob="daily", namespace="infra"}`}},
		{"a request that no controller sees", `
			kruise_containerrecreaterequest_created{namespace="shop",containerrecreaterequest="restart"} 0x30`,
			map[int]string{9: "", 10: `ContainerRecreateRequestPending{containerrecreaterequest="restart", namespace="shop"}`}},
		{"a request that no agent begins", `
			kruise_containerrecreaterequest_created{namespace="shop",containerrecreaterequest="restart"} 0x30
			kruise_containerrecreaterequest_status_phase{namespace="shop",containerrecreaterequest="restart",phase="Pending"} 1x30
			kruise_containerrecreaterequest_status_phase{namespace="shop",containerrecreaterequest="restart",phase="Recreating"} 0x30`,
			map[int]string{9: "", 10: `ContainerRecreateRequestPending{containerrecreaterequest="restart", namespace="shop"}`}},
		{"a request that a node agent begins", `
			kruise_containerrecreaterequest_created{namespace="shop",containerrecreaterequest="restart"} 0x30
			kruise_containerrecreaterequest_status_phase{namespace="shop",containerrecreaterequest="restart",phase="Pending"} 1x8 0x21
			kruise_containerrecreaterequest_status_phase{namespace="shop",containerrecreaterequest="restart",phase="Recreating"} 0x8 1x21`, nil},

		{"a CloneSet that a pod holds up", `
			kruise_cloneset_status_held_up_since{customresource_kind="CloneSet",namespace="shop",cloneset="web",reason="Image"} _ 60x80`,
			map[int]string{61: "", 62: `HeldUp{cloneset="web", customresource_kind="CloneSet", namespace="shop", reason="Image"}`}},
		{"a CloneSet that is held up by one thing after the other", `
			kruise_cloneset_status_held_up_since{customresource_kind="CloneSet",namespace="shop",cloneset="web",reason="Image"} 0x50
			kruise_cloneset_status_held_up_since{customresource_kind="CloneSet",namespace="shop",cloneset="web",reason="CrashLoop"} _x50 3060x50`, nil},
		{"a CloneSet that was paused for a day", `
			kruise_cloneset_status_held_up_since{customresource_kind="CloneSet",namespace="shop",cloneset="web",reason="Paused"} 0x110`, nil},
		{"managers of which none leads", `
			kruise_manager_is_leader{pod="manager-1"} 1x10 0x60
			kruise_manager_is_leader{pod="manager-2"} 0x71`,
			map[int]string{15: "", 16: `ManagerAbsent{}`}},
		{"managers that take turns", `
			kruise_manager_is_leader{pod="manager-1"} 1x10 0x110
			kruise_manager_is_leader{pod="manager-2"} 0x13 1x107`, nil},
		{"a controller that fails once in three times", `
			podwright_stale_sync_skips_total{controller="cloneset-controller",instance="a"} 0x90
			controller_runtime_reconcile_total{controller="cloneset-controller",instance="a",result="success"} 0+40x90
			controller_runtime_reconcile_total{controller="cloneset-controller",instance="a",result="error"} 0+20x90
			controller_runtime_reconcile_errors_total{controller="cloneset-controller",instance="a"} 0+20x90`,
			map[int]string{15: "", 16: `ReconcileErrors{controller="cloneset-controller"}`}},
		{"a controller that fails seldom, and one of another program", `
			podwright_stale_sync_skips_total{controller="cloneset-controller",instance="a"} 0x90
			controller_runtime_reconcile_total{controller="cloneset-controller",instance="a",result="success"} 0+60x90
			controller_runtime_reconcile_errors_total{controller="cloneset-controller",instance="a"} 0+2x90
			controller_runtime_reconcile_total{controller="certificate",instance="b",result="error"} 0+20x90
			controller_runtime_reconcile_errors_total{controller="certificate",instance="b"} 0+20x90`, nil},
		{"a node that cannot pull what a NodeImage has", `
			kruise_nodeimage_status_failed{nodeimage="node-1"} 0 2x30`,
			map[int]string{15: "", 16: `NodeImageFailing{nodeimage="node-1"}`}},
		{"scheduled times that are missed", `
			podwright_advancedcronjob_missed_total{pod="manager-1"} 0x10 3x90`,
			map[int]string{10: "", 11: `AdvancedCronJobMissed{}`}},
		{"probes that no agent runs", `
			kruise_nodepodprobe_pod_info{nodepodprobe="node-1",namespace="shop",pod="web-0"} 1x60
			podwright_podprobe_runs_total{instance="node-1",result="Succeeded"} 0+6x20 120x40`,
			map[int]string{38: "", 39: `NodePodProbeSilent{}`}},
		{"probes that agents run whom Prometheus does not scrape", `
			kruise_nodepodprobe_pod_info{nodepodprobe="node-1",namespace="shop",pod="web-0"} 1x60`, nil},
		{"an object without a namespace", `
			kruise_sidecarset_status_held_up_since{customresource_kind="SidecarSet",sidecarset="log",reason="NotReady"} 0x110`,
			map[int]string{60: "", 61: `HeldUp{customresource_kind="SidecarSet", reason="NotReady", sidecarset="log"}`}},
		{"an object whose reason is no label", `
			kruise_resourcedistribution_status_held_up_since{customresource_kind="ResourceDistribution",resourcedistribution="ca"} 0x110`,
			map[int]string{60: "", 61: `HeldUp{customresource_kind="ResourceDistribution", resourcedistribution="ca"}`}},
		{"a subset that is held up", `
			kruise_workloadspread_subset_held_up_since{customresource_kind="WorkloadSpread",namespace="shop",workloadspread="web",subset="a",reason="Unschedulable"} 0x110`,
			map[int]string{60: "", 61: `SubsetHeldUp{customresource_kind="WorkloadSpread", namespace="shop", reason="Unschedulable", subset="a", workloadspread="web"}`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := fired(t, tt.series)
			if tt.want == nil && len(got) > 0 {
				t.Errorf("fired %v", got)
			}
			for minute, want := range tt.want {
				if diff := cmp.Diff(want, strings.Join(got[minute], " ")); diff != "" {
					t.Errorf("in minute %d (-want +got):\n%s", minute, diff)
				}
			}
		})
	}
}

// Each kind that says in conditions what holds it up has an alert for that.
func TestHeldUpOfEachKind(t *testing.T) {
	var asked []string
	for _, group := range decode[rulefmt.RuleGroups](t, "alerts.yaml").Groups {
		for _, rule := range group.Rules {
			asked = append(asked, names(t, rule.Expr)...)
		}
	}
	found := 0
	for _, r := range configured(t) {
		for _, m := range r.Metrics {
			if name := *r.MetricNamePrefix + "_" + m.Name; strings.HasSuffix(name, "_held_up_since") {
				if found++; !slices.Contains(asked, name) {
					t.Errorf("no alert asks for %s", name)
				}
			}
		}
	}
	if found < 12 {
		t.Errorf("%d metrics say since when something is held up, there were 12", found)
	}
}

// Every alert asks for what exists, and some scenario of TestAlerts has it fire.
func TestAlertsAskForWhatExists(t *testing.T) {
	source, err := os.ReadFile("alerts_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, group := range decode[rulefmt.RuleGroups](t, "alerts.yaml").Groups {
		for _, rule := range group.Rules {
			checkExpression(t, rule.Alert, rule.Expr)
			if !strings.Contains(string(source), ": `"+rule.Alert+"{") {
				t.Errorf("no scenario has %s fire", rule.Alert)
			}
		}
	}
}

// Each alert names its section of the runbook, and each section is of an alert.
func TestRunbook(t *testing.T) {
	page, err := os.ReadFile("RUNBOOK.md")
	if err != nil {
		t.Fatal(err)
	}
	sections := map[string]bool{}
	for line := range strings.Lines(string(page)) {
		if name, is := strings.CutPrefix(strings.TrimSpace(line), "## "); is {
			sections[name] = true
		}
	}
	for _, group := range decode[rulefmt.RuleGroups](t, "alerts.yaml").Groups {
		for _, rule := range group.Rules {
			_, anchor, _ := strings.Cut(rule.Annotations["runbook_url"], "/examples/monitoring/RUNBOOK.md#")
			if anchor != strings.ToLower(rule.Alert) || !sections[rule.Alert] {
				t.Errorf("the runbook of %s is %q; sections %v", rule.Alert, rule.Annotations["runbook_url"], sections)
			}
			delete(sections, rule.Alert)
		}
	}
	if len(sections) > 0 {
		t.Errorf("no alert leads to %v", sections)
	}
}

// Each kind has an alert that asks for one of its metrics, or the manager or an agent measures it.
func TestAlertOfEachKind(t *testing.T) {
	var asked []string
	for _, group := range decode[rulefmt.RuleGroups](t, "alerts.yaml").Groups {
		for _, rule := range group.Rules {
			asked = append(asked, names(t, rule.Expr)...)
		}
	}
	for _, r := range configured(t) {
		kind := strings.TrimPrefix(*r.MetricNamePrefix, "kruise_")
		if !slices.ContainsFunc(asked, func(name string) bool {
			return strings.HasPrefix(name, *r.MetricNamePrefix+"_") || strings.HasPrefix(name, "podwright_"+kind+"_")
		}) {
			t.Errorf("no alert is about %s", kind)
		}
	}
}

// fired returns which alerts fire in which minutes of two hours, as Prometheus has it.
func fired(t *testing.T, series string) map[int][]string {
	t.Helper()
	for line := range strings.Lines(strings.TrimSpace(series)) {
		checkExpression(t, "series", strings.Fields(line)[0])
	}
	if !strings.Contains(series, "kruise_manager_is_leader") {
		series += "\n\t\t\tkruise_manager_is_leader{pod=\"manager-1\"} 1x120"
	}
	db := promqltest.LoadedStorage(t, "load 1m"+series)
	engine := promqltest.NewTestEngine(t, false, 0, promqltest.DefaultMaxSamplesPerQuery)
	var log bytes.Buffer
	manager := rules.NewManager(&rules.ManagerOptions{
		Context: t.Context(), QueryFunc: rules.EngineQueryFunc(engine, db), AppendableV2: db, Queryable: db,
		NotifyFunc: func(context.Context, string, ...*rules.Alert) {}, Logger: slog.New(slog.NewTextHandler(&log, nil)),
		Parser: parser.NewParser(parser.Options{}), NameValidationScheme: model.UTF8Validation,
	})
	groups, errs := manager.LoadGroups(time.Minute, labels.EmptyLabels(), "", nil, false, "alerts.yaml")
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	all := map[int][]string{}
	for minute := range 120 {
		for _, group := range groups {
			group.Eval(t.Context(), time.Unix(0, 0).Add(time.Duration(minute)*time.Minute))
			for _, rule := range group.Rules() {
				if err := rule.LastError(); err != nil {
					t.Fatalf("%s: %v", rule.Name(), err)
				}
				for _, alert := range rule.(*rules.AlertingRule).ActiveAlerts() {
					if alert.State == rules.StateFiring {
						all[minute] = append(all[minute], rule.Name()+alert.Labels.MatchLabels(false, "alertname", "severity", "__name__").String())
					}
					if name := alert.Labels.Get(strings.ToLower(alert.Labels.Get("customresource_kind"))); !strings.Contains(alert.Annotations.Get("summary"), name) {
						t.Errorf("%s says %q of %s", rule.Name(), alert.Annotations.Get("summary"), name)
					}
					for key, text := range alert.Annotations.Map() {
						if key != "runbook_url" && (strings.ContainsAny(text, "<>{}") || strings.Contains(text, " /") || strings.Contains(text, "/ ") || strings.Contains(text, "  ")) {
							t.Errorf("%s says %q", rule.Name(), text)
						}
					}
				}
			}
		}
	}
	for _, fired := range all {
		slices.Sort(fired)
	}
	if log.Len() > 0 {
		t.Errorf("Prometheus says %s", &log)
	}
	return all
}
