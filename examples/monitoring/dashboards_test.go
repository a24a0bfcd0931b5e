// SPDX-License-Identifier: Apache-2.0

package monitoring

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The dashboards, one for each area. What is shown of an object comes from kube-state-metrics, what no object says from
// manager and node agents.
var boards = []board{
	{name: "workloads", title: "Workloads", panels: slices.Concat([]panel{
		one("CloneSets: pods that are missing", "none",
			`kruise_cloneset_spec_replicas{namespace=~"$namespace"} - kruise_cloneset_status_replicas_available > 0`, "{{namespace}}/{{cloneset}}"),
		one("CloneSets: pods to update", "none",
			`kruise_cloneset_status_replicas_expected_updated{namespace=~"$namespace"} - kruise_cloneset_status_replicas_updated_ready > 0`, "{{namespace}}/{{cloneset}}"),
		one("StatefulSets: pods that are missing", "none",
			`kruise_statefulset_spec_replicas{namespace=~"$namespace"} - kruise_statefulset_status_replicas_available > 0`, "{{namespace}}/{{statefulset}}"),
		one("StatefulSets: pods to update", "none",
			`kruise_statefulset_spec_replicas{namespace=~"$namespace"} - kruise_statefulset_spec_strategy_rollingupdate_partition - kruise_statefulset_status_replicas_updated_ready > 0`, "{{namespace}}/{{statefulset}}"),
		one("DaemonSets: nodes without an available pod", "none",
			`kruise_daemonset_status_number_unavailable{namespace=~"$namespace"} > 0`, "{{namespace}}/{{daemonset}}"),
		one("DaemonSets: nodes to update", "none",
			`kruise_daemonset_status_desired_number_scheduled{namespace=~"$namespace"} - kruise_daemonset_spec_strategy_rollingupdate_partition - kruise_daemonset_status_updated_number_scheduled > 0`, "{{namespace}}/{{daemonset}}"),
		{"UnitedDeployments: pods of subsets", "none", []query{
			{`kruise_uniteddeployment_subset_replicas{namespace=~"$namespace"}`, "{{namespace}}/{{uniteddeployment}} {{subset}}, wanted"},
			{`podwright_uniteddeployment_subset_replicas_ready{namespace=~"$namespace"}`, "{{namespace}}/{{name}} {{subset}}, ready"}}},
		{"BroadcastJobs: nodes", "none", []query{
			{`kruise_broadcastjob_status_active{namespace=~"$namespace"} > 0`, "{{namespace}}/{{broadcastjob}}, active"},
			{`kruise_broadcastjob_status_failed{namespace=~"$namespace"} > 0`, "{{namespace}}/{{broadcastjob}}, failed"}}},
		one("AdvancedCronJobs: time since the last job", "s",
			`time() - kruise_advancedcronjob_status_last_schedule_time{namespace=~"$namespace"}`, "{{namespace}}/{{advancedcronjob}}"),
		{"AdvancedCronJobs: delay and missed times", "none", []query{
			{`histogram_quantile(0.99, sum by (le) (rate(podwright_advancedcronjob_creation_delay_seconds_bucket[$__rate_interval])))`, "99% of delays, in seconds"},
			{`sum(increase(podwright_advancedcronjob_missed_total[$__rate_interval]))`, "missed"}}},
		heldUp("cloneset", "statefulset", "daemonset", "uniteddeployment", "broadcastjob"),
	}, controllers("cloneset", "statefulset", "daemonset", "uniteddeployment", "broadcastjob", "advancedcronjob"))},

	{name: "sidecar", title: "Sidecars", cluster: true, panels: slices.Concat([]panel{
		one("Pods without their sidecars", "none", `max by (sidecarset) (podwright_sidecarset_missed_pods)`, "{{sidecarset}}"),
		one("Pods to update", "none", `kruise_sidecarset_status_matched_pods - kruise_sidecarset_status_updated_pods > 0`, "{{sidecarset}}"),
		one("Pods", "none", `kruise_sidecarset_status_matched_pods`, "{{sidecarset}}"),
		one("Updated pods that are not ready", "none", `kruise_sidecarset_status_updated_pods - kruise_sidecarset_status_updated_ready_pods > 0`, "{{sidecarset}}"),
		{"New pods", "ops", []query{
			{`sum by (sidecarset) (rate(podwright_sidecarset_injected_total[$__rate_interval]))`, "{{sidecarset}}"},
			{`sum(rate(podwright_sidecarset_refused_pods_total[$__rate_interval]))`, "refused"}}},
		one("Time of an injection, 99%", "s", `histogram_quantile(0.99, sum by (le) (rate(podwright_sidecarset_injection_seconds_bucket[$__rate_interval])))`, "injection"),
		one("Jobs: time from the end of the main container, 99%", "s",
			`histogram_quantile(0.99, sum by (le) (rate(podwright_sidecarterminator_main_exit_to_complete_seconds_bucket[$__rate_interval])))`, "to the end of the pod"),
		heldUp("sidecarset"),
	}, controllers("sidecarset", "sidecarterminator"))},

	{name: "availability", title: "Availability", panels: slices.Concat([]panel{
		one("Pods that may be disrupted", "none", `kruise_podunavailablebudget_status_unavailable_allowed{namespace=~"$namespace"}`, "{{namespace}}/{{podunavailablebudget}}"),
		one("Pods that are missing", "none",
			`kruise_podunavailablebudget_status_desired_available{namespace=~"$namespace"} - kruise_podunavailablebudget_status_current_available > 0`, "{{namespace}}/{{podunavailablebudget}}"),
		one("Denied", "ops",
			`sum by (namespace, podunavailablebudget, operation) (rate(podwright_podunavailablebudget_decisions_total{namespace=~"$namespace",result="denied"}[$__rate_interval]))`,
			"{{namespace}}/{{podunavailablebudget}} {{operation}}"),
		one("Time of an answer, 99%", "s",
			`histogram_quantile(0.99, sum by (operation, le) (rate(podwright_podunavailablebudget_decision_seconds_bucket[$__rate_interval])))`, "{{operation}}"),
		heldUp("podunavailablebudget"),
	}, controllers("podunavailablebudget"))},

	{name: "distribution", title: "Distribution", panels: slices.Concat([]panel{
		one("WorkloadSpreads: pods of subsets", "none", `kruise_workloadspread_subset_replicas{namespace=~"$namespace"}`, "{{namespace}}/{{workloadspread}} {{subset}}"),
		one("WorkloadSpreads: pods that subsets take", "none", `kruise_workloadspread_subset_missing{namespace=~"$namespace"} >= 0`, "{{namespace}}/{{workloadspread}} {{subset}}"),
		one("WorkloadSpreads: subsets that take no pods", "none", `kruise_workloadspread_subset_schedulable{namespace=~"$namespace"} == 0`, "{{namespace}}/{{workloadspread}} {{subset}}"),
		one("ResourceDistributions: namespaces without their copy", "none", `kruise_resourcedistribution_status_failed > 0`, "{{resourcedistribution}}"),
		{"PersistentPodStates: pods", "none", []query{
			{`kruise_persistentpodstate_status_lost{namespace=~"$namespace"} > 0`, "{{namespace}}/{{persistentpodstate}}, lost"},
			{`podwright_persistentpodstate_pods_refused{namespace=~"$namespace"} > 0`, "{{namespace}}/{{name}}, no room"}}},
		one("WorkloadSpreads: subsets that are held up, for how long", "s", `time() - kruise_workloadspread_subset_held_up_since{namespace=~"$namespace"}`, "{{namespace}}/{{workloadspread}} {{subset}}: {{reason}}"),
		heldUp("resourcedistribution", "persistentpodstate"),
	}, controllers("workloadspread", "resourcedistribution", "persistentpodstate"))},

	{name: "lifecycle", title: "Lifecycle", panels: slices.Concat([]panel{
		one("ContainerRecreateRequests by phase", "none",
			`sum by (phase) (kruise_containerrecreaterequest_status_phase{namespace=~"$namespace"})`, "{{phase}}"),
		one("ContainerRecreateRequests: time since they were made", "s",
			`time() - kruise_containerrecreaterequest_created{namespace=~"$namespace"} unless on (namespace, containerrecreaterequest) kruise_containerrecreaterequest_status_completion_time`,
			"{{namespace}}/{{containerrecreaterequest}}"),
		{"EphemeralJobs: pods", "none", []query{
			{`kruise_ephemeraljob_status_waiting{namespace=~"$namespace"} > 0`, "{{namespace}}/{{ephemeraljob}}, waiting"},
			{`kruise_ephemeraljob_status_running{namespace=~"$namespace"} > 0`, "{{namespace}}/{{ephemeraljob}}, running"},
			{`kruise_ephemeraljob_status_failed{namespace=~"$namespace"} > 0`, "{{namespace}}/{{ephemeraljob}}, failed"}}},
		one("EphemeralJobs: injections", "ops", `sum by (result) (rate(podwright_ephemeraljob_injections_total[$__rate_interval]))`, "{{result}}"),
		one("PodProbeMarkers: pods", "none", `kruise_podprobemarker_status_matched_pods{namespace=~"$namespace"}`, "{{namespace}}/{{podprobemarker}}"),
		one("Pods that nodes probe", "none", `count by (nodepodprobe) (kruise_nodepodprobe_pod_info)`, "{{nodepodprobe}}"),
		heldUp("ephemeraljob", "podprobemarker"),
	}, controllers("containerrecreaterequest", "ephemeraljob", "podprobemarker", "nodepodprobe", "pod-readiness", "container-launch-priority"))},

	{name: "nodes", title: "Images and node agents", panels: slices.Concat([]panel{
		{"ImagePullJobs: nodes", "none", []query{
			{`kruise_imagepulljob_status_active{namespace=~"$namespace"} > 0`, "{{namespace}}/{{imagepulljob}}, active"},
			{`kruise_imagepulljob_status_failed{namespace=~"$namespace"} > 0`, "{{namespace}}/{{imagepulljob}}, failed"}}},
		one("ImageListPullJobs: images done", "percentunit",
			`kruise_imagelistpulljob_status_succeeded{namespace=~"$namespace"} / (kruise_imagelistpulljob_status_desired > 0)`, "{{namespace}}/{{imagelistpulljob}}"),
		one("ImagePullJobs: done", "percentunit",
			`kruise_imagepulljob_status_succeeded{namespace=~"$namespace"} / (kruise_imagepulljob_status_desired > 0)`, "{{namespace}}/{{imagepulljob}}"),
		one("Images that nodes pull", "none", `kruise_nodeimage_status_pulling > 0`, "{{nodeimage}}"),
		one("Images that nodes could not pull", "none", `kruise_nodeimage_status_failed > 0`, "{{nodeimage}}"),
		one("Runs of probes", "ops", `sum by (result) (rate(podwright_podprobe_runs_total[$__rate_interval]))`, "{{result}}"),
		one("Time of a probe, 99%", "s", `histogram_quantile(0.99, sum by (le) (rate(podwright_podprobe_run_seconds_bucket[$__rate_interval])))`, "probe"),
		one("Node agents: what waits", "none", `sum by (name) (workqueue_depth{name=~"image_puller|containerrecreaterequest|containerrecreaterequest_answers|pod_probe|runtime_container_meta|runtime_container_meta_restarter"})`, "{{name}}"),
	}, controllers("imagepulljob", "imagelistpulljob", "nodeimage"))},
}

