// SPDX-License-Identifier: Apache-2.0

package recreate

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/datadriven"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/internal/testing/fakecri"
	"github.com/podwright/podwright/lifecycle/readiness"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// TestStories plays what happens to requests for the pods of a node, each file on a node of its own. Whatever the clock of the node
// says, the same happens at the same time: each is played with that clock ahead and behind, too. Shown are requests, the pods with the
// restarts of their containers, and the stops, commands, writes and events since the last line. To accept a change of behaviour, run
// the test with -rewrite and read the difference.
//
//	pod web-0 [hook=bye] [node=node-2]   has the kubelet run a pod with the containers main and side until it is ready
//	start [workers=1], stop              starts and stops the agent
//	manager on, manager off              starts and stops the half of the control plane, which runs at first
//	create r web-0 only=main             creates a request, of all containers if none are named. Further words are those of testdata/words.yaml
//	forge r web-0 named=main:main-1      creates one as a user does if no webhook is called; UID stands for that of the pod
//	alone shop/dns-0, static shop/etcd   has the runtime run a pod that the API server does not have
//	complete r, delete r, delete-pod web-0
//	work 10s, sleep 10s                  lets time pass, in which the kubelet works or does not
//	startup 5s                           how long containers take to be ready from now on
//	ends-after main-1 3m                 how long a container takes to end; "crash main-1" ends it, and starts it again unseen
//	hooks 4s 1                           how long hooks take from now on, and with what they exit; "hooks hang" do not end
//	fail-stop Unknown                    has the runtime fail to stop a container, once
//	down, up                             has the runtime be away, and back
//	refuse lost, refuse announcements    has the API server lose the agent's writes, or refuse those of metadata; "refuse" nothing
//	hold, release                        what the caches see of requests
//	uncounted                            writes are shown no more: how many there are is for goroutines to decide
//	replay 1.4.txt                       sends the requests of a manager that were written down; shows the status before each patch
func TestStories(t *testing.T) {
	for _, skew := range []time.Duration{0, -10 * time.Minute, 10 * time.Minute} {
		t.Run(fmt.Sprint("skew ", skew), func(t *testing.T) {
			datadriven.Walk(t, "testdata/stories", func(t *testing.T, path string) {
				playSkewed(t, skew, func(n *node) {
					n.runtime.ForgetCalls()
					datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
						t.Helper()
						var args []string
						for _, a := range d.CmdArgs {
							args = append(args, a.String())
						}
						return n.do(d.Cmd, args) + n.show()
					})
				})
			})
		})
	}
}

// show shows what there is, and what has happened since the last time.
func (n *node) show() string {
	var lines []string
	list, err := n.requests.List(n.Context(), metav1.ListOptions{})
	n.Must(err)
	for i := range list.Items {
		r := &list.Items[i]
		line := r.Name + ": " + showStatus(&r.Status)
		if announced := r.Annotations[announcement]; announced != "" {
			line += "; announced " + announced
		}
		lines = append(lines, line)
	}
	pods, err := n.Server.Pods("default")
	n.Must(err)
	for i := range pods {
		line := "pod " + pods[i].Name + ": " + strings.Join(n.restarts(pods[i].Name), ", ")
		if !readiness.Ready(&pods[i]) {
			line += ", not ready"
		}
		lines = append(lines, line)
	}
	stops, events, about := n.stops(), n.events.All(), n.events.About()
	var told []string
	for _, pod := range about[n.told:] {
		told = append(told, fmt.Sprintf("    about %s %s %s", pod.Name, pod.UID, pod.FieldPath))
	}
	if len(pods) > 1 { // goroutines decide which of them comes first
		slices.Sort(stops)
		slices.Sort(events)
		slices.Sort(told)
	}
	lines = append(lines, stops...)
	n.checkUIDs(list.Items)
	if sent := n.Sent(agentUser); !n.uncounted {
		lines = append(lines, sent...)
	}
	lines = append(append(lines, events...), told...)
	n.told = len(about)
	n.events.Forget()
	if len(lines) == 0 {
		return "nothing\n"
	}
	return strings.Join(lines, "\n") + "\n"
}

// checkUIDs checks that each patch names the UID of its request: another one may have taken the name. (CRR-5.3)
func (n *node) checkUIDs(requests []v1alpha1.ContainerRecreateRequest) {
	n.Helper()
	for _, sent := range n.Server.Requests(agentUser) {
		var patch metav1.PartialObjectMetadata
		if sent.Verb == "patch" {
			n.Must(json.Unmarshal(sent.Body, &patch))
		}
		for i := range requests {
			if r := &requests[i]; sent.Verb == "patch" && sent.Name == r.Name && sent.Namespace == r.Namespace && patch.UID != r.UID {
				n.Errorf("a patch of %s names the UID %q, want %s", r.Name, patch.UID, r.UID)
			}
		}
	}
}

