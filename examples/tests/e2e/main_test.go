// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/podwright/podwright/availability"
	"github.com/podwright/podwright/distribution"
	"github.com/podwright/podwright/examples/tests/cluster"
	"github.com/podwright/podwright/examples/tests/testbed"
	"github.com/podwright/podwright/lifecycle"
	"github.com/podwright/podwright/sidecar"
	"github.com/podwright/podwright/workloads"
	"github.com/podwright/podwright/workloads/client"
)

// bed is a control plane with a manager, and clients of it.
type bed struct {
	*testbed.Testbed
	workloads client.Interface
}

// steady is what all tests share but those of TestFaults. None of them holds up a part of it.
var steady *bed

// gates are those of all managers.
const gates = "SidecarTerminator=true,ResourceDistributionGate=true,StatefulSetAutoResizePVCGate=true" + virtualNodes

func TestMain(m *testing.M) {
	options := testbed.Options{Parallel: 24, Audit: true, FeatureGates: gates, ManagerFlags: []string{"--resourcedistribution-sources"},
		Flags: slices.Concat(withPolicies, protectedCRDs, withPDBs, withQueue, withAdaptiveScheduling), Unused: map[string]map[string]string{testbed.ManagerProgram: unusedRules}}
	testbed.Main(m, options, func(ctx context.Context, b *testbed.Testbed) (err error) {
		if steady, err = newBed(ctx, b); err != nil {
			return err
		}
		// The garbage collector looks for kinds that are new when it starts, and then every 30 seconds.
		return b.Control.Restart(ctx, cluster.ControllerManager)
	})
}

// newBed returns when the API server has heard of the CRDs and of the webhooks.
func newBed(ctx context.Context, t *testbed.Testbed) (*bed, error) {
	workloads, err := client.NewForConfig(t.Config())
	if err != nil {
		return nil, err
	}
	b := &bed{t, workloads}
	if err := b.webhooksAreCalled(ctx); err != nil {
		return b, err
	}
	return b, b.kindsAreServed(ctx)
}

// kindsAreServed waits for the CRDs: webhooks are called while the manager still installs them.
func (b *bed) kindsAreServed(ctx context.Context) error {
	objects, err := dynamic.NewForConfig(b.Config())
	if err != nil {
		return err
	}
	for _, definition := range slices.Concat(workloads.CRDs(), distribution.CRDs(), lifecycle.CRDs(), sidecar.CRDs(), availability.CRDs()) {
		err := testbed.Repeat(ctx, "the CRD "+definition.GetName(), func() error {
			resource := schema.ParseGroupResource(definition.GetName())
			_, err := objects.Resource(resource.WithVersion("v1alpha1")).List(ctx, metav1.ListOptions{Limit: 1})
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (b *bed) webhooksAreCalled(ctx context.Context) error {
	return testbed.Repeat(ctx, "the webhooks to be called", func() error {
		set, err := b.workloads.CloneSets("default").Create(ctx, cloneSet("asked", 1),
			metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err == nil && set.Spec.RevisionHistoryLimit == nil {
			err = fmt.Errorf("a CloneSet without defaults: %+v", set.Spec)
		}
		return err
	})
}

// TestFaults runs the tests that hold up a manager or a part of the control plane, or have another manager, one after the other.
// There are two rows of them, each on a control plane of its own, while all other tests run on the steady one.
func TestFaults(t *testing.T) {
	for name, row := range map[string][]fault{"Managers": faultsOfManagers, "Parts": faultsOfParts} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := anotherBed(t)
			for _, fault := range row {
				t.Run(fault.name, func(t *testing.T) { fault.run(t, b) })
			}
		})
	}
}

// fault is a test that leaves no part of a control plane to other tests while it runs.
type fault struct {
	name string
	run  func(*testing.T, *bed)
}

// Managers that are killed, replaced or taken over from.
var faultsOfManagers = []fault{
	{"ManagerIsKilledWhileAPodIsOutOfService", testManagerIsKilledWhileAPodIsOutOfService},
	{"DaemonSetsOutliveTheManager", testDaemonSetsOutliveTheManager},
	{"TheOtherManagerTakesOver", testTheOtherManagerTakesOver},
	{"PodsAreCreatedWithoutAManager", testPodsAreCreatedWithoutAManager},
	{"JobsOutliveTheManager", testJobsOutliveTheManager},
	{"SidecarSetPoliciesOutliveTheManager", testSidecarSetPoliciesOutliveTheManager},
	{"PodsAreMissed", testPodsAreMissed},
	{"TakeOver", testTakeOver},
	{"StatefulSetTakeOver", testStatefulSetTakeOver},
}

// Agents, webhooks and what a manager is started with.
var faultsOfParts = []fault{
	{"ContainerRecreateRequestOfAPodThatIsGone", testContainerRecreateRequestOfAPodThatIsGone},
	{"NodeWithoutAgent", testNodeWithoutAgent},
	{"AgentsAreHeldToTheirNodes", testAgentsAreHeldToTheirNodes},
	{"ReadinessGateOfAllPods", testReadinessGateOfAllPods},
	{"CertificatesAreLost", testCertificatesAreLost},
	{"DeletionIsProtected", testDeletionIsProtected},
	{"PodDisruptionBudgets", testPodDisruptionBudgets},
	{"ManyDisruptionsAtOnce", testManyDisruptionsAtOnce},
	{"AdaptiveScheduling", testAdaptiveScheduling},
}

func anotherBed(t *testing.T) *bed {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testbed.Patience)
	defer cancel()
	another, err := steady.Another(ctx)
	if err != nil {
		t.Fatal(err)
	}
	b, err := newBed(ctx, another)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// revive makes sure at the end of a test that the next one finds a manager at work.
func (s *fixture[T]) revive() {
	s.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), testbed.Patience)
	defer cancel()
	var err error
	if !s.Manager.Running() {
		err = s.Manager.Start()
	}
	if err = errors.Join(err, s.webhooksAreCalled(ctx)); err != nil {
		s.Errorf("the manager at the end of the test: %v", err)
	}
}
