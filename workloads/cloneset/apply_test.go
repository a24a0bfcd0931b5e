package cloneset

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/apitest"
)

var (
	errInternal = apierrors.NewInternalError(errors.New("injected"))
	errQuota    = apierrors.NewForbidden(corev1.Resource("pods"), "", errors.New("exceeded quota"))
	errLost     = errors.New("connection reset by peer")
)

// fail makes the requests of the controller that the text describes fail:
// "delete pods web-x" for example, where the name may be left out.
func fail(what string, err error) func(apitest.Request) error {
	return func(r apitest.Request) error {
		if r.User == controllerUser && strings.HasPrefix(r.String()+" "+r.Name, what) {
			return err
		}
		return nil
	}
}

// TestOnePodFails injects an error for one pod of five.
func TestOnePodFails(t *testing.T) {
	const two = `{"spec":{"updateStrategy":{"type":"InPlaceIfPossible","maxUnavailable":5}}}`
	for _, test := range []struct {
		name      string
		change    func(*cluster)
		fail      string // the request, without the pod
		want      []string
		event     string
		condition string
	}{
		{"rule 32: an update in place, its first write", func(c *cluster) { c.setImage("nginx:2") }, "patch pods/status",
			[]string{"1 create controllerrevisions", "1 patch clonesets/status", "4 patch pods", "5 patch pods/status"},
			"FailedUpdatePodInPlace", "FailedUpdate"},
		{"rule 32: an update in place, its second write", func(c *cluster) { c.setImage("nginx:2") }, "patch pods ",
			[]string{"1 create controllerrevisions", "1 patch clonesets/status", "5 patch pods", "5 patch pods/status"},
			"FailedUpdatePodInPlace", "FailedUpdate"},
		{"rule 24: a deletion", func(c *cluster) { c.edit(`{"spec":{"replicas":0}}`) }, "delete pods",
			[]string{"5 delete pods", "1 patch clonesets/status"}, "FailedDelete", "FailedScale"},
		{"rule 33: a deletion for an update", func(c *cluster) {
			c.edit(`{"spec":{"updateStrategy":{"type":"ReCreate"},"template":{"spec":{"containers":[{"name":"main","image":"nginx:2"}]}}}}`)
		}, "delete pods", []string{"1 create controllerrevisions", "5 delete pods", "1 patch clonesets/status"},
			"FailedUpdatePodReCreate", "FailedUpdate"},
	} {
		t.Run(test.name, func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				c.create(5, two)
				c.settle()
				broken := c.podNames()[2]
				test.change(c)
				what := strings.TrimSpace(test.fail) + " " + broken
				c.FailBefore(fail(what, errInternal))
				requests, _, err := c.pass()
				if !apierrors.IsInternalError(firstStatus(err)) {
					t.Errorf("error %v, want the injected one", err)
				}
				if diff := cmp.Diff(test.want, requests); diff != "" {
					t.Errorf("requests (-want +got):\n%s", diff)
				}
				if c.events.count(test.event) != 1 {
					t.Errorf("events %q, want one %s", c.events.events, test.event)
				}
				if got := c.conditions(); len(got) != 1 || !strings.HasPrefix(got[0], test.condition+": ") || !strings.Contains(got[0], broken) {
					t.Errorf("conditions %q, want one %s that names pod %s", got, test.condition, broken)
				}
				c.FailBefore(nil)
				c.settle()
				if got := c.conditions(); len(got) > 0 {
					t.Errorf("conditions %q after the failure is over", got)
				}
				set := c.get()
				if set.Status.UpdatedReadyReplicas != *set.Spec.Replicas || len(c.pods()) != int(*set.Spec.Replicas) {
					t.Errorf("%d pods, status %+v", len(c.pods()), set.Status)
				}
			})
		})
	}
	t.Run("the condition is the same whichever pod fails first, and costs one write", func(t *testing.T) {
		inCluster(t, func(t *testing.T, c *cluster) {
			c.create(20, two)
			c.settle()
			c.setImage("nginx:2")
			c.FailBefore(fail("patch pods/status", errInternal))
			_, _, _ = c.pass()
			for range 5 {
				requests, _, _ := c.pass()
				if diff := cmp.Diff([]string{"5 get pods", "5 patch pods/status"}, requests); diff != "" {
					t.Fatalf("requests (-want +got):\n%s", diff)
				}
			}
			if got := c.conditions(); len(got) != 1 || len(got[0]) > 1000 {
				t.Errorf("conditions %q", got)
			}
		})
	})
}

// firstStatus finds an API server's error among joined ones.
func firstStatus(err error) error {
	var status *apierrors.StatusError
	if errors.As(err, &status) {
		return status
	}
	return err
}

