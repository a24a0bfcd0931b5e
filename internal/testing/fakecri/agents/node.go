// SPDX-License-Identifier: Apache-2.0

// Package agents plays stories of the agent of a node, in virtual time: with an API server and a container runtime in memory.
package agents

import (
	"context"
	"testing"
	"testing/synctest"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/internal/testing/fakecri"
	"github.com/podwright/podwright/nodeagent"
)

// Node is a node in memory: a container runtime, and an API server that it may share with other nodes. The agent does not run yet.
type Node struct {
	*fixture.Bubble
	Name    string
	Kube    kubernetes.Interface // the test's
	Runtime *fakecri.Runtime
	Events  *fixture.Recorder
	// Uncounted has stories not show the requests of the agent, and what events are about.
	Uncounted bool

	told      []string
	about     int // how many objects there were that events are about, when they were shown
	stopAgent func()
}

// NewNode returns a node whose runtime has a clock; nil stands for the real one.
func NewNode(t *testing.T, name string, server *fakecluster.Server, c clock.WithTicker) *Node {
	t.Helper()
	n := &Node{Bubble: &fixture.Bubble{T: t, Server: server}, Name: name, Runtime: fakecri.New(c), Events: &fixture.Recorder{}, stopAgent: func() {}}
	n.Kube = n.Kubernetes("test")
	return n
}

// Play plays a story of a node, and stops what runs then.
func Play[N interface{ Stop() }](t *testing.T, newNode func(*testing.T) N, story func(N)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		n := newNode(t)
		story(n)
		n.Stop()
	})
}

// User is who the agent is for the API server.
func (n *Node) User() string { return "agent of " + n.Name }

// Connect is the agent's connection to the runtime.
func Connect(t testing.TB, runtime *fakecri.Runtime) *nodeagent.Runtime {
	t.Helper()
	connection, err := nodeagent.NewRuntime(t.Context(), runtime.Conn(), "unix:///run/test.sock")
	if err != nil {
		t.Fatal(err)
	}
	runtime.ForgetCalls()
	return connection
}

// Run runs the agent with its informer, whose cache is guarded, until StopAgent.
func (n *Node) Run(informer cache.SharedIndexInformer, trim cache.TransformFunc, run func(context.Context) error) {
	n.Helper()
	n.Guarded(informer, trim)
	n.stopAgent = n.Go(fixture.Informing(informer), run)
}

// StopAgent stops the agent, and waits for it.
func (n *Node) StopAgent() { n.stopAgent() }

// Tell has stories show lines, before all else.
func (n *Node) Tell(lines ...string) { n.told = append(n.told, lines...) }
