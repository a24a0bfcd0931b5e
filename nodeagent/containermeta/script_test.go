// SPDX-License-Identifier: Apache-2.0

package containermeta

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/internal/testing/fakecri"
)

// TestStories plays what happens to the pods of a node, each file on a node of its own. Shown is what is reported of each pod: the
// containers with their IDs, restarts and hashes. Then come the agent's requests and calls of the runtime, and events, since the last
// line. To accept a change of behaviour, run the test with -rewrite and read the difference.
//
//	pod web-0                     has the kubelet run a pod with main, which has a variable from the annotation version, and side. Further
//	                              words are those of testdata/words.yaml
//	start [workers=1], stop       starts and stops the agent
//	update web-0 2                begins an update in place that changes the annotation version; "lines" stands for the value above
//	patch web-0 status            changes the pod by the merge patch that follows
//	replace web-0                 deletes the pod and creates it again
//	end side-2                    ends a container
//	kubelet web-0                 has the kubelet start containers that have ended
//	sleep 10s                     lets time pass
//	ends-after main-1 20s         how long a container takes to end
//	hooks 4s 1                    how long hooks take, and with what they exit
//	silent zeros                  the runtime tells no environments, and the container tells its own with zero bytes, with lines, or not (none)
//	uncounted                     of requests and calls only the number of stops is shown: goroutines decide which pods have their turn
//	fail-stops, down, up          has the runtime fail to stop containers; be away, and back
//	fail-writes, lose-answers     has the API server refuse writes of the agent, or lose its answers to them; "heal" ends it
func TestStories(t *testing.T) {
	datadriven.Walk(t, "testdata/stories", func(t *testing.T, path string) {
		play(t, func(n *node) {
			datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
				t.Helper()
				var args []string
				for _, a := range d.CmdArgs {
					args = append(args, a.String())
				}
				n.do(d, args)
				return n.show()
			})
		})
	})
}

// show shows what there is, and what has happened since the last time.
func (n *node) show() string {
	n.Helper()
	pods, err := n.kube.CoreV1().Pods("default").List(n.Context(), metav1.ListOptions{})
	n.Must(err)
	var lines []string
	for i := range pods.Items {
		line := pods.Items[i].Name
		if !n.complete(line) {
			line += ", in an update"
		}
		lines = append(lines, line)
		for _, container := range n.report(pods.Items[i].Name) {
			lines = append(lines, "    "+container)
		}
	}
	lines = append(lines, n.happened()...)
	n.events.Forget()
	if len(lines) == 0 {
		return "nothing\n"
	}
	return strings.Join(lines, "\n") + "\n"
}

// happened shows stops, hooks, requests and calls, and events since the last time.
func (n *node) happened() (lines []string) {
	stops := 0
	for _, call := range n.runtime.Calls() {
		if strings.HasPrefix(call, "StopContainer ") || strings.HasPrefix(call, "ExecSync ") {
			stops++
			lines = append(lines, call)
		}
	}
	about := n.events.About()
	if sent := n.sent(); n.uncounted {
		lines = []string{fmt.Sprint(stops, " stops")}
	} else {
		lines = append(lines, sent...)
		for _, pod := range about[n.told:] {
			lines = append(lines, fmt.Sprintf("about %s %s %s", pod.Name, pod.UID, pod.FieldPath))
		}
	}
	n.told = len(about)
	return append(lines, n.events.All()...)
}

// lineBreaks is a value with line breaks and blanks.
const lineBreaks = " 1\nB=2 \n"

// do does what a line of a script says.
func (n *node) do(d *datadriven.TestData, args []string) {
	n.Helper()
	switch d.Cmd {
	case "pod":
		n.create(newPod(args[0], args[1:]...))
	case "start":
		for _, arg := range args {
			_, value, _ := strings.Cut(arg, "=")
			workers, err := strconv.Atoi(value)
			n.Must(err)
			n.options.Workers, n.options.RestartWorkers = workers, workers
		}
		n.start()
	case "stop":
		n.Stop()
	case "update":
		n.update(args[0], strings.ReplaceAll(args[1], "lines", lineBreaks))
	case "patch":
		n.patch(args[0], d.Input, args[1:]...)
	case "replace":
		n.Must(n.kube.CoreV1().Pods("default").Delete(n.Context(), args[0], *metav1.NewDeleteOptions(0)))
		n.create(newPod(args[0]))
	case "end":
		n.runtime.End(args[0], 1)
	case "kubelet":
		n.sync(args[0])
	case "sleep":
		n.sleep(args[0])
	case "uncounted":
		n.uncounted = true
	case "ends-after":
		n.runtime.SetEndsAfter(args[0], n.duration(args[1]))
	default:
		n.spoil(d.Cmd, args)
	}
}

func (n *node) duration(text string) time.Duration {
	n.Helper()
	d, err := time.ParseDuration(text)
	n.Must(err)
	return d
}

// spoil has hooks, the runtime or the API server do something else from now on.
func (n *node) spoil(command string, args []string) {
	n.Helper()
	switch command {
	case "hooks":
		takes := n.duration(args[0])
		n.runtime.Command = func(context.Context, fakecri.Container, []string) (*criv1.ExecSyncResponse, error) {
			time.Sleep(takes)
			return &criv1.ExecSyncResponse{ExitCode: int32(len(args) - 1)}, nil
		}
	case "silent":
		n.runtime.Silent = true
		n.runtime.Command = map[string]func(context.Context, fakecri.Container, []string) (*criv1.ExecSyncResponse, error){
			"zeros": fakecri.Env, "none": fakecri.NoCommand, "lines": envOfLines}[args[0]]
	case "fail-stops":
		n.runtime.FailWith(func(method string) error {
			if method == "StopContainer" {
				return fixture.ErrInternal
			}
			return nil
		})
	case "down", "up":
		n.runtime.SetDown(command == "down")
	case "fail-writes", "lose-answers", "heal":
		fail := func(err error) func(fakecluster.Request) error {
			return func(r fakecluster.Request) error {
				if r.User == agentUser && r.Verb == "patch" {
					return err
				}
				return nil
			}
		}
		n.Server.FailBefore(fail(map[string]error{"fail-writes": fixture.ErrInternal}[command]))
		n.Server.FailAfter(fail(map[string]error{"lose-answers": fixture.ErrLost}[command]))
	default:
		n.Fatalf("no such line: %s", command)
	}
}

// envOfLines is an env that knows no -0.
func envOfLines(ctx context.Context, c fakecri.Container, command []string) (*criv1.ExecSyncResponse, error) {
	if len(command) > 1 {
		return &criv1.ExecSyncResponse{ExitCode: 1, Stderr: []byte("env: invalid option -- '0'")}, nil
	}
	return fakecri.Env(ctx, c, command)
}
