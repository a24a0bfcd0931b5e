// SPDX-License-Identifier: Apache-2.0

// Package monitoring holds what a Prometheus and a Grafana need to watch what podwright runs:
//
//   - customresourcestate.yaml has kube-state-metrics show every kind, under names that users of kruise-state-metrics
//     know or expect; rbac.yaml is what kube-state-metrics may read for that.
//   - alerts.yaml is a file of rules for Prometheus.
//   - dashboards has one dashboard for each area.
//
// Install them like this:
//
//	kubectl apply -f rbac.yaml # and bind it to the ServiceAccount of kube-state-metrics
//	kube-state-metrics --custom-resource-state-config-file=customresourcestate.yaml
//	promtool check rules alerts.yaml
//
// Prometheus scrapes kube-state-metrics with honorLabels, as always, and the manager and node agents of the examples.
//
// # Names
//
// kruise_cloneset_spec_replicas and kruise_cloneset_status_replicas are names of kruise-state-metrics, and so are
// kruise_workloadspread_subset_replicas and kruise_workloadspread_subset_missing. All other names are formed in the same
// way: kruise_, the kind, and a name of kube-state-metrics. That is what it calls the same field of a Deployment, a
// StatefulSet, a DaemonSet, a Job or a CronJob (kruise_daemonset_status_number_ready as
// kube_daemonset_status_number_ready). If kruise-state-metrics has another name, a line in customresourcestate.yaml is
// what there is to change. kube-state-metrics itself adds the labels customresource_group, customresource_version and
// customresource_kind.
//
// What no object says, the manager and the agents measure: names that begin with podwright_. testdata/manager.txt and
// testdata/nodeagent.txt list what they register.
//
// # Tests
//
// This is a module of its own, since Prometheus asks for newer versions of what Kubernetes needs than the Kubernetes that
// the other examples run. Its tests run kube-state-metrics' own code over an object of each kind, and Prometheus' own
// over the alerts. They hold every path to the CRDs and every name in a query to what exists.
package monitoring
