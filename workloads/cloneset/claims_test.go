// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

const withClaims = `{"spec":{"volumeClaimTemplates":[{"metadata":{"name":"data"},"spec":{}}]}}`

// claims lists the claims with the kinds of their owners.
func (c *cluster) claims() (claims []string) {
	c.T.Helper()
	list, err := c.Kube.CoreV1().PersistentVolumeClaims(web.Namespace).List(c.T.Context(), metav1.ListOptions{})
	c.Must(err)
	for _, claim := range list.Items {
		owner := "nobody"
		if len(claim.OwnerReferences) > 0 {
			owner = claim.OwnerReferences[0].Kind + " " + claim.OwnerReferences[0].Name
		}
		claims = append(claims, claim.Name+" of "+owner)
	}
	slices.Sort(claims)
	return claims
}

// TestClaimsOfPodsThatTheCacheLacks: a controller starts whose cache of pods is
// older than its cache of claims. (CS-36)
func TestClaimsOfPodsThatTheCacheLacks(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.create(1, withClaims)
		c.Settle()
		c.Hold("pods")
		c.Edit(`{"spec":{"replicas":3}}`)
		c.MustReconcile()
		c.Edit(`{"spec":{"scaleStrategy":{"disablePVCReuse":true}}}`)
		before := c.claims()
		c.restart() // another one, which does not know what this one wrote
		_, _, _ = c.ReconcileOnce()
		for _, claim := range before {
			if !slices.Contains(c.claims(), claim) {
				t.Errorf("%s is gone, and its pod runs", claim)
			}
		}
		c.Release("pods")
		c.Settle()
	})
}

// TestClaimsOfPodsThatCameBack: a pod is to be deleted with its claims, and has been replaced since the cache saw it. The new pod
// of its name mounts them. (CS-36)
func TestClaimsOfPodsThatCameBack(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.create(1, withClaims)
		c.Settle()
		before := c.claims()
		c.Hold("pods")
		again := c.Pods()[0].DeepCopy() // as another manager creates it
		c.RemovePod(again.Name)
		again.UID, again.ResourceVersion = "", ""
		c.CreatePod(again)
		c.SetImage("nginx:2")
		if requests := c.MustReconcile(); !slices.Contains(requests, "1 delete pods") {
			t.Fatalf("no pod is deleted: %v", requests)
		}
		if diff := cmp.Diff(before, c.claims()); diff != "" {
			t.Errorf("claims (-before +after):\n%s", diff)
		}
		c.Release("pods")
		c.Settle()
	})
}

// TestNamesToDeleteAreNotGivenAgain: the pod that a user wants gone is gone, its claim is
// there, and podsToDelete still names it, in the cache perhaps for longer. A new pod of the
// name would be deleted. (CS-18)
func TestNamesToDeleteAreNotGivenAgain(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.create(2, withClaims)
		c.Settle()
		gone := c.Pods()[0].Name
		c.RemovePod(gone)
		c.Edit(`{"spec":{"scaleStrategy":{"podsToDelete":["` + gone + `"]}}}`)
		c.Settle()
		for _, pod := range c.Pods() {
			if pod.Name == gone {
				t.Errorf("a new pod has the name %s, which podsToDelete held", gone)
			}
		}
		c.Edit(`{"spec":{"replicas":3}}`)
		c.Settle()
		if !slices.ContainsFunc(c.Pods(), func(p corev1.Pod) bool { return p.Name == gone }) {
			t.Errorf("once podsToDelete is empty, no pod reuses the claim of %s", gone)
		}
	})
}

// TestClaimsOfTerminatingPods: a pod is missing, and the pod that has its claims terminates for ever, as on a dead node. The
// missing pod waits for these, and holds up no other, however few may be unavailable. It does not wait for a pod that mounts none
// of them. (CS-18, CS-35)
func TestClaimsOfTerminatingPods(t *testing.T) {
	for _, test := range []struct {
		name, templates string
		want            int
	}{
		{"it mounts them", `[{"metadata":{"name":"data"},"spec":{}}]`, 4},
		{"it mounts none of them", `[]`, 5},
	} {
		t.Run(test.name, func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				c.create(2, withClaims)
				c.Edit(`{"spec":{"scaleStrategy":{"maxUnavailable":1}}}`)
				c.Settle()
				first := c.Pods()[0].Name
				if test.want == 5 { // the claim stays, and the next pod of the name does not mount it
					c.Edit(`{"spec":{"volumeClaimTemplates":[]}}`)
					c.RemovePod(first)
					c.Settle()
				}
				c.PatchPod(first, `{"metadata":{"finalizers":["example.com/hold"]}}`)
				c.DeletePod(first)
				c.Edit(`{"spec":{"replicas":5}}`)
				c.Settle()
				there := 0
				for _, pod := range c.Pods() {
					if pod.DeletionTimestamp == nil {
						there++
					}
				}
				if there != test.want {
					t.Errorf("%d pods are there, want %d: %v", there, test.want, c.PodNames())
				}
			})
		})
	}
}

