// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/component-base/metrics/legacyregistry"

	"github.com/podwright/podwright/examples/kit/metrics/listed"
)

// Dashboards and alerts are held to this list.
func TestMetrics(t *testing.T) {
	workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[string]{Name: "first"}).ShutDown() // those of queues are registered with the first
	listed.Compare(t, legacyregistry.Registerer().(prometheus.Collector), "../monitoring/testdata/nodeagent.txt")
}
