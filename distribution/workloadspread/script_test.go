// SPDX-License-Identifier: Apache-2.0

package workloadspread

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/datadriven"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/distribution/spread"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// TestScripts plays the scenarios of testdata/scripts, each in a cluster of its own, with a controller. Shown are its writes,
// events, and then the WorkloadSpread web of the Deployment web. To accept a change of behaviour, run the test with -rewrite and
// read the difference.
//
//	spread               creates the WorkloadSpread web, with the spec in the lines that follow
//	edit                 merges the JSON that follows into it
//	deployment 5         creates the Deployment web
//	scale 3              scales it
//	replicaset 1 5       creates its ReplicaSet web-1 for 5 pods; the one with the highest number is the latest
//	pods 1 a b           creates pods of web-1, as a webhook has them assigned, which do not start
//	blind 1 a b          creates pods of web-1, as a webhook has them assigned that sees no others
//	node                 creates the node of all pods
//	plain 1 a b          creates pods of web-1 without a webhook, on a node
//	run a b              has pods be ready
//	stuck a b            has the scheduler find no node for pods
//	delete a b           deletes pods
//	wait 20s             lets time pass
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/scripts", func(t *testing.T, path string) {
		inCluster(t, func(t *testing.T, c *cluster) {
			w := &world{cluster: c, sets: map[string]metav1.OwnerReference{}}
			c.FailAfter(func(r fakecluster.Request) error {
				if r.User == fixture.ControllerUser && !slices.Contains([]string{"get", "list", "watch"}, r.Verb) {
					w.note(r.String() + " " + r.Name)
				}
				return nil
			})
			_, stop := c.start()
			defer stop()
			datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string { return w.run(t, d) })
		})
	})
}

// world is a cluster whose writes are noted.
type world struct {
	*cluster
	sets  map[string]metav1.OwnerReference
	lock  sync.Mutex
	trace []string
}

func (w *world) note(line string) {
	w.lock.Lock()
	defer w.lock.Unlock()
	w.trace = append(w.trace, line)
}

func (w *world) run(t *testing.T, d *datadriven.TestData) string {
	t.Helper()
	var words []string
	for _, argument := range d.CmdArgs {
		words = append(words, argument.String())
	}
	number := func(i int) (n int) {
		if _, err := fmt.Sscan(words[i], &n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	switch d.Cmd {
	case "spread":
		w.createSpread("web", d.Input)
	case "edit":
		w.change("apps.kruise.io/v1alpha1/namespaces/default/workloadspreads/web", d.Input)
	case "deployment":
		w.deployment("web", number(0))
	case "scale":
		w.scale("web", number(0))
	case "replicaset":
		w.sets[words[0]] = w.replicaSet("web", number(0), number(1))
	case "pods":
		for _, name := range words[1:] {
			w.assign(name, w.sets[words[0]], w.Pods())
		}
	case "blind":
		for _, name := range words[1:] {
			w.assign(name, w.sets[words[0]], nil)
		}
	case "node":
		_, err := w.Kube.CoreV1().Nodes().Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1"}}, metav1.CreateOptions{})
		w.Must(err)
	case "plain":
		for _, name := range words[1:] {
			w.pod(name, "", w.sets[words[0]])
		}
	case "run":
		for _, name := range words {
			w.cluster.run(name)
		}
	case "stuck":
		for _, name := range words {
			w.stuck(name)
		}
	case "delete":
		for _, name := range words {
			w.RemovePod(name)
		}
	case "wait":
		w.Sleep(words[0])
	default:
		return "no command " + d.Cmd
	}
	return w.shown()
}

// assign creates a pod that is Pending, as a webhook has it assigned that sees these pods.
func (w *world) assign(name string, owner metav1.OwnerReference, pods []corev1.Pod) {
	w.T.Helper()
	all := make([]*corev1.Pod, len(pods))
	for i := range pods {
		all[i] = &pods[i]
	}
	d, err := w.Kube.AppsV1().Deployments("default").Get(w.T.Context(), "web", metav1.GetOptions{})
	w.Must(err)
	workload := workloadOf(d)
	replicaSets, err := w.Kube.AppsV1().ReplicaSets("default").List(w.T.Context(), metav1.ListOptions{})
	w.Must(err)
	var owned []*appsv1.ReplicaSet
	for i := range replicaSets.Items {
		owned = append(owned, &replicaSets.Items[i])
	}
	workload.addReplicaSets(owned)
	result, err := spread.Inject(spread.Input{Pod: newPod(name, "", owner), Spread: w.spread("web"), Workload: &workload.Workload, Pods: all, Now: w.spread("web").CreationTimestamp.Time})
	w.Must(err)
	w.CreatePod(result.Pod)
	w.PatchPod(name, `{"status":{"phase":"Pending"}}`, "status")
}

// shown shows what has come of a command within a second.
func (w *world) shown() string {
	w.Sleep("1s")
	w.lock.Lock()
	defer w.lock.Unlock()
	out := []string{}
	for _, line := range w.trace {
		if !strings.HasPrefix(line, "patch pods ") {
			out = append(out, line)
		}
	}
	if n := len(w.trace) - len(out); n > 0 { // in any order
		out = slices.Insert(out, 0, fmt.Sprint(n, " patch pods"))
	}
	out = append(out, w.Events.All()...)
	if list, err := w.spreads.WorkloadSpreads("default").List(w.T.Context(), metav1.ListOptions{}); err == nil && len(list.Items) > 0 {
		out = append(out, w.show("web"))
	}
	w.trace = nil
	w.Events.Forget()
	return strings.Join(out, "\n")
}
