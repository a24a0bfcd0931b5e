// SPDX-License-Identifier: Apache-2.0

package workloadspread

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/podwright/podwright/distribution/client/fake"
	"github.com/podwright/podwright/distribution/spread"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/lifecycle/podwebhook"
)

// placer runs a Placer with informers of its own.
func (c *cluster) placer() *Placer {
	c.T.Helper()
	p, err := NewPlacer(c.options)
	c.Must(err)
	stop := c.Start(p.Run)
	c.T.Cleanup(stop)
	c.Sleep("1s")
	return p
}

// generated is a pod that is about to be created, without a name.
func generated(owner metav1.OwnerReference) *corev1.Pod {
	pod := newPod("", "", owner)
	pod.GenerateName, pod.Namespace = owner.Name+"-", ""
	return pod
}

// admit asks a Placer as the API server does, and returns the subset.
func (c *cluster) admit(p *Placer, pod *corev1.Pod) string {
	c.T.Helper()
	c.Must(p.Mutate(c.T.Context(), &admissionv1.AdmissionRequest{Operation: admissionv1.Create, Namespace: "default"}, pod))
	matched, _ := spread.Matched(pod)
	return matched.Subset
}

// Fifty pods that one or two replicas are asked about at the same time fill the subsets exactly, with a few writes for all. What has
// not come in time is free again. (WS-7, WS-7.2)
func TestPlaceAtOnce(t *testing.T) {
	for _, test := range []struct {
		name     string
		replicas int
		alone    bool
		most     int // requests
	}{
		{"alone", 1, true, 0},
		{"one replica", 1, false, 2},
		{"two replicas", 2, false, 12},
	} {
		t.Run(test.name, func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				c.deployment("web", 50)
				owner := c.replicaSet("web", 1, 50)
				c.createSpread("web", "subsets: [{name: a, maxReplicas: 40%}, {name: b, maxReplicas: 40%}, {name: c}]")
				c.options.Alone = test.alone
				var replicas []*Placer
				for range test.replicas {
					replicas = append(replicas, c.placer())
				}
				for range 2 {
					c.ForgetRequests()
					want := map[string]int{"a": 20, "b": 20, "c": 10}
					if diff := cmp.Diff(want, subsets(c.admitAll(50, owner, replicas...))); diff != "" {
						t.Errorf("(-want +got) %s", diff)
					}
					if sent := c.Sent(); len(sent) > test.most {
						t.Errorf("%d requests for 50 pods, want at most %d: %v", len(sent), test.most, sent)
					}
					c.Sleep("62s") // none of them was created
				}
			})
		})
	}
}

// admitAll asks replicas in turn about pods that come at the same time.
func (c *cluster) admitAll(n int, owner metav1.OwnerReference, replicas ...*Placer) []*corev1.Pod {
	c.T.Helper()
	pods := make([]*corev1.Pod, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			pods[i] = generated(owner)
			c.admit(replicas[i%len(replicas)], pods[i])
		})
	}
	all.Wait()
	return pods
}

// subsets counts pods by subset.
func subsets(pods []*corev1.Pod) map[string]int {
	counts := map[string]int{}
	for _, pod := range pods {
		matched, _ := spread.Matched(pod)
		counts[matched.Subset]++
	}
	return counts
}

var _ podwebhook.Step = (*Placer)(nil)

func TestPlacerOptions(t *testing.T) {
	kube := fixture.Connect(t, fakecluster.New(nil), "test", kubernetes.NewForConfig)
	unfilled, err := NewPlacer(Options{Kubernetes: kube, Distribution: fake.NewClient()})
	if err != nil {
		t.Fatal(err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := unfilled.MatchExpression(over); err == nil || !strings.Contains(err.Error(), "not filled yet") {
		t.Errorf("WS-26: while it does not run it is not known about which pods it is asked: error %v", err)
	}
	if _, err := NewPlacer(Options{}); err == nil || !strings.Contains(err.Error(), "workloadspread: Options.Kubernetes is ") {
		t.Errorf("error %v", err)
	}

	all := map[string][]string{}
	for _, rule := range placerRules(Options{}) {
		all[rule.Resources[0]] = rule.Verbs
	}
	want := map[string][]string{"workloadspreads": {"get", "list", "watch"}, "workloadspreads/status": {"patch"}}
	for _, resource := range strings.Fields("pods deployments replicasets statefulsets jobs") {
		want[resource] = []string{"list", "watch"}
	}
	if diff := cmp.Diff(want, all); diff != "" {
		t.Errorf("rules (-want +got) %s", diff)
	}
	for _, rule := range placerRules(Options{Alone: true}) {
		if !slices.Equal(rule.Verbs, []string{"list", "watch"}) {
			t.Errorf("alone it needs %v", rule)
		}
	}
	if slices.ContainsFunc(Rules(Options{NoNodes: true}), func(r rbacv1.PolicyRule) bool { return slices.Contains(r.Resources, "nodes") }) {
		t.Error("nodes are read although they are not")
	}
}

// A status has room for so many pods that are on their way; the next one is refused until others have been seen. (WS-7.3)
func TestPlaceOfManyPods(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.deployment("web", 3000)
		owner := c.replicaSet("web", 1, 3000)
		c.createSpread("web", "subsets: [{name: a, maxReplicas: 2500}, {name: b}]")
		ws := c.spread("web")
		var all []spread.Reservation
		for i := range mostReserved {
			all = append(all, spread.Reservation{Key: fmt.Sprint("uid.1.", i), Subset: "a", Since: time.Now()})
		}
		ws.Status = *spread.Reserve(ws, 3000, all)
		_, err := c.spreads.WorkloadSpreads("default").UpdateStatus(t.Context(), ws, metav1.UpdateOptions{})
		c.Must(err)
		p := c.placer()
		if err := p.Mutate(t.Context(), &admissionv1.AdmissionRequest{Operation: admissionv1.Create, Namespace: "default"}, generated(owner)); err == nil || !strings.Contains(err.Error(), "2000 pods of WorkloadSpread web are being created") {
			t.Errorf("WS-7.3: error %v", err)
		}
	})
}