// TestCreationFails is rule 19.
func TestCreationFails(t *testing.T) {
	t.Run("rule 19: a quota costs one request per pass", func(t *testing.T) {
		inCluster(t, func(t *testing.T, c *cluster) {
			c.create(100, "")
			c.mustFailBefore("create pods", errQuota)
			c.mustFailPass(apierrors.IsForbidden)
			for range 3 {
				c.mustFailPass(apierrors.IsForbidden)
				if diff := cmp.Diff(map[string]int{"create pods": 1}, c.Count(controllerUser)); diff != "" {
					t.Errorf("requests (-want +got):\n%s", diff)
				}
			}
			if got := c.conditions(); len(got) != 1 || !strings.HasPrefix(got[0], "FailedScale: ") || !strings.Contains(got[0], "exceeded quota") {
				t.Errorf("conditions %q", got)
			}
			if c.events.count("FailedCreate") == 0 {
				t.Errorf("events %q", c.events.events)
			}
		})
	})
	t.Run("rule 19: a quota that is reached on the way ends the batch", func(t *testing.T) {
		inCluster(t, func(t *testing.T, c *cluster) {
			c.create(100, "")
			var created atomic.Int32
			c.FailBefore(func(r apitest.Request) error {
				if r.String() == "create pods" && created.Add(1) > 5 {
					return errQuota
				}
				return nil
			})
			requests, _, _ := c.pass()
			if diff := cmp.Diff([]string{"1 create controllerrevisions", "7 create pods", "1 patch clonesets/status"}, requests); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
			c.FailBefore(nil)
			c.settle()
			if n := len(c.pods()); n != 100 {
				t.Errorf("%d pods, want 100", n)
			}
		})
	})
	const claims = `{"spec":{"volumeClaimTemplates":[{"metadata":{"name":"data"},"spec":{}}]}}`
	for _, test := range []struct{ resource, spec string }{
		{"pods", ""}, {"pods", claims}, {"persistentvolumeclaims", claims}, {"controllerrevisions", ""},
	} {
		t.Run("a creation of "+test.resource+" whose answer is lost is made once "+test.spec, func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				c.create(3, test.spec)
				lost := fail("create "+test.resource, errLost)
				var once atomic.Bool
				c.FailAfter(func(r apitest.Request) error {
					if err := lost(r); err != nil && once.CompareAndSwap(false, true) {
						return err
					}
					return nil
				})
				c.Hold(test.resource)
				for range 5 {
					if _, _, _ = c.pass(); len(c.pods()) > 3 {
						t.Errorf("%d pods, want 3", len(c.pods()))
					}
				}
				if !once.Load() {
					t.Error("no answer was lost")
				}
				c.Release(test.resource)
				c.settle()
				claims, err := c.kube.CoreV1().PersistentVolumeClaims("default").List(t.Context(), metav1.ListOptions{})
				if err != nil {
					t.Fatal(err)
				}
				if len(c.pods()) != 3 || len(claims.Items)%3 != 0 || len(c.conditions()) > 0 {
					t.Errorf("%d pods, %d claims, conditions %q", len(c.pods()), len(claims.Items), c.conditions())
				}
			})
		})
	}
}

func TestCreationIsFoundLater(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.create(1, `{"spec":{"volumeClaimTemplates":[{"metadata":{"name":"data"},"spec":{}}]}}`)
		c.FailAfter(fail("create pods", errLost))
		c.FailBefore(fail("get pods", errLost))
		c.Hold("pods")
		if _, _, err := c.pass(); !errors.Is(err, errLost) {
			t.Errorf("error %v, want the lost answer", err)
		}
		c.FailAfter(nil)
		c.FailBefore(nil)
		for _, want := range [][]string{{"1 get pods"}, {}} { // found, and then waited for
			if diff := cmp.Diff(want, c.mustPass()); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		}
		c.Release("pods")
		c.settle()
		if n, failed := len(c.pods()), c.conditions(); n != 1 || len(failed) > 0 {
			t.Errorf("%d pods, conditions %q", n, failed)
		}
	})
}

// mustFailPass makes a pass, which must fail in a certain way.
func (c *cluster) mustFailPass(is func(error) bool) {
	c.t.Helper()
	if _, _, err := c.pass(); !is(firstStatus(err)) {
		c.t.Errorf("error %v is not the one wanted", err)
	}
}

func (c *cluster) mustFailBefore(what string, err error) { c.FailBefore(fail(what, err)) }

