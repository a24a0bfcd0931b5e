// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
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
	*testing.T
	name    string
	api     *fakecluster.Server
	probes  client.NodePodProbeInterface
	runtime *fakecri.Runtime
	events  fixture.Recorder
	guard   fakecluster.Guard
	options Options
	agent   Controller
	stop    func() // the agent

	lock sync.Mutex
	// codes are the exit codes of commands, by container and command, "main-1 idle"; -1 does not end, -2 is refused by the runtime.
	codes map[string]int32
	// counts says that commands print how many there were; otherwise they print words that must not be seen if they are hidden.
	counts bool
	count  int
}

func newNode(t *testing.T, name string, api *fakecluster.Server) *node {
	t.Helper()
	n := &node{T: t, name: name, api: api, runtime: fakecri.New(nil), stop: func() {}, codes: map[string]int32{}}
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
		n.must(err)
		story(n)
		n.stop()
		n.must(n.guard.Check())
	})
}

func (n *node) must(err error) {
	n.Helper()
	if err != nil {
		n.Fatal(err)
	}
}

// user is the user that the agent is for the API server.
func (n *node) user() string { return "agent of " + n.name }

// start starts the agent.
func (n *node) start() {
	n.Helper()
	runtime, err := nodeagent.NewRuntime(n.Context(), n.runtime.Conn(), "unix:///run/test.sock")
	n.must(err)
	o := n.options
	o.Runtime, o.Node, o.Recorders = runtime, n.name, n.events.Of
	o.Lifecycle = fixture.Connect(n.T, n.api, n.user(), client.NewForConfig)
	o.NodePodProbes = NewInformer(o.Lifecycle, n.name)
	n.must(o.NodePodProbes.SetTransform(n.guard.Transform(nil)))
	n.agent, err = New(o)
	n.must(err)
	ctx, cancel := context.WithCancel(n.Context())
	var running sync.WaitGroup
	running.Go(func() { o.NodePodProbes.RunWithContext(ctx) })
	running.Go(func() {
		if err := n.agent.Run(ctx); err != nil {
			n.Error(err)
		}
	})
	n.stop = func() {
		cancel()
		running.Wait()
		n.stop = func() {}
	}
}

func (n *node) sleep(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
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
	n.must(err)
	synctest.Wait()
}

func nothing(n *v1alpha1.NodePodProbe) { n.Spec.PodProbes = nil }

func (n *node) nodePodProbe() *v1alpha1.NodePodProbe {
	n.Helper()
	of, err := n.probes.Get(n.Context(), n.name, metav1.GetOptions{})
	n.must(err)
	return of
}

// expect compares what is reported.
func (n *node) expect(what string, want ...string) {
	n.Helper()
	n.want(what, want, shownStatus(&n.nodePodProbe().Status))
}

func (n *node) want(what string, want, got []string) {
	n.Helper()
	if len(want) == 0 && len(got) == 0 {
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		n.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// sent lists the requests of the agent but lists and watches, as "n verb resource", and forgets them.
func (n *node) sent() (out []string) {
	count := n.api.Count(n.user())
	n.api.ForgetRequests()
	for _, what := range slices.Sorted(maps.Keys(count)) {
		if !strings.HasPrefix(what, "list ") && !strings.HasPrefix(what, "watch ") {
			out = append(out, fmt.Sprint(count[what], " ", what))
		}
	}
	return out
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
