// SPDX-License-Identifier: Apache-2.0

package workloadspread

import (
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/testing/fakecluster"
)

// heldUp shows what the WorkloadSpread web says of what holds it up, as "subset: reason: message", and its condition.
func (c *cluster) heldUp() (text string, condition v1alpha1.WorkloadSpreadSubsetCondition) {
	c.T.Helper()
	for _, s := range c.spread("web").Status.SubsetStatuses {
		for _, condition := range s.Conditions {
			if condition.Type == v1alpha1.SubsetHeldUp {
				return s.Name + ": " + condition.Reason + ": " + condition.Message, condition
			}
		}
	}
	return "", condition
}

// refuse has the API server refuse requests.
func (c *cluster) refuse(request string) {
	c.FailBefore(func(r fakecluster.Request) error {
		if r.String() == request {
			return apierrors.NewForbidden(schema.GroupResource{}, "", errors.New("a policy says so"))
		}
		return nil
	})
}

const halves = "subsets: [{name: a, maxReplicas: 50%}, {name: c}]"

// WS-32: the plan says since when a subset is held up, as the condition does.
func TestHeldSince(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	began := now.Add(-time.Hour)
	plan := NewPlan(&Snapshot{Spread: newSpread(t, "web", halves), Now: now,
		HeldSince: map[rollout.Subject]time.Time{{Kind: "workload", Name: "Deployment web"}: began}})
	if len(plan.Held) != 1 || !plan.Held[0].Since.Equal(began) {
		t.Errorf("held: %v", plan.Held)
	}
}

