// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/workloads/v1alpha1"
)

func TestDaemonSets(t *testing.T) {
	registry := prometheus.NewRegistry()
	d := NewDaemonSets(registry)
	agent, gone := types.NamespacedName{Namespace: "kube-system", Name: "agent"}, types.NamespacedName{Namespace: "default", Name: "gone"}
	d.Counted(gone, &v1alpha1.DaemonSetStatus{DesiredNumberScheduled: 7})
	d.Counted(agent, &v1alpha1.DaemonSetStatus{DesiredNumberScheduled: 6})
	d.Counted(agent, &v1alpha1.DaemonSetStatus{
		DesiredNumberScheduled: 5, CurrentNumberScheduled: 4, NumberReady: 3, UpdatedNumberScheduled: 2, NumberMisscheduled: 1,
	})
	NewDaemonSets(registry).Gone(gone)
	const want = `
# HELP podwright_daemonset_current_nodes Nodes that should run a pod of a DaemonSet and have one
# TYPE podwright_daemonset_current_nodes gauge
podwright_daemonset_current_nodes{daemonset="agent",namespace="kube-system"} 4
# HELP podwright_daemonset_desired_nodes Nodes that should run a pod of a DaemonSet
# TYPE podwright_daemonset_desired_nodes gauge
podwright_daemonset_desired_nodes{daemonset="agent",namespace="kube-system"} 5
# HELP podwright_daemonset_misscheduled_nodes Nodes that have a pod of a DaemonSet and should not
# TYPE podwright_daemonset_misscheduled_nodes gauge
podwright_daemonset_misscheduled_nodes{daemonset="agent",namespace="kube-system"} 1
# HELP podwright_daemonset_ready_nodes Nodes that should run a pod of a DaemonSet and have a ready one
# TYPE podwright_daemonset_ready_nodes gauge
podwright_daemonset_ready_nodes{daemonset="agent",namespace="kube-system"} 3
# HELP podwright_daemonset_updated_nodes Nodes that should run a pod of a DaemonSet and have one of the present template
# TYPE podwright_daemonset_updated_nodes gauge
podwright_daemonset_updated_nodes{daemonset="agent",namespace="kube-system"} 2
`
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want)); err != nil {
		t.Errorf("DS-19: %v", err)
	}
}
