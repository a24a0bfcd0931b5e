// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/availability/budget"
	"github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// What a budget comes to, whatever comes first: each line within a second, with no other event
// to help.
func TestStatus(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		reconciles, stop := c.start()
		defer stop()
		c.createBudget(newBudget("web", "40%"))
		c.expect("PUB-3: before its workload", "web", "0 of 0 available, 0 desired, 0 allowed; 0 linked")
		c.cloneSet(5)
		c.expect("PUB-3: before its pods", "web", "0 of 5 available, 3 desired, 0 allowed; 0 linked")
		c.webPods("a")
		c.expect("PUB-24: protected from the first ready pod on", "web", "1 of 5 available, 3 desired, 0 allowed; 1 linked")
		c.webPods("b", "c", "d", "e")
		c.expect("PUB-6: all are there", "web", "5 of 5 available, 3 desired, 2 allowed; 5 linked")
		c.PatchPod("a", `{"status":{"conditions":[{"type":"Ready","status":"False"}]}}`, "status")
		c.expect("PUB-8: one is not ready", "web", "4 of 5 available, 3 desired, 1 allowed; 5 linked")
		c.ready("a")
		c.PatchPod("b", `{"metadata":{"labels":{"unavailable-pod.kruise.io/x":"1"}}}`)
		c.expect("PUB-8: one is held out", "web", "4 of 5 available, 3 desired, 1 allowed; 5 linked")
		c.DeletePod("c")
		c.expect("PUB-1: one goes", "web", "3 of 5 available, 3 desired, 0 allowed; 4 linked")
		c.scale(webPath, 10)
		c.expect("PUB-6: scaled", "web", "3 of 10 available, 6 desired, 0 allowed; 4 linked")
		c.scale(webPath, 0)
		c.expect("PUB-13: scaled to 0", "web", "0 of 0 available, 0 desired, 0 allowed; 4 linked")
		if n := reconciles.Count(); n > 40 || len(reconciles.Errors()) > 0 {
			t.Errorf("%d reconciles, errors %v", n, reconciles.Errors())
		}
	})
}