// heldUp shows for how long objects of some kinds have been held up, and why.
func heldUp(kinds ...string) panel {
	p := panel{title: "Held up, for how long", unit: "s"}
	for _, kind := range kinds {
		of, filter := "{{namespace}}/{{"+kind+"}}", `{namespace=~"$namespace"}`
		if kind == "sidecarset" || kind == "resourcedistribution" {
			of, filter = "{{"+kind+"}}", ""
		}
		if kind != "resourcedistribution" {
			of += ": {{reason}}"
		}
		p.queries = append(p.queries, query{"time() - kruise_" + kind + "_status_held_up_since" + filter, of})
	}
	return p
}

// controllers returns how controllers do, by their names, of which each ends with "-controller".
func controllers(names ...string) []panel {
	all := `"(` + strings.Join(names, "|") + `)-controller"`
	return []panel{
		{"Controllers: reconciles", "ops", []query{
			{`sum by (controller) (rate(controller_runtime_reconcile_total{controller=~` + all + `}[$__rate_interval]))`, "{{controller}}"},
			{`sum by (controller) (rate(controller_runtime_reconcile_errors_total{controller=~` + all + `}[$__rate_interval])) > 0`, "{{controller}}, failed"},
			{`sum by (controller) (rate(podwright_stale_sync_skips_total{controller=~` + all + `}[$__rate_interval])) > 0`, "{{controller}}, put off"}}},
		one("Controllers: time of a reconcile, 99%", "s",
			`histogram_quantile(0.99, sum by (controller, le) (rate(controller_runtime_reconcile_time_seconds_bucket{controller=~`+all+`}[$__rate_interval])))`, "{{controller}}"),
		one("Controllers: objects that wait", "none", `sum by (name) (workqueue_depth{name=~`+all+`})`, "{{name}}"),
		one("Managers that lead: one, or nothing works", "none", `sum(kruise_manager_is_leader)`, "leaders"),
	}
}

