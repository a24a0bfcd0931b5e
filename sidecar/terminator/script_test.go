// SPDX-License-Identifier: Apache-2.0

package terminator

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// TestScripts plays the scenarios of testdata/scripts, each in a cluster of its own.
// Shown are the writes of the controller, its events (ST-18), and then the pod. To accept a
// change of behaviour, run the test with -rewrite and read the difference.
//
//	create [codes=(0,137)]  creates the pod that follows, as podOf reads it; the codes are what its
//	                        sidecars exit with when they are stopped
//	exit main 0             ends a container
//	work 5s                 lets kubelet and agent work so long
//	no-agent                has no agent serve requests any more
//	unpulled exit:1         has the node fail to pull an image
//	late 10s                has the kubelet learn so late of what others write
//	delete-request          deletes the request
//	refuse what             has the API server refuse requests, such as "patch pods"
//	heal                    has it serve them again
//	metrics                 shows how long pods took to end
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/scripts", func(t *testing.T, path string) {
		inCluster(t, func(t *testing.T, c *cluster) {
			w := &world{cluster: c}
			w.heal()
			_, stop := c.start(w)
			defer stop()
			datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string { return w.run(t, d) })
		})
	})
}

// world is a cluster with a controller, whose writes are noted.
type world struct {
	*cluster
	lock  sync.Mutex
	trace []string
	took  []time.Duration
}

// Ended is PodMetrics.
func (w *world) Ended(took time.Duration) { w.took = append(w.took, took) }

func (w *world) note(format string, args ...any) {
	w.lock.Lock()
	defer w.lock.Unlock()
	w.trace = append(w.trace, fmt.Sprintf(format, args...))
}

func (w *world) heal() {
	w.FailBefore(nil)
	w.FailAfter(func(r fakecluster.Request) error {
		if r.User == fixture.ControllerUser && !slices.Contains([]string{"get", "list", "watch"}, r.Verb) {
			w.note("%s", r.String())
		}
		return nil
	})
}

var errBudget = apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "web", fmt.Errorf("the budget allows no update"))

func (w *world) run(t *testing.T, d *datadriven.TestData) string {
	t.Helper()
	var words []string
	for _, argument := range d.CmdArgs {
		words = append(words, argument.String())
	}
	switch d.Cmd {
	case "create":
		var codes []string
		for _, argument := range d.CmdArgs {
			codes = argument.Vals
		}
		w.create("web", strings.TrimSpace(d.Input), codes...)
	case "exit":
		var code int32
		if _, err := fmt.Sscan(words[1], &code); err != nil {
			return err.Error()
		}
		w.exit("web", words[0], code)
	case "work":
		period, err := time.ParseDuration(words[0])
		if err != nil {
			return err.Error()
		}
		w.work(period)
	case "no-agent":
		w.noAgent = true
	case "unpulled":
		w.unpulled = words[0]
	case "late":
		late, err := time.ParseDuration(words[0])
		if err != nil {
			return err.Error()
		}
		w.late = late
	case "delete-request":
		w.Must(w.requests.Delete(t.Context(), RequestName(w.pod("web").UID), metav1.DeleteOptions{}))
	case "refuse":
		w.FailBefore(fixture.Fail(strings.Join(words, " "), errBudget))
	case "heal":
		w.heal()
	case "metrics":
		return fmt.Sprint(w.took)
	default:
		return "no command " + d.Cmd
	}
	w.Sleep("100ms")
	w.lock.Lock()
	defer w.lock.Unlock()
	out := append(w.trace, slices.Compact(w.Events.All())...) // retries, however many
	out = append(out, "pod: "+w.show("web"))
	if given := phaseGiven(w.pod("web")); given != nil {
		out = append(out, fmt.Sprintf("%s: %s", given.Type, given.Message))
	}
	if learned(w.pod("web")) {
		out = append(out, "the kubelet knows")
	}
	w.trace = nil
	w.Events.Forget()
	return strings.Join(out, "\n")
}