// TestUnusedClaims: whether a pod is gone is asked once for all of its claims, so that
// they share its fate. (CS-36)
func TestUnusedClaims(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.create(2, `{"spec":{"scaleStrategy":{"disablePVCReuse":true},
			"volumeClaimTemplates":[{"metadata":{"name":"data"},"spec":{}},{"metadata":{"name":"logs"},"spec":{}}]}}`)
		c.Settle()
		c.RemovePod(c.Pods()[0].Name)
		requests := c.MustReconcile()
		for _, want := range []string{"1 get pods", "2 delete persistentvolumeclaims"} {
			if !slices.Contains(requests, want) {
				t.Errorf("no %q in %v", want, requests)
			}
		}
	})
}

// TestNamesOfOthers: the name of a pod to come is another owner's, for good.
func TestNamesOfOthers(t *testing.T) {
	for _, test := range []struct {
		name  string
		spoil func(c *cluster, pod *corev1.Pod)
		owner string // of the claim, afterwards
	}{
		{"a pod that a user has taken out, with its claim", func(c *cluster, pod *corev1.Pod) {
			c.PatchPod(pod.Name, `{"metadata":{"ownerReferences":null}}`)
		}, "Pod"},
		{"a pod of the same name", func(c *cluster, pod *corev1.Pod) { c.ReplacePod(pod.Name) }, "nobody"},
	} {
		t.Run(test.name, func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				c.create(3, withClaims)
				c.Settle()
				pod := c.Pods()[0]
				test.spoil(c, &pod)
				c.Edit(`{"spec":{"replicas":6}}`)
				for range 20 {
					_, _, _ = c.ReconcileOnce()
					c.KubeletStep()
				}
				if status := c.get().Status; status.ReadyReplicas != 6 {
					t.Errorf("status %+v", status)
				}
				name := fmt.Sprintf("data-%s of %s", pod.Name, test.owner)
				if test.owner == "Pod" {
					name += " " + pod.Name
				}
				if !slices.Contains(c.claims(), name) {
					t.Errorf("%s is not among the claims %q", name, c.claims())
				}
			})
		})
	}
}

// TestUpdateWhereANameIsTaken: a user has taken a pod out, and its claim cannot be given to it meanwhile. Every reconcile asks
// for its name again, and the update goes on. (CS-18, CS-34)
func TestUpdateWhereANameIsTaken(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.create(3, `{"spec":{"updateStrategy":{"maxUnavailable":2},"volumeClaimTemplates":[{"metadata":{"name":"data"},"spec":{}}]}}`)
		c.Settle()
		c.PatchPod(c.Pods()[0].Name, `{"metadata":{"ownerReferences":null}}`)
		c.FailBefore(fixture.Fail("patch persistentvolumeclaims", fixture.ErrQuota))
		c.SetImage("nginx:2")
		for range 20 {
			_, _, _ = c.ReconcileOnce()
			c.KubeletStep()
		}
		if status := c.get().Status; status.UpdatedReplicas != 2 || status.Replicas != 2 {
			t.Errorf("status %+v", status)
		}
	})
}

// A user deletes the claim of a pod that no node has: it could never be scheduled.
func TestClaimThatAPodWaitsFor(t *testing.T) {
	w := newScenario(t)
	w.Spec("replicas=3", "claims=data")
	w.apply(NewPlan(w.snapshot()))
	w.Kubelet(w.Pods[0].Name)
	for _, pod := range w.Pods {
		w.RemoveClaim("data-" + pod.Name)
	}
	plan := NewPlan(w.snapshot())
	var created []string
	for _, claim := range plan.CreateClaims {
		created = append(created, claim.Name)
		if !metav1.IsControlledBy(claim, w.set) || claim.Labels[v1alpha1.CloneSetInstanceIDLabel] == "" {
			t.Errorf("claim %+v, want one of the CloneSet and an instance", claim.ObjectMeta)
		}
	}
	if diff := cmp.Diff([]string{"data-" + w.Pods[1].Name, "data-" + w.Pods[2].Name}, created); diff != "" {
		t.Errorf("claims of pods that no node has (-want +got):\n%s", diff)
	}
	w.Spec("delete=p2") // its claims go with it: none is created that would be left
	if plan := NewPlan(w.snapshot()); len(plan.Delete) != 1 || len(plan.CreateClaims) != 1 {
		t.Errorf("%d pods are deleted, %d claims created: want 1 each", len(plan.Delete), len(plan.CreateClaims))
	}
	w.Spec("claims=other") // of which there is no template any more
	if plan := NewPlan(w.snapshot()); len(plan.CreateClaims) != 0 {
		t.Errorf("%d claims are created, which no template asks for", len(plan.CreateClaims))
	}
}