// do does what a line of a script says.
func (n *node) do(command string, args []string) string {
	n.Helper()
	duration := func(text string) time.Duration {
		d, err := time.ParseDuration(text)
		n.Must(err)
		return d
	}
	switch command {
	case "pod":
		n.pod(args[0], args[1:]...)
	case "start":
		for _, arg := range args {
			workers, err := strconv.Atoi(strings.TrimPrefix(arg, "workers="))
			n.Must(err)
			n.workers = workers
		}
		n.start()
	case "stop":
		n.stopAgent()
	case "manager":
		n.stopManager()
		n.stopManager = func() {}
		if args[0] == "on" {
			n.stopManager = n.startManager()
		}
	case "create":
		n.create(args[0], args[1], args[2:]...)
	case "forge":
		for i := range args {
			if args[i] == "pod-uid=UID" {
				args[i] = "pod-uid=" + string(n.getPod(args[1]).UID)
			}
		}
		n.forge(args[0], args[1], args[2:]...)
	case "alone":
		n.alone(args[0], nil)
	case "static":
		n.alone(args[0], map[string]string{"kubernetes.io/config.source": "file"})
	case "complete":
		r := n.get(args[0])
		r.Status.Phase, r.Status.CompletionTime, r.Status.Message = completed, new(metav1.Now()), "pod has gone"
		_, err := n.requests.UpdateStatus(n.Context(), r, metav1.UpdateOptions{})
		n.Must(err)
	case "delete":
		n.Must(n.requests.Delete(n.Context(), args[0], metav1.DeleteOptions{}))
	case "delete-pod":
		n.Must(n.kube.CoreV1().Pods("default").Delete(n.Context(), args[0], *metav1.NewDeleteOptions(0)))
	case "work":
		n.work(duration(args[0]))
	case "sleep":
		n.Sleep(duration(args[0]))
	case "startup":
		n.startup = duration(args[0])
	case "ends-after":
		n.runtime.SetEndsAfter(args[0], duration(args[1]))
	case "crash":
		n.restartUnseen(args[0])
	case "uncounted":
		n.uncounted = true
	case "down", "up":
		n.runtime.SetDown(command == "down")
	case "hold":
		n.Server.Hold("containerrecreaterequests")
	case "release":
		n.Server.Release("containerrecreaterequests")
	case "replay":
		return strings.Join(n.replay(args[0]), "\n") + "\n"
	default:
		n.spoil(command, args)
	}
	n.Sleep(100 * time.Millisecond)
	return ""
}

// spoil has hooks, the runtime or the API server do something else from now on.
func (n *node) spoil(command string, args []string) {
	n.Helper()
	switch command {
	case "hooks":
		takes, err := time.ParseDuration(strings.ReplaceAll(args[0], "hang", "100h"))
		n.Must(err)
		n.runtime.Command = func(ctx context.Context, _ fakecri.Container, _ []string) (*criv1.ExecSyncResponse, error) {
			select {
			case <-ctx.Done():
			case <-time.After(takes):
			}
			return &criv1.ExecSyncResponse{ExitCode: int32(len(args) - 1)}, ctx.Err()
		}
	case "fail-stop":
		code, fails := map[string]codes.Code{"Unknown": codes.Unknown, "Unavailable": codes.Unavailable}[args[0]], true
		n.runtime.FailWith(func(method string) error {
			if method != "StopContainer" || !fails {
				return nil
			}
			fails = false
			return status.Error(code, "stuck")
		})
	case "refuse":
		forbidden := apierrors.NewForbidden(v1alpha1.Resource("containerrecreaterequests"), "r", nil)
		what := strings.Join(args, "")
		n.Server.FailBefore(func(r fakecluster.Request) error {
			switch {
			case r.User != agentUser || r.Verb != "patch":
				return nil
			case what == "lost":
				return fixture.ErrLost
			case what == "announcements" && r.Subresource == "":
				return forbidden
			}
			return nil
		})
	default:
		n.Fatalf("no such line: %s", command)
	}
}

// restartUnseen has a container end and start again, which the status of its pod
// does not say yet.
func (n *node) restartUnseen(container string) {
	n.Helper()
	n.runtime.End(container, 1)
	n.Must((&fakecri.Kubelet{Client: n.kube, Runtime: n.runtime}).Run(n.getPod("web-0")))
	n.Sleep(5 * time.Second)
}

// replay sends the requests of a manager and its webhook, as they were written down, while the node works. It returns the status
// that the agent has written before each patch.
func (n *node) replay(file string) (before []string) {
	n.Helper()
	text, err := os.ReadFile("testdata/managers/" + file)
	n.Must(err)
	for line := range strings.Lines(string(text)) {
		verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		rest = strings.NewReplacer("NOW", time.Now().UTC().Format(time.RFC3339), "UID", string(n.getPod("web-0").UID)).Replace(rest)
		switch verb {
		case "after":
			d, err := time.ParseDuration(rest)
			n.Must(err)
			n.work(d)
		case "create":
			r := &v1alpha1.ContainerRecreateRequest{}
			n.Must(json.Unmarshal([]byte(rest), r))
			_, err := n.requests.Create(n.Context(), r, metav1.CreateOptions{})
			n.Must(err)
		case "patch":
			before = append(before, showStatus(&n.get("r").Status))
			_, err := n.requests.Patch(n.Context(), "r", types.MergePatchType, []byte(rest), metav1.PatchOptions{})
			n.Must(err)
		}
		synctest.Wait()
	}
	return before
}
