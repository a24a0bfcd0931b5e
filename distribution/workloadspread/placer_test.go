// SPDX-License-Identifier: Apache-2.0

package workloadspread

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/distribution/spread"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
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
					if diff := cmp.Diff(want, c.admitAll(50, owner, replicas...)); diff != "" {
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

// admitAll asks replicas in turn about pods that come at the same time, and counts them by subset.
func (c *cluster) admitAll(n int, owner metav1.OwnerReference, replicas ...*Placer) map[string]int {
	c.T.Helper()
	subsets := make(chan string, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { subsets <- c.admit(replicas[i%len(replicas)], generated(owner)) })
	}
	all.Wait()
	close(subsets)
	counts := map[string]int{}
	for subset := range subsets {
		counts[subset]++
	}
	return counts
}

// A webhook whose caches do not show yet that a pod is gone waits for it. (WS-9)
func TestPlaceWaits(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.deployment("web", 2)
		owner := c.replicaSet("web", 1, 2)
		c.createSpread("web", "subsets: [{name: a, maxReplicas: 1}, {name: b}]")
		c.pod("x", "a", owner)
		c.pod("y", "b", owner)
		p := c.placer()
		subset := make(chan string, 1)
		go func() { subset <- c.admit(p, generated(owner)) }()
		time.Sleep(50 * time.Millisecond)
		synctest.Wait()
		select {
		case got := <-subset:
			t.Fatalf("it did not wait, and assigned %s", got)
		default:
		}
		c.RemovePod("x")
		time.Sleep(50 * time.Millisecond)
		if got := <-subset; got != "a" {
			t.Errorf("subset %s, want a", got)
		}
		// It does not wait for ever: the reservation counts.
		began := time.Now()
		if got := c.admit(p, generated(owner)); got != "b" || time.Since(began) < patience || time.Since(began) > 2*patience {
			t.Errorf("subset %s after %v, want b after %v", got, time.Since(began), patience)
		}
		if placed, err := p.PlacePod(t.Context(), newPod("z", "", owner)); err != nil || placed.Annotations[v1alpha1.MatchedWorkloadSpreadAnnotation] != `{"name":"web","subset":"b"}` {
			t.Errorf("placed %v, error %v", placed, err)
		}
	})
}

// What has no subset stays unchanged, and so does everything in a dry run.
func TestPlaceNothing(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.deployment("web", 2)
		owner := c.replicaSet("web", 1, 2)
		p := c.placer()
		request := func(operation admissionv1.Operation, dry bool) *admissionv1.AdmissionRequest {
			return &admissionv1.AdmissionRequest{Operation: operation, Namespace: "default", DryRun: &dry}
		}
		same := func(what string, request *admissionv1.AdmissionRequest, pod *corev1.Pod) {
			t.Helper()
			before := pod.DeepCopy()
			c.Must(p.Mutate(t.Context(), request, pod))
			if diff := cmp.Diff(before, pod); diff != "" {
				t.Errorf("%s (-before +after) %s", what, diff)
			}
		}
		same("no WorkloadSpread", request("CREATE", false), generated(owner))
		c.createSpread("web", "subsets: [{name: a, maxReplicas: 1}, {name: b}]")
		same("a dry run", request("CREATE", true), generated(owner))
		same("an update", request("UPDATE", false), generated(owner))
		alone := generated(owner)
		alone.OwnerReferences = nil
		same("without an owner", request("CREATE", false), alone)
		ended := generated(owner)
		ended.Status.Phase = corev1.PodFailed
		same("an ended one", request("CREATE", false), ended)
		same("in the namespace of another tenant", &admissionv1.AdmissionRequest{Operation: "CREATE", Namespace: "elsewhere", DryRun: new(false)}, generated(owner))
		c.Sleep("1s") // now it reads all
		if got := c.admit(p, generated(owner)); got != "a" {
			t.Errorf("subset %q, want a", got)
		}
	})
}

// What a Placer remembers of pods ends with their WorkloadSpread, and the pods that it is given stay unchanged. (WS-25)
func TestPlacerForgets(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.deployment("web", 3)
		pod := newPod("x", "", c.replicaSet("web", 1, 3))
		c.createSpread("web", "subsets: [{name: a, maxReplicas: 1}, {name: b}]")
		p := c.placer()
		placed, err := p.PlacePod(t.Context(), pod)
		if _, changed := spread.Matched(pod); changed || err != nil || len(p.reserved.all) == 0 {
			t.Fatalf("changed %t, error %v, remembered %v", changed, err, p.reserved.all)
		}
		c.CreatePod(placed)
		c.Sleep("1s")
		c.Must(c.spreads.WorkloadSpreads("default").Delete(t.Context(), "web", metav1.DeleteOptions{}))
		synctest.Wait()
		if len(p.reserved.all) > 0 {
			t.Error("what is gone is remembered")
		}
	})
}

// If there are no WorkloadSpreads a Placer reads nothing else, and no pod waits for that; with the first one it does. (WS-7.1)
func TestPlacerReadsWhatItNeeds(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.deployment("web", 2)
		owner := c.replicaSet("web", 1, 2)
		c.ForgetRequests()
		p := c.placer()
		if subset := c.admit(p, generated(owner)); subset != "" {
			t.Errorf("sent to %s", subset)
		}
		read := func() (all []string) {
			for request := range c.Server.Count(fixture.ControllerUser) {
				all = append(all, request)
			}
			return all
		}
		if diff := cmp.Diff([]string{"watch workloadspreads"}, read()); diff != "" { // which lists, too
			t.Errorf("requests (-want +got) %s", diff)
		}
		c.createSpread("web", "subsets: [{name: a}]")
		c.Sleep("1s")
		if subset := c.admit(p, generated(owner)); subset != "a" {
			t.Errorf("sent to %q, want a", subset)
		}
		if !slices.Contains(read(), "watch pods") {
			t.Errorf("it has sent %v", read())
		}
	})
}

func TestPlacerOptions(t *testing.T) {
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
		ws, err := c.spreads.WorkloadSpreads("default").Get(t.Context(), "web", metav1.GetOptions{})
		c.Must(err)
		var all []spread.Reservation
		for i := range mostReserved {
			all = append(all, spread.Reservation{Key: fmt.Sprint("uid.1.", i), Subset: "a", Since: time.Now()})
		}
		ws.Status = *spread.Reserve(ws, 3000, all)
		_, err = c.spreads.WorkloadSpreads("default").UpdateStatus(t.Context(), ws, metav1.UpdateOptions{})
		c.Must(err)
		p := c.placer()
		if err := p.Mutate(t.Context(), &admissionv1.AdmissionRequest{Operation: admissionv1.Create, Namespace: "default"}, generated(owner)); err == nil || !strings.Contains(err.Error(), "2000 pods of WorkloadSpread web are being created") {
			t.Errorf("WS-7.3: error %v", err)
		}
	})
}
