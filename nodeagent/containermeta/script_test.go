// SPDX-License-Identifier: Apache-2.0

package containermeta

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecri"
	"github.com/podwright/podwright/internal/testing/fakecri/agents"
)

// TestStories plays what happens to the pods of a node: see agents.PlayStories. Shown is what is reported of each pod: the
// containers with their IDs, restarts and hashes; and how many calls of the runtime there were. If requests are "uncounted", the number of stops
// alone is.
//
//	pod web-0                     has the kubelet run a pod with main, which has a variable from the annotation version, and side. Further
//	                              words are those of testdata/words.yaml
//	update web-0 2                begins an update in place that changes the annotation version; "lines" stands for the value above
//	patch web-0 status            changes the pod by the merge patch that follows
//	replace web-0                 deletes the pod and creates it again
//	kubelet web-0                 has the kubelet start containers that have ended
//	silent zeros                  the runtime tells no environments, and the container tells its own with zero bytes, with lines, or not (none)
//	reconcile web-0               reconciles once more, and tells whether the pod is remembered (CT-12), and planned for
func TestStories(t *testing.T) {
	agents.PlayStories(t, "testdata/stories", func(t *testing.T) *agents.Story {
		n := newNode(t, fakecluster.New(nil))
		return &agents.Story{Node: n.Node, Show: n.pods, Calls: n.calls,
			Start: func(workers int) {
				n.options.Workers, n.options.RestartWorkers = workers, workers
				n.start()
			},
			Further: map[string]func([]string, string){
				"pod":     func(words []string, _ string) { n.create(newPod(words[0], words[1:]...)) },
				"update":  func(words []string, _ string) { n.update(words[0], strings.ReplaceAll(words[1], "lines", lineBreaks)) },
				"patch":   func(words []string, text string) { n.patch(words[0], text, words[1:]...) },
				"kubelet": func(words []string, _ string) { n.sync(words[0]) },
				"replace": func(words []string, _ string) {
					n.Must(n.Kube.CoreV1().Pods("default").Delete(n.Context(), words[0], *metav1.NewDeleteOptions(0)))
					n.create(newPod(words[0]))
				},
				"silent": func(words []string, _ string) {
					n.Runtime.Silent = true
					n.Runtime.Command = map[string]func(context.Context, fakecri.Container, []string) (*criv1.ExecSyncResponse, error){
						"zeros": fakecri.Env, "none": fakecri.NoCommand, "lines": envOfLines}[words[0]]
				},
				"reconcile": func(words []string, _ string) {
					n.reconcile(types.NamespacedName{Namespace: "default", Name: words[0]})
				},
			}}
	})
}

// pods shows all pods.
func (n *node) pods() (lines []string) {
	n.Helper()
	pods, err := n.Kube.CoreV1().Pods("default").List(n.Context(), metav1.ListOptions{})
	n.Must(err)
	for i := range pods.Items {
		lines = append(lines, n.show(&pods.Items[i])...)
	}
	return lines
}

// calls shows stops and hooks, and how many calls there were.
func (n *node) calls(all []string) (lines []string) {
	count := map[string]int{}
	for _, call := range all {
		method, _, _ := strings.Cut(call, " ")
		if count[method]++; method == "StopContainer" || method == "ExecSync" {
			lines = append(lines, call)
		}
	}
	if n.Uncounted {
		return []string{fmt.Sprint(len(lines), " stops")}
	}
	for _, method := range slices.Sorted(maps.Keys(count)) {
		lines = append(lines, fmt.Sprint(count[method], " ", method))
	}
	return lines
}

func (n *node) reconcile(pod types.NamespacedName) {
	n.Helper()
	after, err := n.agent.Reconcile(n.Context(), pod)
	n.Must(err)
	s, err := n.agent.Snapshot(n.Context(), pod)
	n.Must(err)
	plan, err := n.agent.Plan(n.Context(), pod)
	n.Must(err)
	n.Tell(fmt.Sprintf("again %t, remembered %t, planned for %t", after > 0, s != nil, plan != nil))
}

// lineBreaks is a value with line breaks and blanks.
const lineBreaks = " 1\nB=2 \n"

// envOfLines is an env that knows no -0.
func envOfLines(ctx context.Context, c fakecri.Container, command []string) (*criv1.ExecSyncResponse, error) {
	if len(command) > 1 {
		return &criv1.ExecSyncResponse{ExitCode: 1, Stderr: []byte("env: invalid option -- '0'")}, nil
	}
	return fakecri.Env(ctx, c, command)
}
