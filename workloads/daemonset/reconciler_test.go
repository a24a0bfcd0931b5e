// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/internal/testing/fakecluster/scheduler"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

const inPlaceTen = `{"spec":{"updateStrategy":{"rollingUpdate":{"rollingUpdateType":"InPlaceIfPossible","maxUnavailable":10}}}}`

// TestRequests counts what 20 nodes cost. Beside the requests per pod there is one for
// the status of the DaemonSet whenever its numbers have changed.
func TestRequests(t *testing.T) {
	for _, test := range []struct {
		name  string
		setup func(*cluster)
		want  []string
	}{
		{"creation: 1 per pod", func(c *cluster) { c.Create(testSet("web"), "{}") },
			[]string{"1 create controllerrevisions", "20 create pods", "2 patch daemonsets/status"}},
		{"creation with the gate: 2 per pod", func(c *cluster) { c.Create(testSet("web"), inPlaceTen) },
			[]string{"1 create controllerrevisions", "20 create pods", "3 patch daemonsets/status", "20 patch pods/status"}},
		{"update in place: 3 per pod", func(c *cluster) { c.Create(testSet("web"), inPlaceTen); c.Settle(); c.SetImage("nginx:2") },
			[]string{"1 create controllerrevisions", "5 patch daemonsets/status", "20 patch pods", "40 patch pods/status"}},
		{"update by recreation: 2 per pod", func(c *cluster) {
			c.Create(testSet("web"), `{"spec":{"updateStrategy":{"rollingUpdate":{"maxUnavailable":10}}}}`)
			c.Settle()
			c.SetImage("nginx:2")
		}, []string{"1 create controllerrevisions", "20 create pods", "20 delete pods", "5 patch daemonsets/status"}},
		{"a node that leaves the zone: 1 per pod", func(c *cluster) {
			c.Create(testSet("web"), `{"spec":{"template":{"spec":{"nodeSelector":{"zone":"a"}}}}}`)
			c.Settle()
			c.patchNode("n1", `{"metadata":{"labels":{"zone":"b"}}}`)
		}, []string{"1 delete pods", "2 patch daemonsets/status"}},
		{"restart of the controller: none", func(c *cluster) { c.Create(testSet("web"), inPlaceTen); c.Settle(); c.restart() }, []string{}},
		{"a changed annotation: none", func(c *cluster) {
			c.Create(testSet("web"), inPlaceTen)
			c.Settle()
			c.Edit(`{"metadata":{"annotations":{"a":"b"}}}`)
		}, []string{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				c.addNodes(nodeNames(20)...)
				test.setup(c)
				if diff := cmp.Diff(test.want, c.Settle()); diff != "" {
					t.Errorf("requests (-want +got):\n%s", diff)
				}
				if s := c.get().Status; s.NumberUnavailable != 0 || len(s.Conditions) > 0 {
					t.Errorf("status %+v", s)
				}
			})
		})
	}
}

// TestRefusedNode: a node for which the API server refuses a pod does not keep others from
// theirs. (DS-7)
func TestRefusedNode(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.addNodes(nodeNames(6)...)
		c.FailBefore(func(r fakecluster.Request) error {
			if r.String() == "create pods" && strings.Contains(string(r.Body), `"n1"`) {
				return fixture.ErrInternal
			}
			return nil
		})
		_, stop := c.start()
		c.Create(testSet("web"), "{}")
		c.Sleep("1m")
		if pods := c.Pods(); len(pods) != 5 {
			t.Errorf("%d pods, want 5", len(pods))
		}
		if conditions := c.Conditions(); len(conditions) != 1 || !strings.Contains(conditions[0], "FailedCreatePod") {
			t.Errorf("conditions %q", conditions)
		}
		c.FailBefore(nil)
		c.Sleep("10m")
		stop()
		if pods := c.Pods(); len(pods) != 6 {
			t.Errorf("%d pods, want 6", len(pods))
		}
		if conditions := c.Conditions(); len(conditions) != 0 {
			t.Errorf("conditions %q", conditions)
		}
	})
}

// TestReleasedPod: a user takes a pod out, which retains its name; another one comes. (DS-3, DS-7)
func TestReleasedPod(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.addNodes("n1")
		c.Create(testSet("web"), "{}")
		c.Settle()
		taken := c.PodNames()[0]
		_, stop := c.start()
		c.PatchPod(taken, `{"metadata":{"labels":{"app":"debug"}}}`)
		c.Sleep("1m")
		stop()
		var own []string
		for _, pod := range c.Pods() {
			if metav1.GetControllerOf(&pod) != nil {
				own = append(own, pod.Name)
			}
		}
		if len(own) != 1 || own[0] == taken {
			t.Errorf("the pods are %q, %s was taken out", own, taken)
		}
	})
}