// The workloads of all kinds, and the chains of owners.
func TestWorkloads(t *testing.T) {
	deployment := func(c *cluster) metav1.OwnerReference {
		c.object("apps/v1/deployments", `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"default"},"spec":{"replicas":2,"selector":{},"template":{"spec":{"containers":[{"name":"main","image":"a"}]}}}}`)
		return c.replicaSet("apps/v1", "Deployment", c.uid("/apis/apps/v1/namespaces/default/deployments/web"))
	}
	for _, tt := range []struct {
		name   string
		owner  func(*cluster) metav1.OwnerReference
		budget *v1alpha1.PodUnavailableBudget
		scales Scales
		want   string
	}{
		{"PUB-3: a Deployment", deployment, newBudget("web", "1", targeting("apps/v1", "Deployment", "web")), nil, "2 of 2 available, 1 desired, 1 allowed; 2 linked"},
		{"PUB-3: another version of it", deployment, newBudget("web", "1", targeting("apps/v1beta1", "Deployment", "web")), nil, "2 of 2 available, 1 desired, 1 allowed; 2 linked"},
		{"PUB-2: its pods by label", deployment, newBudget("web", "1", bySelector), nil, "2 of 2 available, 1 desired, 1 allowed; 2 linked"},
		{"PUB-3: a ReplicaSet alone", func(c *cluster) metav1.OwnerReference { return c.replicaSet("", "", "") },
			newBudget("web", "1", targeting("apps/v1", "ReplicaSet", "web-1")), nil, "2 of 2 available, 1 desired, 1 allowed; 2 linked"},
		{"PUB-3: a StatefulSet", func(c *cluster) metav1.OwnerReference {
			return c.workload("apps/v1", "statefulsets", "StatefulSet", `{"replicas":3,"selector":{},"serviceName":"","template":{"spec":{"containers":[]}}}`)
		}, newBudget("web", "1", targeting("apps/v1", "StatefulSet", "web")), nil, "2 of 3 available, 2 desired, 0 allowed; 2 linked"},
		{"PUB-3: an Advanced StatefulSet", func(c *cluster) metav1.OwnerReference {
			return c.workload("apps.kruise.io/v1beta1", "statefulsets", "StatefulSet", `{"replicas":3}`)
		}, newBudget("web", "1", targeting("apps.kruise.io/v1alpha1", "StatefulSet", "web")), nil, "2 of 3 available, 2 desired, 0 allowed; 2 linked"},
		{"PUB-3: a ReplicationController", func(c *cluster) metav1.OwnerReference {
			return c.workload("v1", "replicationcontrollers", "ReplicationController", `{"replicas":3}`)
		}, newBudget("web", "1", targeting("v1", "ReplicationController", "web")), nil, "2 of 3 available, 2 desired, 0 allowed; 2 linked"},
		{"PUB-5: nil replicas", func(c *cluster) metav1.OwnerReference {
			return c.workload("apps.kruise.io/v1alpha1", "clonesets", "CloneSet", `{}`)
		}, newBudget("web", "1"), nil, "2 of 1 available, 0 desired, 2 allowed; 2 linked"},
		{"PUB-2: a Rollout by way of a ReplicaSet", rolling, newBudget("web", "1", targeting("argoproj.io/v1alpha1", "Rollout", "web")),
			scalesOf{"Rollout": 4}, "2 of 4 available, 3 desired, 0 allowed; 2 linked"},
		{"PUB-2: its pods by label", rolling, newBudget("web", "1", bySelector), scalesOf{"Rollout": 4}, "2 of 4 available, 3 desired, 0 allowed; 2 linked"},
		{"PUB-23: its ReplicaSet counts if Rollouts are not read", rolling, newBudget("web", "1", bySelector), nil, "2 of 2 available, 1 desired, 1 allowed; 2 linked"},
		{"PUB-23: of no known kind, by label", func(*cluster) metav1.OwnerReference { return ownerOf("batch/v1", "Job", "web", "job") },
			newBudget("web", "1", bySelector), scalesOf{}, "2 of 0 available, 0 desired, 2 allowed; 2 linked"},
		{"PUB-4: pods of nobody", func(*cluster) metav1.OwnerReference { return metav1.OwnerReference{} },
			newBudget("web", "1", bySelector, annotated(v1alpha1.PubProtectTotalReplicasAnnotation, "2")), nil, "2 of 2 available, 1 desired, 1 allowed; 2 linked"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				_, stop := c.start(func(o *Options) { o.Scales = tt.scales })
				defer stop()
				c.createBudget(tt.budget)
				owner := tt.owner(c)
				c.pod("a", owner)
				c.pod("b", owner)
				c.expect(tt.name, "web", tt.want)
			})
		})
	}
}

// replicaSet creates a ReplicaSet of 2 pods, and what controls it.
func (c *cluster) replicaSet(version, kind, uid string) metav1.OwnerReference {
	c.T.Helper()
	owners := "[]"
	if kind != "" {
		owners = fmt.Sprintf(`[{"apiVersion":%q,"kind":%q,"name":"web","uid":%q,"controller":true}]`, version, kind, uid)
	}
	c.object("apps/v1/replicasets", `{"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{"name":"web-1","namespace":"default","ownerReferences":`+owners+`},
		"spec":{"replicas":2,"selector":{},"template":{"spec":{"containers":[{"name":"main","image":"a"}]}}}}`)
	return ownerOf("apps/v1", "ReplicaSet", "web-1", c.uid("/apis/apps/v1/namespaces/default/replicasets/web-1"))
}

func rolling(c *cluster) metav1.OwnerReference {
	return c.replicaSet("argoproj.io/v1alpha1", "Rollout", "uid-Rollout")
}

