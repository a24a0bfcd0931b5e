// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/datadriven"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// TestScripts plays the scenarios of testdata/scripts, each in a cluster of its own, with a controller and a webhook.
// Shown are what the API server answers, the writes of both, events, and then the budget. To accept a change of behaviour, run the
// test with -rewrite and read the difference.
//
//	budget 20%           creates the budget web, with that maxUnavailable, of the CloneSet web
//	cloneset 5           creates the CloneSet web
//	scale 3              scales it
//	pods a b             creates ready pods of it
//	unready a            has a pod be not ready
//	ready a              has it run what its spec says, and be ready
//	delete a, evict a    deletes or evicts a pod as a user does, if it may
//	update a nginx:2     updates its image in place, if it may
//	refused a            asks about a deletion that something else refuses afterwards
//	wait 20s             lets time pass
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/scripts", func(t *testing.T, path string) {
		inCluster(t, func(t *testing.T, c *cluster) {
			w := &world{cluster: c}
			c.FailAfter(func(r fakecluster.Request) error {
				if r.User == fixture.ControllerUser && !slices.Contains([]string{"get", "list", "watch"}, r.Verb) {
					w.note(r.String() + " " + r.Name)
				}
				return nil
			})
			_, stop := c.start()
			defer stop()
			w.webhook = c.webhook()
			datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string { return w.run(t, d) })
		})
	})
}

// world is a cluster with a webhook, whose writes are noted.
type world struct {
	*cluster
	webhook *Webhook
	lock    sync.Mutex
	trace   []string
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
	number := func() (n int) {
		if _, err := fmt.Sscan(words[0], &n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	switch d.Cmd {
	case "budget":
		w.createBudget(newBudget("web", words[0]))
	case "cloneset":
		w.cloneSet(number())
	case "scale":
		w.scale(webPath, number())
	case "pods":
		w.webPods(words...)
	case "unready":
		w.PatchPod(words[0], `{"status":{"conditions":[{"type":"Ready","status":"False"}]}}`, "status")
	case "ready":
		w.ready(words[0])
	case "delete":
		if w.asked(deletion(w.livePod(words[0]), metav1.DeleteOptions{})) {
			w.RemovePod(words[0])
		}
	case "evict":
		if w.asked(eviction(words[0], nil)) {
			w.RemovePod(words[0])
		}
	case "refused":
		w.asked(deletion(w.livePod(words[0]), metav1.DeleteOptions{}))
	case "update":
		if w.asked(update(w.livePod(words[0]), "", newImage)) {
			w.PatchPod(words[0], `{"spec":{"containers":[{"name":"main","image":"`+words[1]+`"}]}}`)
			w.PatchPod(words[0], `{"status":{"conditions":[{"type":"Ready","status":"False"}]}}`, "status")
		}
	case "wait":
		w.Sleep(words[0])
	default:
		return "no command " + d.Cmd
	}
	return w.shown()
}

// asked asks the webhook.
func (w *world) asked(request *admissionv1.AdmissionRequest) bool {
	refusal := answer(w.webhook.ValidatePod(w.T.Context(), request))
	if refusal == "" {
		refusal = "allowed"
	}
	w.note(refusal)
	return refusal == "allowed"
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
	if list, err := w.budgets.PodUnavailableBudgets("default").List(w.T.Context(), metav1.ListOptions{}); err == nil && len(list.Items) > 0 {
		out = append(out, w.show("web"))
	}
	w.trace = nil
	w.Events.Forget()
	return strings.Join(out, "\n")
}