// allBoards returns the dashboards, with one of the kinds that none of the others shows, if there are any.
func allBoards(t *testing.T) []board {
	if panels := further(t); len(panels) > 0 {
		return append(boards[:len(boards):len(boards)], board{name: "further", title: "Further kinds", cluster: true, panels: panels})
	}
	return boards
}

// Every area has its dashboard, and nothing else is there.
func TestDashboards(t *testing.T) {
	var want []string
	for _, b := range allBoards(t) {
		data, err := b.render()
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join("dashboards", b.name+".json")
		golden(t, file, data)
		want = append(want, file)
	}
	slices.Sort(want)
	got, err := filepath.Glob("dashboards/*")
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v (%v), want %v", got, err, want)
	}
}

var legendLabel = regexp.MustCompile(`\{\{(.*?)\}\}`)

// Every query asks for what exists, and what a line is called by is there to be called by.
func TestDashboardsAskForWhatExists(t *testing.T) {
	shown := map[string]bool{}
	for _, b := range allBoards(t) {
		for _, p := range b.panels {
			for _, q := range p.queries {
				expr := strings.ReplaceAll(q.expr, "$__rate_interval", "5m")
				where := b.name + ", " + p.title
				if b.cluster && strings.Contains(expr, "$namespace") {
					t.Errorf("%s: there is no variable $namespace", where)
				}
				checkExpression(t, where, expr)
				result := resultLabels(t, expr)
				for _, label := range legendLabel.FindAllStringSubmatch(q.legend, -1) {
					if !slices.Contains(result, label[1]) {
						t.Errorf("%s: the legend %q is about a label that results do not have, which are %v", where, q.legend, result)
					}
				}
				for _, name := range names(t, expr) {
					shown[name] = true
				}
			}
		}
	}
	for _, r := range configured(t) {
		used := false
		for name := range shown {
			used = used || strings.HasPrefix(name, *r.MetricNamePrefix+"_")
		}
		if !used {
			t.Errorf("no dashboard shows anything of %s", r.GroupVersionKind.Kind)
		}
	}
}