// TestReplacedPods has pods deleted and created again under the same name, by
// somebody else, while the cache shows the former ones.
func TestReplacedPods(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*cluster)
	}{
		{"a stale plan to delete", func(c *cluster) { c.edit(`{"spec":{"replicas":0}}`) }},
		{"a stale plan to update in place", func(c *cluster) { c.setImage("nginx:2") }},
		{"a stale plan to label", func(c *cluster) {
			c.edit(`{"spec":{"replicas":0,"lifecycle":{"preDelete":{"labelsHandler":{"hold":"true"}}}}}`)
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				c.create(2, `{"spec":{"updateStrategy":{"type":"InPlaceIfPossible","maxUnavailable":2},"template":{"metadata":{"labels":{"app":"web","hold":"true"}}}}}`)
				c.settle()
				test.change(c)
				c.Hold("pods")
				for _, name := range c.podNames() {
					c.replace(name)
				}
				for _, err := range onePass(c) {
					if !apierrors.IsConflict(err) {
						t.Errorf("error %v; that a pod has been replaced is none", err)
					}
				}
				for _, pod := range c.pods() {
					if pod.Labels["by"] != "user" || len(pod.Labels) != 1 || pod.Spec.Containers[0].Image != "mine" || pod.DeletionTimestamp != nil {
						t.Errorf("pod %s was changed: %v", pod.Name, pod.Labels)
					}
				}
				if got := c.conditions(); len(got) > 0 {
					t.Errorf("conditions %q", got)
				}
			})
		})
	}
}

func onePass(c *cluster) []error {
	_, _, err := c.pass()
	if err == nil {
		return nil
	}
	return err.(interface{ Unwrap() []error }).Unwrap()
}

// replace puts a pod of the user's in the place of another one.
func (c *cluster) replace(name string) {
	c.t.Helper()
	now := int64(0)
	pods := c.kube.CoreV1().Pods("default")
	if err := pods.Delete(c.t.Context(), name, metav1.DeleteOptions{GracePeriodSeconds: &now}); err != nil {
		c.t.Fatal(err)
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"by": "user"}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "mine"}}}}
	if _, err := pods.Create(c.t.Context(), pod, metav1.CreateOptions{}); err != nil {
		c.t.Fatal(err)
	}
	synctest.Wait()
}

// budget allows n updates.
type budget struct {
	left  int
	err   error
	asked []string

	inside  atomic.Int32
	overlap atomic.Bool
}

func (b *budget) AllowUpdate(_ context.Context, pod *corev1.Pod) (bool, error) {
	b.overlap.Store(b.overlap.Load() || b.inside.Add(1) > 1)
	defer b.inside.Add(-1)
	for range 100 { // time for another question
		runtime.Gosched()
	}
	b.asked = append(b.asked, pod.Name)
	b.left--
	return b.left >= 0, b.err
}

// TestBudget is rule 32.
func TestBudget(t *testing.T) {
	for _, test := range []struct {
		name, strategy string
		budget         *budget
		asked          int
		update         []string
	}{
		{"rule 32: in place, two are allowed, and none is asked about after the first refusal", "InPlaceIfPossible", &budget{left: 2}, 3,
			[]string{"1 create controllerrevisions", "1 patch clonesets/status", "2 patch pods", "2 patch pods/status"}},
		{"rule 32: by recreation, two are allowed", "ReCreate", &budget{left: 2}, 3,
			[]string{"1 create controllerrevisions", "2 delete pods", "1 patch clonesets/status"}},
		{"rule 32: a budget that cannot tell allows nothing", "InPlaceIfPossible", &budget{left: 9, err: errLost}, 1,
			[]string{"1 create controllerrevisions", "1 patch clonesets/status"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				c.options.Budget = test.budget
				c.reconciler, _ = NewReconciler(c.options)
				c.create(20, `{"spec":{"updateStrategy":{"type":"`+test.strategy+`","maxUnavailable":20}}}`)
				c.settle()
				c.setImage("nginx:2")
				requests, after, err := c.pass()
				if diff := cmp.Diff(test.update, requests); diff != "" {
					t.Errorf("requests (-want +got):\n%s", diff)
				}
				if len(test.budget.asked) != test.asked || after != time.Second || !errors.Is(err, test.budget.err) {
					t.Errorf("asked about %v, again after %v, error %v", test.budget.asked, after, err)
				}
				if test.budget.overlap.Load() {
					t.Error("it was asked about two pods at a time")
				}
				test.budget.left, test.budget.err = 1000, nil
				c.settle()
				if status := c.get().Status; status.UpdatedReadyReplicas != 20 || len(status.Conditions) > 0 {
					t.Errorf("status %+v", status)
				}
			})
		})
	}
}