// WS-32: after a minute the condition tells what holds a subset up. The condition keeps its time while that lasts, and costs
// nothing more. Once that is over, the condition does not tell it any more.
func TestHeldUp(t *testing.T) {
	for _, test := range []struct {
		name   string
		begins func(c *cluster)
		want   string
		ends   func(c *cluster)
		asks   bool // what is refused is asked again
		edit   func(*Options)
	}{
		{name: "no workload", begins: func(c *cluster) { c.createSpread("web", halves) },
			want: "a: TargetMissing: workload Deployment web: it is not there", ends: func(c *cluster) { c.deployment("web", 0) }},
		{name: "a kind that is not spread", begins: func(c *cluster) {
			ws := newSpread(c.T, "web", halves)
			ws.Spec.TargetReference.Kind = "DaemonSet"
			_, err := c.spreads.WorkloadSpreads("default").Create(c.T.Context(), ws, metav1.CreateOptions{})
			c.Must(err)
		}, want: "a: BadValue: spec.targetRef is apps/v1 DaemonSet web: the kind is not spread", ends: func(c *cluster) {
			c.deployment("web", 0)
			c.change("apps.kruise.io/v1alpha1/namespaces/default/workloadspreads/web", `{"spec":{"targetRef":{"kind":"Deployment"}}}`)
		}},
		{name: "WS-34: a path that leads nowhere", asks: true, begins: func(c *cluster) {
			c.deployment("web", 2)
			c.createSpread("web", "targetFilter: {replicasPathList: [spec.replica]}\n"+halves)
		}, want: `a: BadValue: spec.targetFilter.replicasPathList[0]: Invalid value: "spec.replica": spec of the workload has no "replica"`, ends: func(c *cluster) {
			c.change("apps.kruise.io/v1alpha1/namespaces/default/workloadspreads/web", `{"spec":{"targetFilter":null}}`)
		}},
		{name: "a kind that nothing reads", edit: func(o *Options) { o.Workloads = nil }, asks: true, begins: func(c *cluster) {
			ws := newSpread(c.T, "web", halves)
			ws.Spec.TargetReference = &v1alpha1.TargetReference{APIVersion: "apps.kruise.io/v1alpha1", Kind: "CloneSet", Name: "web"}
			_, err := c.spreads.WorkloadSpreads("default").Create(c.T.Context(), ws, metav1.CreateOptions{})
			c.Must(err)
		}, want: "a: TargetUnread: workload CloneSet web: the controller does not read its kind", ends: func(c *cluster) {
			c.deployment("web", 0)
			c.change("apps.kruise.io/v1alpha1/namespaces/default/workloadspreads/web", `{"spec":{"targetRef":{"apiVersion":"apps/v1","kind":"Deployment"}}}`)
		}},
		{name: "a pod that no node takes", begins: func(c *cluster) {
			c.deployment("web", 2)
			c.createSpread("web", halves)
			owner := c.replicaSet("web", 1, 2)
			c.pod("x", "a", owner)
			c.CreatePod(newPod("y", "c", owner))
			c.PatchPod("y", `{"status":{"phase":"Pending","conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"0/3 nodes have room"}]}}`, "status")
		}, want: "c: Unschedulable: pod y: 0/3 nodes have room", ends: func(c *cluster) { c.run("y") }},
		{name: "a pod that cannot be written", asks: true, begins: func(c *cluster) {
			c.refuse("patch pods")
			c.deployment("web", 2)
			c.createSpread("web", halves)
			c.pod("x", "a", c.replicaSet("web", 1, 2))
		}, want: "a: PodNotWritten: pod x: its subset or its deletion cost cannot be written, events say why", ends: func(c *cluster) {
			c.FailBefore(nil)
			c.Sleep("10m") // the back-off
		}},
		{name: "a pod that cannot be deleted", asks: true, begins: func(c *cluster) {
			c.refuse("delete pods")
			c.deployment("web", 2)
			c.createSpread("web", "scheduleStrategy: {type: Adaptive, adaptive: {rescheduleCriticalSeconds: 1}}\nsubsets: [{name: a, maxReplicas: 1}, {name: c}]")
			c.CreatePod(newPod("x", "a", c.replicaSet("web", 1, 2)))
			c.stuck("x")
		}, want: "a: PodNotDeleted: pod x: it is to go to another subset and cannot be deleted, events say why", ends: func(c *cluster) {
			c.FailBefore(nil)
			c.Sleep("10m") // the back-off
		}},
		{name: "a patch that takes pods away", begins: func(c *cluster) {
			c.deployment("web", 0)
			c.createSpread("web", `subsets: [{name: a, maxReplicas: 50%}, {name: c, patch: {metadata: {labels: {pod-template-hash: x}}}}]`)
		}, want: "c: PatchApplies: subset c: no pod is created in this subset: its patch changes the label pod-template-hash, by which controllers know their pods", ends: func(c *cluster) {
			c.change("apps.kruise.io/v1alpha1/namespaces/default/workloadspreads/web", `{"spec":{"subsets":[{"name":"a","maxReplicas":"50%"},{"name":"c"}]}}`)
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				edit := test.edit
				if edit == nil {
					edit = func(*Options) {}
				}
				_, stop := c.start(edit)
				defer stop()
				test.begins(c)
				c.Sleep("30s")
				if got, _ := c.heldUp(); got != "" {
					t.Errorf("before a minute is over: %s", got)
				}
				c.Sleep("35s")
				got, standing := c.heldUp()
				if got != test.want {
					t.Errorf("after a minute:\n%s\nwant\n%s", got, test.want)
				}
				c.ForgetRequests()
				if c.Sleep("10m"); !test.asks && len(c.Sent()) > 0 {
					t.Errorf("requests while it lasts: %v", c.Sent())
				}
				if _, now := c.heldUp(); now != standing {
					t.Errorf("the condition was %v, and is %v", standing, now)
				}
				test.ends(c)
				c.Sleep("2m")
				if got, _ := c.heldUp(); got != "" {
					t.Errorf("once it is over: %s", got)
				}
			})
		})
	}
}

// WS-32: while nothing is held up nothing is told, and no request is made; a pod that starts slowly holds nothing up.
func TestHeldUpByNothing(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		_, stop := c.start()
		defer stop()
		c.deployment("web", 2)
		c.createSpread("web", halves)
		owner := c.replicaSet("web", 1, 2)
		c.pod("x", "a", owner)
		c.CreatePod(newPod("y", "c", owner, func(pod *corev1.Pod) { pod.Spec.NodeName = "node-1" }))
		c.Sleep("1s")
		c.ForgetRequests()
		c.Sleep("10m")
		if got, _ := c.heldUp(); got != "" || len(c.Sent()) > 0 {
			t.Errorf("it says %q, requests: %v", got, c.Sent())
		}
	})
}
