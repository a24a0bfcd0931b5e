// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"flag"
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	availabilityclient "github.com/podwright/podwright/availability/client"
	distributionclient "github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/examples/tests/testbed"
	lifecycleclient "github.com/podwright/podwright/lifecycle/client"
	sidecarclient "github.com/podwright/podwright/sidecar/client"
	"github.com/podwright/podwright/workloads/client"
)

var (
	seed = flag.Uint64("seed", 0, "what chooses the faults and the changes; 0 for another one in every run")

	bed       *testbed.Testbed
	workloads client.Interface
	sidecars  sidecarclient.Interface
	budgets   availabilityclient.Interface

	distributions distributionclient.Interface
	lifecycles    lifecycleclient.Interface
)

func TestMain(m *testing.M) {
	options := testbed.Options{StartDelay: 200 * time.Millisecond, Audit: true, FeatureGates: "ResourceDistributionGate=true"}
	testbed.Main(m, options, func(ctx context.Context, b *testbed.Testbed) (err error) {
		bed = b
		config := b.Control.Config()
		config.Timeout = 10 * time.Second // also of watches, which are taken up again
		if workloads, err = client.NewForConfig(config); err != nil {
			return err
		}
		if sidecars, err = sidecarclient.NewForConfig(config); err != nil {
			return err
		}
		if budgets, err = availabilityclient.NewForConfig(config); err != nil {
			return err
		}
		if distributions, err = distributionclient.NewForConfig(config); err != nil {
			return err
		}
		if lifecycles, err = lifecycleclient.NewForConfig(config); err != nil {
			return err
		}
		return webhooksAreCalled(ctx)
	})
}

// webhooksAreCalled waits until the API server has heard of the CRDs and of the webhooks.
func webhooksAreCalled(ctx context.Context) error {
	return testbed.Repeat(ctx, "the webhooks to be called", func() error {
		set, err := workloads.StatefulSets("default").Create(ctx, statefulSet(orderedInPlace), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err == nil && set.Spec.RevisionHistoryLimit == nil {
			err = fmt.Errorf("a StatefulSet without defaults: %+v", set.Spec)
		}
		return err
	})
}
