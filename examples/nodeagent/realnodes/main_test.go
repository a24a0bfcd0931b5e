// SPDX-License-Identifier: Apache-2.0

package realnodes

import (
	"context"
	"errors"
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/examples/tests/cluster"
	"github.com/podwright/podwright/examples/tests/testbed"
	lifecycleclient "github.com/podwright/podwright/lifecycle/client"
	workloadsclient "github.com/podwright/podwright/workloads/client"
)

// What all tests share. Tests that hold up an agent or a part of a node are not
// parallel, so they run before all others, one by one.
var (
	bed       *testbed.Testbed
	images    client.Interface
	lifecycle lifecycleclient.Interface
	workloads workloadsclient.Interface
)

// unused has no reason for a right of the agent: these tests need them all.
var unused = map[string]map[string]string{testbed.AgentProgram: {}}

func TestMain(m *testing.M) {
	testbed.Main(m, testbed.Options{
		RealNodes: 2, Audit: true, Unused: unused, FeatureGates: "PreDownloadImageForInPlaceUpdate=true,SidecarTerminator=true,InPlaceWorkloadVerticalScaling=true" + nativeSidecars,
		Flags: []string{pullPods},
	}, func(ctx context.Context, b *testbed.Testbed) (err error) {
		bed = b
		config := b.Config()
		if images, err = client.NewForConfig(config); err != nil {
			return err
		}
		if lifecycle, err = lifecycleclient.NewForConfig(config); err != nil {
			return err
		}
		if workloads, err = workloadsclient.NewForConfig(config); err != nil {
			return err
		}
		return agentsAreReady(ctx)
	})
}

// agentsAreReady waits until the webhooks are called and every node has an agent
// with a NodeImage.
func agentsAreReady(ctx context.Context) error {
	return testbed.Repeat(ctx, "manager and agents at work", func() error {
		for _, agent := range bed.Agents {
			if _, err := agent.Get(agent.Health, "/readyz"); err != nil {
				return err
			}
			if _, err := images.NodeImages().Get(ctx, agent.Node.Name, metav1.GetOptions{}); err != nil {
				return err
			}
		}
		set, err := workloads.CloneSets("default").Create(ctx, cloneSet("asked", "web", 1), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err == nil && set.Spec.RevisionHistoryLimit == nil {
			err = fmt.Errorf("a CloneSet without defaults: %+v", set.Spec)
		}
		return err
	})
}

// startAgain starts what a test has killed, and waits until all is ready for what comes next.
func startAgain(t *testing.T, killed ...interface{ Start() error }) {
	t.Helper()
	for _, program := range killed {
		if err := program.Start(); err != nil {
			t.Error(err)
		}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), testbed.Patience)
	defer cancel()
	if err := agentsAreReady(ctx); err != nil {
		t.Error(err)
	}
}

// restart kills a component of a real node, calls meanwhile, and starts it again, also if meanwhile ends the test.
func restart(t *testing.T, node *cluster.RealNode, component string, meanwhile func()) {
	t.Helper()
	if err := node.Kill(component); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := node.Restart(context.WithoutCancel(t.Context()), component); err != nil {
			t.Error(err)
		}
	}()
	meanwhile()
}

// restartAgent kills an agent, calls meanwhile, and starts it again, also if meanwhile ends the test.
func restartAgent(t *testing.T, agent *testbed.Agent, meanwhile func()) {
	t.Helper()
	agent.Kill()
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), testbed.Patience)
		defer cancel()
		if err := errors.Join(agent.Start(), agent.AwaitReady(ctx)); err != nil {
			t.Error(err, agent.LogTail(""))
		}
	}()
	meanwhile()
}
