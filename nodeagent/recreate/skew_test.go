// SPDX-License-Identifier: Apache-2.0

package recreate

import (
	"fmt"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/testing/fakecri"
	"github.com/podwright/podwright/lifecycle/readiness"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// restartUnseen has a container end and start again, which the status of its pod
// does not say yet.
func (n *node) restartUnseen(container string) {
	n.Helper()
	n.runtime.End(container, 1)
	n.must((&fakecri.Kubelet{Client: n.kube, Runtime: n.runtime}).Run(n.getPod("web-0")))
	n.sleep(5 * time.Second)
}

func lives(seconds int32) edit {
	return func(r *v1alpha1.ContainerRecreateRequest) { r.Spec.TTLSecondsAfterFinished = &seconds }
}

func ends(seconds int64) edit {
	return func(r *v1alpha1.ContainerRecreateRequest) { r.Spec.ActiveDeadlineSeconds = &seconds }
}

// Whatever the clock of the node says, the same happens at the same time: what is
// compared are times of one clock only.
func TestSkewedClocks(t *testing.T) {
	for name, story := range map[string]func(*node){
		"a request": func(n *node) {
			n.create("r", "web-0", ordered)
			n.work(10 * time.Second)
			n.is("r", "Completed, main Succeeded killed, side Succeeded killed")
			n.want("restarts", []string{"main 1", "side 1"}, n.restarts("web-0"))
		},
		"CRR-5.4.4: a request that was made just after a crash, of which the pod's status does not tell": func(n *node) {
			n.restartUnseen("main-1")
			n.create("r", "web-0", unready(2), only("main"))
			n.work(10 * time.Second)
			n.is("r", "Completed, main Succeeded")
			n.want("restarts", []string{"main 1", "side 0"}, n.restarts("web-0"))
			if !readiness.Ready(n.getPod("web-0")) {
				n.Error("the pod is out of service")
			}
		},
		"CRR-5.4.3: such a request, with force": func(n *node) {
			n.restartUnseen("main-1")
			n.create("r", "web-0", forced, only("main"))
			n.work(10 * time.Second)
			n.is("r", "Completed, main Succeeded killed")
			n.want("restarts", []string{"main 2", "side 0"}, n.restarts("web-0"))
		},
		"CRR-5.3.2: the unready step": func(n *node) {
			n.create("r", "web-0", unready(10), only("main"))
			n.work(9 * time.Second)
			n.want("nothing before", nil, n.stops())
			n.work(3 * time.Second)
			n.want("then", []string{"StopContainer main-1 30s"}, n.stops())
			n.work(5 * time.Second)
			n.is("r", "Completed, main Succeeded killed")
		},
		"CRR-5.3.2: the unready step, with another agent in the middle": func(n *node) {
			n.create("r", "web-0", unready(10), only("main"))
			n.work(5 * time.Second)
			n.stopAgent()
			n.start()
			n.work(9 * time.Second)
			n.want("never too short", nil, n.stops())
			n.work(10 * time.Second)
			n.is("r", "Completed, main Succeeded killed")
		},
		"CRR-5.4.4: minStartedSeconds": func(n *node) {
			n.create("r", "web-0", minStarted(20), only("main"))
			n.work(19 * time.Second)
			n.is("r", "Recreating, main Recreating killed")
			n.work(2 * time.Second)
			n.is("r", "Completed, main Succeeded killed")
		},
		"CRR-M3: a request is answered while all workers are busy": func(n *node) {
			n.stopAgent()
			n.workers = 1
			n.start()
			n.pod("web-1")
			n.runtime.SetEndsAfter("main-1", 3*time.Minute)
			n.create("long", "web-0", only("main"), grace(600))
			n.sleep(time.Second)
			n.create("next", "web-1", only("main"))
			n.sleep(9 * time.Second)
			n.is("next", "")
			n.sleep(2 * time.Second)
			n.is("next", "Pending: waits for a worker of the node agent: containers of other pods are being stopped, of default (1)")
			n.work(5 * time.Minute)
			n.is("next", "Completed, main Succeeded killed")
		},
		"CRR-M3: an agent that does not answer": func(n *node) {
			n.stopAgent()
			n.create("r", "web-0", only("main"))
			n.sleep(59 * time.Second)
			n.is("r", "")
			n.sleep(2 * time.Second)
			n.is("r", "Completed: daemon has not responded for a long time")
		},
		"CRR-M4: the deadline": func(n *node) {
			n.startup = time.Hour
			n.create("r", "web-0", ends(20), only("main"))
			n.work(19 * time.Second)
			n.is("r", "Recreating, main Recreating killed")
			n.work(2 * time.Second)
			n.is("r", "Completed: recreating has exceeded the activeDeadlineSeconds, main Failed killed it was not back when the request ended: recreating has exceeded the activeDeadlineSeconds")
		},
		"CRR-M1.4: the time to live": func(n *node) {
			n.create("r", "web-0", lives(30), only("main"))
			n.work(20 * time.Second)
			n.is("r", "Completed, main Succeeded killed")
			n.work(20 * time.Second)
			n.gone("r")
		},
		"CRR-M1.4: the time to live, with another manager in the middle": func(n *node) {
			n.create("r", "web-0", lives(30), only("main"))
			n.work(10 * time.Second)
			n.stopManager()
			n.stopManager = n.startManager()
			n.work(10 * time.Second)
			n.is("r", "Completed, main Succeeded killed")
			n.work(20 * time.Second)
			n.gone("r")
		},
		"CRR-5.2: the oldest request first": func(n *node) {
			n.create("b", "web-0", only("main"), unready(5))
			n.sleep(time.Second)
			n.create("a", "web-0", only("side"))
			n.work(2 * time.Second)
			n.is("b", "Recreating")
			n.is("a", "Pending")
			n.work(20 * time.Second)
			n.is("b", "Completed, main Succeeded killed")
			n.is("a", "Completed, side Succeeded killed")
		},
	} {
		for _, skew := range []time.Duration{-10 * time.Minute, 0, 10 * time.Minute} {
			t.Run(fmt.Sprintf("%s, skew %s", name, skew), func(t *testing.T) {
				playSkewed(t, skew, func(n *node) {
					n.pod("web-0")
					n.start()
					story(n)
				})
			})
		}
	}
}

// gone checks that a request is deleted.
func (n *node) gone(name string) {
	n.Helper()
	if r, err := n.requests.Get(n.Context(), name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		n.Errorf("request %s, error %v: want it deleted", showStatus(&r.Status), err)
	}
}
