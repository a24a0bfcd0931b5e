// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"errors"
	"strings"
	"testing"

	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/internal/testing/fakecluster"
)

// crashing has a container of a pod end again and again.
const crashing = `{"status":{"conditions":[{"type":"Ready","status":"False"}],"containerStatuses":[{"name":"main","image":"nginx:1","imageID":"sha256:nginx:1","state":{"waiting":{"reason":"CrashLoopBackOff"}}}]}}`

func (c *cluster) patchStatus(name, patch string) {
	c.T.Helper()
	_, err := c.Kube.CoreV1().Pods("default").Patch(c.T.Context(), name, "application/merge-patch+json", []byte(patch), metav1.PatchOptions{}, "status")
	c.Must(err)
}

// PUB-42: what holds a budget up is told after a minute. The condition keeps its time while that lasts, costs nothing more, and goes once it is over.
func TestHeldUp(t *testing.T) {
	three := func(s *stage) {
		s.cloneSet(3)
		s.pods(s.owner(), 3)
	}
	for _, test := range []struct {
		name   string
		begins func(s *stage)
		want   string
		ends   func(s *stage)
		words  func(s *stage) // says the same in other words
		asks   bool           // the scale is looked at again and again, by no request of ours
	}{
		{name: "a pod that crashes", begins: func(s *stage) {
			three(s)
			s.patchStatus("c", crashing)
			s.createBudget(newBudget("web", "1"))
		}, want: "CrashLoop: pod c: container main of image nginx:1: CrashLoopBackOff", ends: func(s *stage) { s.ready("c") }, words: func(s *stage) {
			s.patchStatus("c", strings.ReplaceAll(crashing, "CrashLoopBackOff", "ErrImagePull"))
		}},
		{name: "a label", begins: func(s *stage) {
			three(s)
			s.createBudget(newBudget("web", "1"))
			s.patchPod("c", `{"metadata":{"labels":{"unavailable-pod.kruise.io/a":""}}}`)
		}, want: "NotCounted: pod c: label unavailable-pod.kruise.io/a takes it out of service", ends: func(s *stage) {
			s.patchPod("c", `{"metadata":{"labels":{"unavailable-pod.kruise.io/a":null}}}`)
		}},
		{name: "pods that are not created", begins: func(s *stage) {
			s.cloneSet(3)
			s.pods(s.owner(), 2)
			s.createBudget(newBudget("web", "1"))
		}, want: "PodsMissing: 2 of 3 pods are there", ends: func(s *stage) { s.pod("c", s.owner()) }},
		{name: "a workload without a scale", begins: func(s *stage) {
			s.scales.fails = ErrNotRead
			s.pods(machine("web"), 3)
			s.createBudget(newBudget("web", "1", bySelector))
		}, want: "TotalUnknown: workload Machine web: it is not known how many pods Machine web wants, so that none may be disrupted: have the controller read its scale subresource, " +
			"say minAvailable as a number, or say the total in the annotation pub.kruise.io/protect-total-replicas of a budget with a selector", ends: func(s *stage) {
			s.edit("web", `{"metadata":{"annotations":{"pub.kruise.io/protect-total-replicas":"3"}}}`)
		}},
		{name: "a target that cannot be read", begins: func(s *stage) {
			s.scales.fails = errors.New("no answer")
			s.createBudget(newBudget("web", "1", targeting("shop.io/v1", "Machine", "web")))
		}, want: "TotalUnknown: workload Machine web: read Machine.shop.io web: no answer", asks: true, ends: func(s *stage) {
			s.scales.fails, s.scales.wants["web"] = nil, 3
			s.Sleep("10m") // the back-off
		}},
		{name: "another budget", begins: func(s *stage) {
			three(s)
			s.createBudget(newBudget("former", "0"))
			s.Sleep("1s")
			s.createBudget(newBudget("web", "1", bySelector))
		}, want: "PodsElsewhere: budget former: pods such as a belong to it, which protects them: they do not count here", ends: func(s *stage) { s.removeBudget("former") }},
		{name: "a value that cannot be used", begins: func(s *stage) {
			three(s)
			s.createBudget(newBudget("web", "1", func(b *v1alpha1.PodUnavailableBudget) { *b.Spec.MaxUnavailable = intstr.FromString("many") }))
		}, want: `BadValue: spec.maxUnavailable: "many" is neither a number nor a percentage such as 30%`, asks: true, ends: func(s *stage) { s.edit("web", `{"spec":{"maxUnavailable":1}}`) }},
		{name: "a pod that cannot be told of its budget", begins: func(s *stage) {
			three(s)
			s.refuse("patch pods")
			s.createBudget(newBudget("web", "1"))
		}, want: "NotCounted: pod a (and b, c): it is still to be told of its budget", asks: true, ends: func(s *stage) {
			s.FailBefore(nil)
			s.Sleep("10m") // the back-off
		}},
		{name: "a PodDisruptionBudget that another one has the name of", begins: func(s *stage) {
			three(s)
			_, err := s.Kube.PolicyV1().PodDisruptionBudgets("default").Create(s.T.Context(), &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: "web"}}, metav1.CreateOptions{})
			s.Must(err)
			s.createBudget(newBudget("web", "1", asksForMirror))
		}, want: "NotMirrored: PodDisruptionBudget web is there and the budget does not control it: delete it, and it is created anew", ends: func(s *stage) {
			s.Must(s.Kube.PolicyV1().PodDisruptionBudgets("default").Delete(s.T.Context(), "web", metav1.DeleteOptions{}))
		}},
		{name: "a PodDisruptionBudget that is refused", begins: func(s *stage) {
			s.cloneSet(3)
			s.pods(s.owner(), 3)
			s.refuse("create poddisruptionbudgets")
			s.createBudget(newBudget("web", "1", asksForMirror))
		}, want: "NotMirrored: PodDisruptionBudget web cannot be written, events say why", asks: true, ends: func(s *stage) {
			s.FailBefore(nil)
			s.Sleep("10m") // the back-off
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				s := &stage{cluster: c, scales: &foreign{wants: map[string]int32{}}}
				_, stop := c.start(func(o *Options) { o.Scales, o.Mirror = s.scales, MirrorAnnotated })
				defer stop()
				test.begins(s)
				c.Sleep("30s")
				if got := c.HeldUp(); got != "" {
					t.Errorf("before a minute is over: %s", got)
				}
				c.Sleep("31s")
				if got := c.HeldUp(); got != test.want {
					t.Errorf("after a minute:\n%s\nwant\n%s", got, test.want)
				}
				standing := c.budget("web").Status
				c.ForgetRequests()
				if test.words != nil {
					test.words(s)
				}
				if c.Sleep("10m"); !test.asks && len(c.Sent()) > 0 {
					t.Errorf("requests while it lasts: %v", c.Sent())
				}
				if now := c.budget("web").Status; len(now.Conditions) == 0 || now.Conditions[len(now.Conditions)-1] != standing.Conditions[len(standing.Conditions)-1] {
					t.Errorf("the condition was %v, and is %v", standing.Conditions, now.Conditions)
				}
				test.ends(s)
				if c.Sleep("2m"); c.HeldUp() != "" {
					t.Errorf("once it is over: %s", c.HeldUp())
				}
			})
		})
	}
}

// refuse has the API server refuse requests of the controller.
func (s *stage) refuse(request string) {
	s.FailBefore(func(r fakecluster.Request) error {
		if r.String() == request {
			return apierrors.NewForbidden(schema.GroupResource{}, "", errors.New("a policy says so"))
		}
		return nil
	})
}

// PUB-42: a budget that allows nothing since its users want that is not held up, and costs no request.
func TestHeldUpByNothing(t *testing.T) {
	protected(t, 3, func(t *testing.T, c *cluster) {
		c.edit("web", `{"spec":{"maxUnavailable":0}}`)
		c.patchStatus("c", crashing)
		c.Sleep("1s")
		c.ForgetRequests()
		if c.Sleep("10m"); c.HeldUp() != "" || len(c.Sent()) > 0 {
			t.Errorf("it says %q, requests: %v", c.HeldUp(), c.Sent())
		}
	})
}