// TestAdoption: pods of a DaemonSet that was deleted without them are adopted. (DS-3, DS-CR4)
func TestAdoption(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.addNodes("n1", "n2")
		c.Create(testSet("web"), "{}")
		c.Settle()
		before := c.PodNames()
		c.Orphan()
		c.Create(testSet("web"), "{}")
		c.Settle()
		if diff := cmp.Diff(before, c.PodNames()); diff != "" {
			t.Errorf("pods (-before +after):\n%s", diff)
		}
		for _, pod := range c.Pods() {
			if owner := metav1.GetControllerOf(&pod); owner == nil || owner.UID != c.get().UID {
				t.Errorf("pod %s belongs to %v", pod.Name, owner)
			}
		}
	})
}

// TestEvents records every event that there is. (DS-1, DS-4, DS-19)
func TestEvents(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.addNodes("n1")
		c.FailBefore(fixture.Fail("create pods", fixture.ErrQuota))
		c.Create(testSet("web"), "{}")
		c.MustFailReconcile(apierrors.IsForbidden)
		c.FailBefore(nil)
		c.Settle()
		c.FailBefore(fixture.Fail("delete pods", fixture.ErrQuota))
		c.PatchPod(c.PodNames()[0], `{"status":{"phase":"Failed"}}`, "status")
		c.MustFailReconcile(apierrors.IsForbidden)
		c.FailBefore(nil)
		c.Settle()
		c.PatchPod(c.PodNames()[0], `{"status":{"phase":"Succeeded"}}`, "status")
		c.Settle()
		c.Edit(inPlaceTen)
		c.SetImage("nginx:2")
		c.Settle() // which recreates the pod, with the gate
		c.FailBefore(fixture.Fail("patch pods", fixture.ErrQuota))
		c.SetImage("nginx:3")
		c.MustFailReconcile(apierrors.IsForbidden)
		c.FailBefore(nil)
		c.Settle()
		c.Edit(`{"spec":{"selector":{"matchLabels":null}}}`)
		c.Settle()
		events := strings.Join(c.Events.All(), "\n")
		for _, want := range []string{
			"Warning FailedCreate: Error creating: ", "Normal SuccessfulCreate: Created pod: web-",
			"Warning FailedDelete: Error deleting: ", "Normal SuccessfulDelete: Deleted pod: web-",
			"Warning FailedDaemonPod: Pod web-", "Normal SucceededDaemonPod: Pod web-",
			"Normal SuccessfulUpdatePodInPlace: ", "Warning FailedUpdatePodInPlace: ", "Warning SelectingAll: This daemon set",
		} {
			if !strings.Contains(events, want) {
				t.Errorf("DS-19: no event %q in\n%s", want, events)
			}
		}
	})
}

// numbers are SetMetrics that remember the last ones.
type numbers map[types.NamespacedName]string

func (n numbers) Counted(set types.NamespacedName, s *v1alpha1.DaemonSetStatus) {
	n[set] = fmt.Sprint(s.DesiredNumberScheduled, s.CurrentNumberScheduled, s.NumberReady, s.UpdatedNumberScheduled, s.NumberMisscheduled)
}
func (n numbers) Gone(set types.NamespacedName) { delete(n, set) }

// The numbers of a DaemonSet are measured while it exists, also by a manager that starts when nothing happens. (DS-19.1)
func TestSetMetrics(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		measured := numbers{}
		c.options.SetMetrics = measured
		c.restart()
		c.addNodes(nodeNames(4)...)
		c.Create(testSet("web"), `{"spec":{"updateStrategy":{"rollingUpdate":{"partition":3}}}}`)
		c.Settle()
		c.SetImage("nginx:2")
		c.Settle()
		for _, pod := range c.Pods() {
			if scheduler.NodeOf(&pod) == "n2" {
				c.PatchPod(pod.Name, `{"status":{"conditions":[{"type":"Ready","status":"False"}]}}`, "status")
			}
		}
		c.MustReconcile()
		c.patchNode("n1", `{"spec":{"taints":[{"key":"a","effect":"NoSchedule"}]}}`)
		c.MustReconcile()
		s := c.get().Status
		want := fmt.Sprint(s.DesiredNumberScheduled, s.CurrentNumberScheduled, s.NumberReady, s.UpdatedNumberScheduled, s.NumberMisscheduled)
		if s.DesiredNumberScheduled != 3 || s.NumberReady != 2 || s.UpdatedNumberScheduled != 1 || s.NumberMisscheduled != 1 || measured[web] != want {
			t.Errorf("DS-19.1: measured %q of the status %+v", measured[web], s)
		}
		clear(measured)
		c.restart()
		c.MustReconcile()
		if measured[web] != want {
			t.Errorf("DS-19.1: measured %q after a restart, want %q", measured[web], want)
		}
		c.Must(c.sets.Delete(t.Context(), web.Name, metav1.DeleteOptions{}))
		synctest.Wait()
		c.MustReconcile()
		if len(measured) != 0 {
			t.Errorf("DS-19.1: measured %v of a DaemonSet that is gone", measured)
		}
	})
}

// TestSimulation plays random histories amid stale caches, requests that fail, answers that are lost, managers that die, and
// users who change their minds. No node ever has two pods that none of the updates asked for. In the end every node has an
// available pod of the present template. (DS-1, DS-3, DS-11)
