// SPDX-License-Identifier: Apache-2.0

package probe

import (
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
	"github.com/podwright/podwright/lifecycle/client"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/nodeagent"
)

var (
	markerResource = fakecluster.CustomResource(v1alpha1.SchemeGroupVersion.WithKind("PodProbeMarker"), "podprobemarkers")
	probesResource = fakecluster.Resource{GroupVersionKind: v1alpha1.SchemeGroupVersion.WithKind("NodePodProbe"), Name: "nodepodprobes", ClusterScoped: true, Status: true, Generation: true}
)

// node is a node in memory, in virtual time: a container runtime and the agent,
// and an API server that it may share with others.
type node struct {
	*fixture.Bubble
	name    string
	probes  client.NodePodProbeInterface
	runtime *fakecri.Runtime
	events  fixture.Recorder
	options Options
	agent   Controller

	lock sync.Mutex
	// codes are the exit codes of commands, by container and command, "main-1 idle"; -1 does not end, -2 is refused by the runtime.
	codes map[string]int32
	// counts says that commands print how many there were; otherwise they print words that must not be seen if they are hidden.
	counts bool
	count  int
}

func newNode(t *testing.T, name string, api *fakecluster.Server) *node {
	t.Helper()
	n := &node{Bubble: &fixture.Bubble{T: t, Server: api}, name: name, runtime: fakecri.New(nil), codes: map[string]int32{}}
	n.runtime.Command = n.command
	n.probes = fixture.Connect(t, api, "test", client.NewForConfig).NodePodProbes()
	return n
}

// play plays a story on a node whose agent does not run yet. Its NodePodProbe asks
// for what the changes say.
func play(t *testing.T, story func(*node), changes ...change) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		n := newNode(t, "node-1", fakecluster.New(nil, markerResource, probesResource))
		made := newNodePodProbe(changes...)
		made.UID, made.Status = "", v1alpha1.NodePodProbeStatus{}
		_, err := n.probes.Create(n.Context(), made, metav1.CreateOptions{})
		n.Must(err)
		story(n)
		n.Stop()
	})
}

// user is the user that the agent is for the API server.
func (n *node) user() string { return "agent of " + n.name }

// start starts the agent.
func (n *node) start() {
	n.Helper()
	runtime, err := nodeagent.NewRuntime(n.Context(), n.runtime.Conn(), "unix:///run/test.sock")
	n.Must(err)
	o := n.options
	o.Runtime, o.Node, o.Recorders = runtime, n.name, n.events.Of
	o.Lifecycle = fixture.Connect(n.T, n.Server, n.user(), client.NewForConfig)
	o.NodePodProbes = NewInformer(o.Lifecycle, n.name)
	n.Guarded(o.NodePodProbes, nil)
	n.agent, err = New(o)
	n.Must(err)
	n.Go(fixture.Informing(o.NodePodProbes), n.agent.Run)
}

// run starts a container of a pod, and returns its ID.
func (n *node) run(pod, container string) string {
	namespace, pod := in(pod)
	return n.runtime.Create(fakecri.Container{SandboxID: "sandbox-" + pod, Status: &criv1.ContainerStatus{
		Metadata: &criv1.ContainerMetadata{Name: container},
		Labels: map[string]string{nodeagent.ContainerNameLabel: container, nodeagent.PodNameLabel: pod,
			nodeagent.PodNamespaceLabel: namespace, nodeagent.PodUIDLabel: "uid-" + pod},
	}})
}

// exits sets the exit code of a command in a container from now on.
func (n *node) exits(container, command string, code int32) {
	n.lock.Lock()
	defer n.lock.Unlock()
	n.codes[container+" "+command] = code
}

// command answers a command with the exit code that is set for it.
func (n *node) command(ctx context.Context, c fakecri.Container, command []string) (*criv1.ExecSyncResponse, error) {
	n.lock.Lock()
	code := n.codes[c.Status.Id+" "+strings.Join(command, " ")]
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

func nothing(n *v1alpha1.NodePodProbe) { n.Spec.PodProbes = nil }

func (n *node) nodePodProbe() *v1alpha1.NodePodProbe {
	n.Helper()
	of, err := n.probes.Get(n.Context(), n.name, metav1.GetOptions{})
	n.Must(err)
	return of
}

// execs counts the commands that the runtime was asked to run, and forgets all calls.
func (n *node) execs() (count int) {
	for _, call := range n.runtime.Calls() {
		if strings.HasPrefix(call, "ExecSync ") {
			count++
		}
	}
	n.runtime.ForgetCalls()
	return count
}
