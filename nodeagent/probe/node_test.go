// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/internal/testing/fakecri"
	"github.com/podwright/podwright/internal/testing/fakecri/agents"
	"github.com/podwright/podwright/lifecycle/client"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/nodeagent"
)

// node is a node with a NodePodProbe, and the agent.
type node struct {
	*agents.Node
	probes  client.NodePodProbeInterface
	options Options
	agent   Controller

	lock sync.Mutex
	// codes are the exit codes of commands, by container and command, "main-1 idle", or by the container alone. -1 does not end. The runtime
	// refuses -2.
	codes map[string]int32
	// counts says that commands print how many there were; otherwise they print words that must not be seen if they are hidden.
	counts bool
	count  int
}

// newNode returns a node whose NodePodProbe asks for what the changes say.
func newNode(t *testing.T, changes ...change) *node {
	t.Helper()
	server := fakecluster.New(nil, fakecluster.CustomResource(v1alpha1.SchemeGroupVersion.WithKind("PodProbeMarker"), "podprobemarkers"),
		fakecluster.Resource{GroupVersionKind: v1alpha1.SchemeGroupVersion.WithKind("NodePodProbe"), Name: "nodepodprobes", ClusterScoped: true, Status: true, Generation: true})
	n := &node{Node: agents.NewNode(t, "node-1", server, nil), codes: map[string]int32{}}
	n.Runtime.Command = n.command
	n.probes = fixture.Connect(t, server, "test", client.NewForConfig).NodePodProbes()
	n.create(changes...)
	return n
}

func (n *node) create(changes ...change) {
	n.Helper()
	made := newNodePodProbe(changes...)
	made.UID = ""
	_, err := n.probes.Create(n.Context(), made, metav1.CreateOptions{})
	n.Must(err)
}

// start starts the agent.
func (n *node) start() {
	n.Helper()
	o := n.options
	o.Runtime, o.Node, o.Recorders = agents.Connect(n.T, n.Runtime), n.Name, n.Events.Of
	o.Lifecycle = fixture.Connect(n.T, n.Server, n.User(), client.NewForConfig)
	o.NodePodProbes = NewInformer(o.Lifecycle, n.Name)
	var err error
	n.agent, err = New(o)
	n.Must(err)
	n.Run(o.NodePodProbes, nil, n.agent.Run)
}

// run starts the container main of a pod.
func (n *node) run(pod string) {
	namespace, pod := in(pod)
	n.Runtime.Create(fakecri.Container{SandboxID: "sandbox-" + pod, Status: &criv1.ContainerStatus{
		Metadata: &criv1.ContainerMetadata{Name: "main"},
		Labels: map[string]string{nodeagent.ContainerNameLabel: "main", nodeagent.PodNameLabel: pod,
			nodeagent.PodNamespaceLabel: namespace, nodeagent.PodUIDLabel: "uid-" + pod},
	}})
}

// exits sets the exit code of a command in a container from now on, as "main-1 idle".
func (n *node) exits(command string, code int) {
	n.lock.Lock()
	defer n.lock.Unlock()
	n.codes[command] = int32(code)
}

// command answers a command with the exit code that is set for it.
func (n *node) command(ctx context.Context, c fakecri.Container, command []string) (*criv1.ExecSyncResponse, error) {
	n.lock.Lock()
	code := cmp.Or(n.codes[c.Status.Id+" "+strings.Join(command, " ")], n.codes[c.Status.Id])
	n.count++
	count, counts := n.count, n.counts
	n.lock.Unlock()
	if counts {
		return &criv1.ExecSyncResponse{Stdout: fmt.Appendf(nil, "run %d", count)}, nil
	}
	switch code {
	case -1:
		<-ctx.Done()
		return nil, status.Error(codes.DeadlineExceeded, "secret: timeout")
	case -2:
		return nil, status.Error(codes.Unknown, "secret: no such file")
	}
	return &criv1.ExecSyncResponse{ExitCode: code, Stdout: []byte("secret on stdout"), Stderr: []byte("secret on stderr")}, nil
}

// edit changes what is asked for, as the manager does.
func (n *node) edit(changes ...change) {
	n.Helper()
	of := n.nodePodProbe()
	for _, c := range changes {
		c(of)
	}
	_, err := n.probes.Update(n.Context(), of, metav1.UpdateOptions{})
	n.Must(err)
	synctest.Wait()
}

func (n *node) nodePodProbe() *v1alpha1.NodePodProbe {
	n.Helper()
	of, err := n.probes.Get(n.Context(), n.Name, metav1.GetOptions{})
	n.Must(err)
	return of
}

// status is what is reported, in a line.
func (n *node) status() string {
	n.Helper()
	return strings.Join(shownStatus(&n.nodePodProbe().Status), "; ")
}