// Pods are refused, and claims are not to be used again. A claim that was made for a pod that never came is used for the next
// one. Otherwise it would be deleted and another one made, without end.
func TestClaimOfAPodThatWasRefused(t *testing.T) {
	w := newScenario(t)
	w.Spec("replicas=3", "claims=data", "disablePVCReuse=true")
	w.Refused = map[string]bool{"create": true}
	w.apply(NewPlan(w.snapshot()))
	w.apply(NewPlan(w.snapshot()))
	for range 2 {
		plan := NewPlan(w.snapshot())
		if len(plan.Create) != 3 {
			t.Fatalf("%d pods are created", len(plan.Create))
		}
		if n := len(plan.DeleteClaims); n > 0 {
			t.Errorf("%d claims are deleted, and %d made anew", n, len(plan.Create[0].Claims))
		}
		w.apply(plan)
	}
	w.Spec("replicas=0")
	if plan := NewPlan(w.snapshot()); len(plan.DeleteClaims) != len(w.Claims) {
		t.Errorf("%d of %d claims are deleted that no pod uses", len(plan.DeleteClaims), len(w.Claims))
	}
}

// TestClaimThatAPodOwns: a pod that no node has owns its claim, since it was
// about to be released, or a user has made the claim again.
func TestClaimThatAPodOwns(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.create(1, withClaims)
		c.MustReconcile()
		pod := c.Pods()[0]
		claim := "data-" + pod.Name
		claims := c.Kube.CoreV1().PersistentVolumeClaims(web.Namespace)
		c.Must(claims.Delete(t.Context(), claim, metav1.DeleteOptions{}))
		if got := c.MustReconcile(); !slices.Contains(got, "1 create persistentvolumeclaims") {
			t.Errorf("requests %q, want the claim to be created again", got)
		}
		_, err := claims.Patch(t.Context(), claim, types.MergePatchType, fmt.Appendf(nil,
			`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":%q,"uid":%q}]}}`, pod.Name, pod.UID), metav1.PatchOptions{})
		c.Must(err)
		for range 3 {
			want := []string{"1 create persistentvolumeclaims"}
			if diff := cmp.Diff(want, c.MustReconcile()); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		}
	})
}

// TestClaimIsDeletedOnce is CS-36, with the question whether the pod is gone.
func TestClaimIsDeletedOnce(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.create(1, withClaims)
		c.Settle()
		c.RemovePod(c.PodNames()[0])
		c.Edit(`{"spec":{"replicas":0,"scaleStrategy":{"disablePVCReuse":true}}}`)
		want := []string{"1 delete persistentvolumeclaims", "1 get pods", "1 patch clonesets/status"}
		if diff := cmp.Diff(want, c.MustReconcile()); diff != "" {
			t.Errorf("requests (-want +got):\n%s", diff)
		}
		if claims := c.claims(); len(claims) > 0 {
			t.Errorf("claims %q", claims)
		}
	})
}

// TestLateDeletionOfAClaim: CS-24. A manager that begins keeps the claims which it reuses
// from deletions that the one before it has sent, and that are served late. One that
// has been there for a while has no need to.
func TestLateDeletionOfAClaim(t *testing.T) {
	for wait, late := range map[string]bool{"0s": true, "3m": false} {
		inCluster(t, func(t *testing.T, c *cluster) {
			c.create(1, withClaims)
			c.Settle()
			c.restart()
			c.Settle()
			c.Sleep(wait)
			pod := c.Pods()[0]
			claims := c.Client("user").CoreV1().PersistentVolumeClaims(web.Namespace)
			claim, err := claims.Get(t.Context(), "data-"+pod.Name, metav1.GetOptions{})
			c.Must(err)
			c.RemovePod(pod.Name)
			sent := strings.Join(c.Settle(), " ")
			if name := c.PodNames()[0]; name != pod.Name || strings.Contains(sent, "patch persistentvolumeclaims") != late {
				t.Errorf("after %s: pod %s reuses the claim of %s, by the requests %s", wait, name, pod.Name, sent)
			}
			err = claims.Delete(t.Context(), claim.Name, metav1.DeleteOptions{
				Preconditions: &metav1.Preconditions{UID: &claim.UID, ResourceVersion: &claim.ResourceVersion}})
			if apierrors.IsConflict(err) != late {
				t.Errorf("after %s: the deletion that comes late: %v", wait, err)
			}
		})
	}
}