// workload creates a workload of the name web.
func (c *cluster) workload(version, resource, kind, spec string) metav1.OwnerReference {
	c.T.Helper()
	c.object(version+"/"+resource, fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"name":"web","namespace":"default"},"spec":%s}`, version, kind, spec))
	prefix := "/apis/"
	if version == "v1" {
		prefix = "/api/"
	}
	return ownerOf(version, kind, "web", c.uid(prefix+version+"/namespaces/default/"+resource+"/web"))
}

func annotated(key, value string) func(*v1alpha1.PodUnavailableBudget) {
	return func(b *v1alpha1.PodUnavailableBudget) { b.Annotations = map[string]string{key: value} }
}

// scalesOf are Scales of workloads by their kinds.
type scalesOf map[string]int32

func (s scalesOf) Workload(_ context.Context, _ string, kind schema.GroupVersionKind, name string) (*budget.Workload, error) {
	n, found := s[kind.Kind]
	if n < 0 {
		return nil, errors.New("no answer")
	}
	if !found {
		return nil, nil
	}
	return &budget.Workload{GroupKind: kind.GroupKind(), Name: name, UID: types.UID("uid-" + kind.Kind), Replicas: &n}, nil
}

// A workload without an informer is read again every 10 s, however often its pods change.
func TestForeignWorkloads(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		scales := &countingScales{scalesOf: scalesOf{"Rollout": 2}}
		reconciles, stop := c.start(func(o *Options) { o.Scales = scales })
		defer stop()
		c.createBudget(newBudget("web", "1", targeting("argoproj.io/v1alpha1", "Rollout", "web")))
		owner := rolling(c)
		c.pod("a", owner)
		c.pod("b", owner)
		c.expect("PUB-23: known", "web", "2 of 2 available, 1 desired, 1 allowed; 2 linked")
		scales.scalesOf["Rollout"] = 5
		c.Sleep("10s")
		c.expect("PUB-23: scaled, within 10 s", "web", "2 of 5 available, 4 desired, 0 allowed; 2 linked")
		before, reads := reconciles.Count(), scales.n
		for i := range 60 {
			c.PatchPod("a", fmt.Sprintf(`{"metadata":{"labels":{"i":"%d"}}}`, i))
			c.Sleep("1s")
		}
		if n := scales.n - reads; n < 5 || n > 7 {
			t.Errorf("PUB-23: %d reads in a minute", n)
		}
		if n := reconciles.Count() - before; n > 70 {
			t.Errorf("%d reconciles in a minute", n)
		}
	})
}

type countingScales struct {
	scalesOf
	n int
}

func (s *countingScales) Workload(ctx context.Context, namespace string, kind schema.GroupVersionKind, name string) (*budget.Workload, error) {
	s.n++
	return s.scalesOf.Workload(ctx, namespace, kind, name)
}

// What events tell.
func TestEvents(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		scales := scalesOf{"Rollout": -1}
		_, stop := c.start(func(o *Options) { o.Scales = scales })
		defer stop()
		expect := func(what string, want ...string) {
			t.Helper()
			c.Sleep("1s")
			if diff := cmp.Diff(want, c.Events.All()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", what, diff)
			}
			c.Events.Forget()
		}
		c.createBudget(newBudget("web", "1"))
		expect("no pods", "Normal NoPods: No matching pods found")
		c.cloneSet(2)
		c.webPods("a", "b")
		expect("pods")
		c.createBudget(newBudget("rollout", "1", targeting("argoproj.io/v1alpha1", "Rollout", "web")))
		expect("a workload that cannot be read, once", "Warning CalculateExpectedPodCountFailed: Failed to calculate the number of expected pods: read Rollout.argoproj.io web: no answer")
		if s := c.budget("rollout").Status; s.ObservedGeneration != 0 {
			t.Errorf("PUB-23: a status is written: %+v", s)
		}
		scales["Rollout"] = 1
		c.Sleep("10m")
		c.Events.Forget()

		if d, err := c.guard().Allow(t.Context(), c.livePod("a"), v1alpha1.PubDeleteOperation); !d.Allowed || err != nil {
			t.Fatalf("%+v, %v", d, err)
		}
		c.expect("PUB-17: it is booked", "web", "1 of 2 available, 1 desired, 0 allowed; 2 linked; 1 recorded")
		c.Sleep("21s")
		c.expect("PUB-17: it has not come", "web", "2 of 2 available, 1 desired, 1 allowed; 2 linked")
		expect("not deleted", "Warning NotDeleted: Pod was expected by PUB default/web to be deleted but it wasn't")
	})
}

// A targetRef that no cache reads fails, and is not taken for a workload that is gone. (PUB-23)
func TestNobodyReadsTheKind(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		reconciles, stop := c.start()
		defer stop()
		c.createBudget(newBudget("web", "1", targeting("argoproj.io/v1alpha1", "Rollout", "web")))
		c.Sleep("1h")
		if errs := reconciles.Errors(); len(errs) == 0 || len(errs) > 40 || !strings.Contains(errs[0].Error(), "give Options.Scales") {
			t.Errorf("%d errors: %v", len(errs), errs)
		}
		if s := c.budget("web").Status; s.ObservedGeneration != 0 {
			t.Errorf("a status is written: %+v", s)
		}
	})
}

// The controller sends one patch for each pod and one write of the status for each change. While the first pods do not
// know their budget yet, the status allows none to go. A settled budget costs nothing, and what kubelets report costs
// nothing either.
func TestRequests(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.cloneSet(10)
		var names []string
		for i := range 10 {
			names = append(names, fmt.Sprint("web-", i))
		}
		c.webPods(names...)
		c.createBudget(newBudget("web", "10%"))
		reconciles, stop := c.start()
		defer stop()
		c.Sleep("1s")
		if diff := cmp.Diff([]string{"10 patch pods", "2 patch podunavailablebudgets/status"}, c.Sent()); diff != "" {
			t.Errorf("(-want +got) %s", diff)
		}
		c.ForgetRequests()
		before := reconciles.Count()
		c.Heartbeats()
		c.Sleep("1h")
		if sent := c.Sent(); len(sent) > 0 || reconciles.Count() != before {
			t.Errorf("settled, and %v in %d reconciles", sent, reconciles.Count()-before)
		}
		c.PatchPod("web-0", `{"status":{"conditions":[{"type":"Ready","status":"False"}]}}`, "status")
		c.Sleep("1s")
		if diff := cmp.Diff([]string{"1 patch podunavailablebudgets/status"}, c.Sent()); diff != "" {
			t.Errorf("(-want +got) %s", diff)
		}
	})
}

// Whom pods belong to. (PUB-20, PUB-24)
func TestLinks(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.createBudget(newBudget("b", "1"))
		c.createBudget(newBudget("a", "1", bySelector))
		c.createBudget(newBudget("c", "1", func(b *v1alpha1.PodUnavailableBudget) {
			bySelector(b)
			b.Spec.Selector.MatchLabels = map[string]string{"app": "other"}
		}))
		c.cloneSet(3)
		owner := c.owner()
		named := func(name string) func(*corev1.Pod) {
			return func(pod *corev1.Pod) { pod.Annotations = map[string]string{v1alpha1.RelatedPubAnnotation: name} }
		}
		c.pod("both", owner)
		c.pod("empty", owner, named(""))
		c.pod("gone", owner, named("gone"))
		c.pod("second", owner, func(pod *corev1.Pod) { pod.Labels = nil })
		c.pod("bare", metav1.OwnerReference{}, func(pod *corev1.Pod) { pod.Labels["app"] = "other" })
		c.pod("nobody", metav1.OwnerReference{}, func(pod *corev1.Pod) { pod.Labels = nil })
		c.pod("ended", owner)
		c.PatchPod("ended", `{"status":{"phase":"Succeeded"}}`, "status")
		_, stop := c.start()
		defer stop()
		c.Sleep("1s")
		got := map[string]string{}
		for _, pod := range c.Pods() {
			got[pod.Name] = relatedTo(&pod)
		}
		want := map[string]string{"both": "a", "empty": "a", "gone": "a", "second": "b", "bare": "c", "nobody": "", "ended": ""}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got) %s", diff)
		}
	})
}

// A pod that changes while it is told of its budget is told again. A write of the status that meets a conflict is made
// anew.
func TestConflicts(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.cloneSet(1)
		c.webPods("a")
		fail, happened := fixture.Once(fixture.Fail("patch pods", errConflict))
		c.FailBefore(fail)
		c.createBudget(newBudget("web", "1"))
		_, stop := c.start()
		defer stop()
		c.expect("PUB-24: told again", "web", "1 of 1 available, 0 desired, 1 allowed; 1 linked")
		fail, status := fixture.Once(fixture.Fail("patch podunavailablebudgets/status", errConflict))
		c.FailBefore(fail)
		c.scale(webPath, 3)
		c.expect("written anew", "web", "1 of 3 available, 2 desired, 0 allowed; 1 linked")
		if !happened() || !status() {
			t.Error("nothing has failed")
		}
	})
}

// A pod that cannot be told of its budget holds up nothing else: what was booked is forgotten in time.
func TestRefusedLink(t *testing.T) {
	protected(t, 2, func(t *testing.T, c *cluster) {
		g := c.guard()
		c.FailBefore(fixture.Fail("patch pods", apierrors.NewForbidden(corev1.Resource("pods"), "c", errors.New("a policy"))))
		c.webPods("c")
		c.Sleep("10m")
		if d, err := g.Allow(t.Context(), c.livePod("a"), v1alpha1.PubDeleteOperation); !d.Allowed || err != nil {
			t.Fatalf("%+v, error %v", d, err)
		}
		c.expect("PUB-9: it is booked, and one is still to be told", "web", "1 of 2 available, 1 desired, 0 allowed; 2 linked; 1 recorded")
		c.Sleep("20s")
		c.expect("PUB-17: it has not come", "web", "2 of 2 available, 1 desired, 1 allowed; 2 linked")
	})
}

// A pod is judged as the API server judges it, the time it takes included.
func (c *cluster) livePod(name string) *corev1.Pod {
	c.T.Helper()
	pod, err := c.Kube.CoreV1().Pods("default").Get(c.T.Context(), name, metav1.GetOptions{})
	c.Must(err)
	return pod
}

// TestReconcileByHand runs a Reconciler without a loop.
func TestReconcileByHand(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		controller, err := New(c.options)
		c.Must(err)
		defer c.Start(controller.Run)()
		key := types.NamespacedName{Namespace: "default", Name: "web"}
		for range 2 {
			if plan, err := controller.Plan(t.Context(), key); plan != nil || err != nil {
				t.Errorf("plan %v, error %v", plan, err)
			}
			if s, err := controller.Snapshot(t.Context(), key); s != nil || err != nil {
				t.Errorf("snapshot %v, error %v", s, err)
			}
			if after, err := controller.Reconcile(t.Context(), key); after != 0 || err != nil {
				t.Errorf("again after %v, error %v", after, err)
			}
		}
		c.cloneSet(1)
		c.createBudget(newBudget("web", "1"))
		c.webPods("a")
		c.Sleep("1s")
		if plan, err := controller.Plan(t.Context(), key); err != nil || plan.String() != "" || plan.Computed.CurrentAvailable != 1 {
			t.Errorf("plan %v, error %v", plan, err)
		}
		time.Sleep(time.Second)
	})
}
