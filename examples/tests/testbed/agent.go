// SPDX-License-Identifier: Apache-2.0

package testbed

import (
	"context"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/examples/tests/cluster"
)

// Agent is the agent of a real node, which can be killed and started again.
type Agent struct {
	*process
	Node *cluster.RealNode
}

// AgentAccount returns the account of the agents, held to their nodes by policies. Its own token names no node, and so may
// write nothing: see cluster.Bound.
func (b *Testbed) AgentAccount(ctx context.Context) (*cluster.Account, error) {
	if err := b.identify(ctx, AgentProgram); err != nil {
		return nil, err
	}
	return b.identities[AgentProgram].Account, nil
}

// NewAgent returns an agent of a real node, not yet started, whose token is bound to the node. The arguments win over those that
// every agent here is given.
func (b *Testbed) NewAgent(ctx context.Context, node *cluster.RealNode, arguments ...string) (*Agent, error) {
	object, err := b.Core.CoreV1().Nodes().Get(ctx, node.Name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	account, err := b.Control.Bound(ctx, b.identities[AgentProgram].Account,
		&authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Node", Name: object.Name, UID: object.UID})
	if err != nil {
		return nil, err
	}
	ports, err := freePorts(1)
	if err != nil {
		return nil, err
	}
	arguments = append([]string{
		"--kubeconfig=" + account.Kubeconfig, "--node-name=" + node.Name, "--cri-endpoint=" + node.CRISocket,
		"--health-addr=" + ports[0], "-v=2",
	}, arguments...)
	return &Agent{process: b.newProcess(AgentProgram, "agent-"+node.Name, ports[0], arguments), Node: node}, nil
}

// startAgents starts an agent on every real node. That of the first reads its pods from the kubelet, the others from the API
// server.
func (b *Testbed) startAgents(ctx context.Context) error {
	if len(b.Control.RealNodes()) == 0 {
		return nil
	}
	if _, err := b.AgentAccount(ctx); err != nil {
		return err
	}
	for i, node := range b.Control.RealNodes() {
		var arguments []string
		if i == 0 {
			arguments = []string{"--pods=kubelet", "--kubelet-pods-socket=" + node.PodsSocket}
		}
		agent, err := b.NewAgent(ctx, node, arguments...)
		if err != nil {
			return err
		}
		if err := agent.Start(); err != nil {
			return err
		}
		b.Agents = append(b.Agents, agent)
	}
	return nil
}
