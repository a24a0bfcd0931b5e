// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/testing/fakecluster/scheduler"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

func TestReplace(t *testing.T) {
	for _, test := range []struct {
		name string
		of   Rollout
		want Replace
	}{
		{"DS-11: all are available", Rollout{MaxUnavailable: 2, Available: 9}, Replace{Available: 2}},
		{"DS-11: one is underway", Rollout{MaxUnavailable: 2, Underway: 1, Available: 9}, Replace{Available: 1}},
		{"DS-11: more are underway than may be", Rollout{MaxUnavailable: 2, Underway: 5, Interrupted: 1, Unavailable: 1, Available: 9}, Replace{}},
		{"DS-11: none is available", Rollout{MaxUnavailable: 10, Underway: 4, Unavailable: 196}, Replace{Unavailable: 6}},
		{"DS-11: unavailable ones count", Rollout{MaxUnavailable: 3, Unavailable: 2, Available: 9}, Replace{Unavailable: 2, Available: 1}},
		{"DS-11: interrupted ones are updated again", Rollout{MaxUnavailable: 2, Interrupted: 2, Unavailable: 3, Available: 9}, Replace{Interrupted: 2}},
		{"DS-11: not more of them than may be", Rollout{MaxUnavailable: 2, Interrupted: 9}, Replace{Interrupted: 2}},
		{"DS-11: those that never served go", Rollout{MaxUnavailable: 1, Underway: 1, Unserved: 200, Available: 9}, Replace{Unserved: 200}},
		{"DS-14: surge", Rollout{MaxSurge: 3, Underway: 1, Unserved: 2, Unavailable: 1, Available: 9}, Replace{Unserved: 2, Unavailable: 1, Available: 1}},
		{"DS-14: as many as may be", Rollout{MaxSurge: 3, Underway: 3, Unavailable: 1, Available: 9}, Replace{}},
		{"nothing", Rollout{}, Replace{}},
	} {
		if got := test.of.Replace(); got != test.want {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
		}
	}
}

// TestAllKubeletsRestart: two updates of 200 nodes within minReadySeconds, while all kubelets restart. At no moment are more
// than maxUnavailable pods out of service because of the updates, and these end. (DS-11)
func TestAllKubeletsRestart(t *testing.T) {
	for seed, kind := range []string{"Standard", "InPlaceIfPossible"} {
		r := rand.New(rand.NewPCG(uint64(seed), 5))
		w := newScenario(t)
		for i := range 200 {
			w.nodes = append(w.nodes, newNode(fmt.Sprintf("n%03d", i)))
		}
		w.Spec("minReadySeconds=60", fmt.Sprint("maxUnavailable=", mostUnavailable), "rollingUpdateType="+kind)
		d := &disruptions{w: w, served: map[types.UID]bool{}, nodes: map[string]bool{}}
		reconcile := func() {
			plan := NewPlan(w.snapshot())
			d.judge(plan)
			w.apply(plan)
		}
		pass := func(seconds int) {
			w.Now = w.Now.Add(time.Duration(seconds) * time.Second)
			w.Kubelets()
			reconcile()
			reconcile()
		}
		for range 4 {
			pass(30)
		}
		for round := range 2 {
			w.Spec(fmt.Sprintf("image=nginx:%d", 2+round))
			for range 2 + r.IntN(3) {
				pass(1 + r.IntN(20))
			}
			for _, pod := range slices.Clone(w.Pods) {
				if pod.Status.Phase == corev1.PodRunning {
					w.Break(pod.Name, true)
				}
			}
			reconcile()
			for _, pod := range slices.Clone(w.Pods) {
				w.Break(pod.Name, false)
			}
			pass(1 + r.IntN(10))
		}
		for passes := 0; w.set.Status.UpdatedNumberScheduled < 200 || w.set.Status.NumberAvailable < 200; passes++ {
			if pass(20); passes == 200 {
				t.Fatalf("%s: the update does not end: %s", kind, showStatus(&w.set.Status))
			}
		}
		if d.most != mostUnavailable || len(d.nodes) > 0 {
			t.Errorf("%s: updates have %d pods out of service at most, maxUnavailable is %d; at last those of %v", kind, d.most, mostUnavailable, d.nodes)
		}
	}
}

const mostUnavailable = 10

// disruptions counts what updates take out of service, by what was seen of the pods.
type disruptions struct {
	w      *setScenario
	served map[types.UID]bool // pods that have been available
	nodes  map[string]bool    // that have had no available pod since an update took theirs out of service
	most   int
}

func (d *disruptions) judge(plan *Plan) {
	for _, pod := range d.w.Pods {
		if d.w.available(pod) {
			d.served[pod.UID] = true
			delete(d.nodes, scheduler.NodeOf(pod))
		}
	}
	for i := range plan.Delete {
		d.takes(plan.Delete[i].Pod)
	}
	for i := range plan.Patch {
		if plan.Patch[i].Kind == rollout.PatchUpdateInPlace {
			d.takes(plan.Patch[i].Pod)
		}
	}
	d.most = max(d.most, len(d.nodes))
}

func (d *disruptions) takes(pod *corev1.Pod) {
	if d.served[pod.UID] {
		d.nodes[scheduler.NodeOf(pod)] = true
		delete(d.served, pod.UID)
	}
}

// TestZeros: other tools read the numbers of a status, and take those that are missing for unknown. (DS-17)
func TestZeros(t *testing.T) {
	data, err := json.Marshal(&v1alpha1.DaemonSetStatus{})
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{"currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled", "numberReady", "updatedNumberScheduled", "numberAvailable", "numberUnavailable"} {
		if !strings.Contains(string(data), `"`+field+`":0`) {
			t.Errorf("%s is not in %s", field, data)
		}
	}
}
