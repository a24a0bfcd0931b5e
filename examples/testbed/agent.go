// SPDX-License-Identifier: Apache-2.0

package testbed

import (
	"context"

	"github.com/podwright/podwright/examples/cluster"
)

// Agent is the agent of a real node, which can be killed and started again.
type Agent struct {
	*process
	Node *cluster.RealNode
	// Health is the address on which it serves /healthz, /readyz and /metrics.
	Health string
}

// NewAgent returns an agent of a real node, not yet started. The arguments win over those that every agent here is given.
func (b *Testbed) NewAgent(node *cluster.RealNode, arguments ...string) (*Agent, error) {
	ports, err := freePorts(1)
	if err != nil {
		return nil, err
	}
	arguments = append([]string{
		"--kubeconfig=" + b.identities[AgentProgram].Kubeconfig, "--node-name=" + node.Name, "--cri-endpoint=" + node.CRISocket,
		"--health-addr=" + ports[0], "-v=2",
	}, arguments...)
	return &Agent{process: b.newProcess(AgentProgram, "agent-"+node.Name, arguments), Node: node, Health: ports[0]}, nil
}

// startAgents starts an agent on every real node. That of the first reads its pods from the kubelet, the others from the API
// server.
func (b *Testbed) startAgents(ctx context.Context) error {
	if len(b.Control.RealNodes()) == 0 {
		return nil
	}
	if err := b.identify(ctx, AgentProgram); err != nil {
		return err
	}
	for i, node := range b.Control.RealNodes() {
		var arguments []string
		if i == 0 {
			arguments = []string{"--pods=kubelet", "--kubelet-pods-socket=" + node.PodsSocket}
		}
		agent, err := b.NewAgent(node, arguments...)
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
