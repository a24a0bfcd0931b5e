// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

const sizedPods = `{"spec":{"updateStrategy":{"type":"InPlaceIfPossible","maxUnavailable":2},` +
	`"template":{"spec":{"containers":[{"name":"main","image":"nginx:1","resources":{"requests":{"cpu":"1"}}}]}}}}`

// resizable has pods resized, by nodes that decide about it by name.
func (c *cluster) resizable(decide func(pod *corev1.Pod) string) {
	c.options.Features.InPlaceResize = true
	c.restart()
	c.Kubelet.Resize = decide
}

func gives(*corev1.Pod) string { return "" }

// setCPU changes the template; more is further fields of the container.
func (c *cluster) setCPU(cpu, more string) {
	c.T.Helper()
	c.Edit(`{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"nginx:1","resources":{"requests":{"cpu":"` + cpu + `"}}` + more + `}]}}}}`)
}

// cpus lists what pods have, by their state: the spec, and what the kubelet reports.
func cpus(pods []corev1.Pod) (out []string) {
	for i := range pods {
		out = append(out, pods[i].Spec.Containers[0].Resources.Requests.Cpu().String()+"/"+pods[i].Status.ContainerStatuses[0].Resources.Requests.Cpu().String())
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func uids(pods []corev1.Pod) (out []string) {
	for i := range pods {
		out = append(out, string(pods[i].UID))
	}
	slices.Sort(out)
	return out
}

// waits lists why pods are not as they should be.
func (c *cluster) waits() (out []string) {
	c.T.Helper()
	plan, err := c.reconciler.Plan(context.Background(), web)
	c.Must(err)
	for _, w := range plan.Waiting {
		out = append(out, string(w.Reason.Rule)+": "+w.Reason.Message)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// TestResizeRequests: IP-36 and IP-38 in requests. Beside those per pod there is one for the status
// whenever its numbers have changed. The server tells no version, and none is read: OpenKruise cannot read all of them (#2502).
func TestResizeRequests(t *testing.T) {
	const pods = 20
	for _, test := range []struct {
		name string
		off  bool
		edit func(*cluster)
		want []string
	}{
		{"without a restart: 3 per pod", false, func(c *cluster) { c.setCPU("2", "") },
			[]string{"1 create controllerrevisions", "6 patch clonesets/status", "40 patch pods", "20 patch pods/resize"}},
		{"with an image: 4 per pod", false, func(c *cluster) {
			c.Edit(`{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"nginx:2","resources":{"requests":{"cpu":"2"}}}]}}}}`)
		}, []string{"1 create controllerrevisions", "11 patch clonesets/status", "20 patch pods", "20 patch pods/resize", "40 patch pods/status"}},
		{"with the feature off: recreation, 3 per pod", true, func(c *cluster) { c.setCPU("2", "") },
			[]string{"1 create controllerrevisions", "20 create pods", "20 delete pods", "17 patch clonesets/status", "20 patch pods/status"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				c.resizable(gives)
				c.options.Features.InPlaceResize = !test.off
				c.restart()
				c.create(pods, c.Merge(sizedPods, `{"spec":{"updateStrategy":{"maxUnavailable":null}}}`))
				c.Settle()
				before := c.Pods()
				test.edit(c)
				if diff := cmp.Diff(test.want, c.Settle()); diff != "" {
					t.Errorf("requests (-want +got):\n%s", diff)
				}
				after := c.Pods()
				if got := slices.Equal(uids(before), uids(after)); got == test.off {
					t.Errorf("IP-35: the same pods: %t", got)
				}
				if got := cpus(after); !slices.Equal(got, []string{"2/2"}) {
					t.Errorf("cpu %v", got)
				}
				if set := c.get(); set.Status.UpdatedAvailableReplicas != pods || len(set.Status.Conditions) > 0 || set.Status.CurrentRevision != set.Status.UpdateRevision {
					t.Errorf("status %+v", set.Status)
				}
			})
		})
	}
}

// IP-36: no container restarts and no pod leaves service, not even for a hook or a grace period, and no budget is asked.
func TestResizeKeepsServing(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.resizable(gives)
		c.options.Budget = noBudget{}
		c.restart()
		c.create(4, c.Merge(sizedPods, `{"spec":{"updateStrategy":{"inPlaceUpdateStrategy":{"gracePeriodSeconds":60}},"lifecycle":{"inPlaceUpdate":{"labelsHandler":{"hold":"true"}}}}}`))
		c.Settle()
		c.LabelPods("hold", "true")
		c.Settle()
		c.setCPU("2", "")
		for range 10 {
			c.MustReconcile()
			if status := c.get().Status; status.AvailableReplicas != 4 || !inService(c.Pods()) {
				t.Fatalf("status %+v", status)
			}
			c.KubeletStep()
		}
		for _, pod := range c.Pods() {
			if pod.Status.ContainerStatuses[0].RestartCount > 0 || pod.Status.ContainerStatuses[0].Resources.Requests.Cpu().String() != "2" {
				t.Errorf("pod %s: %+v", pod.Name, pod.Status.ContainerStatuses[0])
			}
		}
		c.Settle()
	})
}

// IP-36: a container that restarts for it does so out of service.
func TestResizeRestarts(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.resizable(gives)
		const policy = `,"resizePolicy":[{"resourceName":"cpu","restartPolicy":"RestartContainer"}]`
		c.create(2, sizedPods)
		c.setCPU("1", policy)
		c.Settle()
		before := uids(c.Pods())
		c.setCPU("2", policy)
		c.MustReconcile()
		if inService(c.Pods()) {
			t.Error("the pods are in service")
		}
		c.Settle()
		if after := c.Pods(); !inService(after) || after[0].Status.ContainerStatuses[0].RestartCount != 1 || !slices.Equal(before, uids(after)) {
			t.Errorf("pods %+v", after)
		}
	})
}

// IP-38: a pod whose node has no room serves, holds up no other, and gets its cpu when there is room.
// Meanwhile the rollout ends, and goes on to the next.
func TestResizeDeferred(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		full := true
		c.resizable(func(*corev1.Pod) string {
			if full {
				return corev1.PodReasonDeferred
			}
			return ""
		})
		c.create(6, sizedPods)
		c.Settle()
		before := uids(c.Pods())
		c.setCPU("2", "")
		c.Settle()
		if diff := cmp.Diff([]string{"2/1"}, cpus(c.Pods())); diff != "" {
			t.Errorf("cpu (-want +got):\n%s", diff)
		}
		if status := c.get().Status; status.UpdatedAvailableReplicas != 6 || status.CurrentRevision != status.UpdateRevision || len(status.Conditions) != 1 || status.Conditions[0].Reason != "ResizeDeferred" {
			t.Errorf("status %+v", status)
		}
		if diff := cmp.Diff([]string{"ResizeDeferred: the node gives the pod its new resources as soon as it has room for them: reason Deferred"}, c.waits()); diff != "" {
			t.Errorf("waits (-want +got):\n%s", diff)
		}
		c.setCPU("3", "")
		c.Settle()
		if diff := cmp.Diff([]string{"3/1"}, cpus(c.Pods())); diff != "" {
			t.Errorf("the next update: cpu (-want +got):\n%s", diff)
		}
		full = false
		c.Settle()
		if got := cpus(c.Pods()); !slices.Equal(got, []string{"3/3"}) || len(c.waits()) > 0 || !slices.Equal(before, uids(c.Pods())) {
			t.Errorf("with room: cpu %v, waits %v", got, c.waits())
		}
	})
}

// IP-39: a pod whose node can never do it is recreated, and the others are not.
func TestResizeInfeasible(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		small := ""
		c.resizable(func(pod *corev1.Pod) string {
			if pod.Name == small {
				return corev1.PodReasonInfeasible
			}
			return ""
		})
		c.create(6, sizedPods)
		c.Settle()
		small = c.PodNames()[3]
		before := uids(c.Pods())
		c.setCPU("2", "")
		c.Settle()
		kept := 0
		for _, uid := range uids(c.Pods()) {
			if slices.Contains(before, uid) {
				kept++
			}
		}
		if status := c.get().Status; kept != 5 || status.UpdatedAvailableReplicas != 6 || status.CurrentRevision != status.UpdateRevision {
			t.Errorf("%d pods are the same, status %+v", kept, status)
		}
		if got := cpus(c.Pods()); !slices.Equal(got, []string{"2/2"}) {
			t.Errorf("cpu %v", got)
		}
	})
}

// IP-39: under InPlaceOnly it waits, with the reason, and gets on when the template is changed back.
func TestResizeInfeasibleInPlaceOnly(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		small := ""
		c.resizable(func(pod *corev1.Pod) string {
			if pod.Name == small {
				return corev1.PodReasonInfeasible
			}
			return ""
		})
		c.create(4, c.Merge(sizedPods, `{"spec":{"updateStrategy":{"type":"InPlaceOnly"}}}`))
		c.Settle()
		small = c.PodNames()[1]
		before := uids(c.Pods())
		c.setCPU("2", "")
		c.Settle()
		status := c.get().Status
		if status.AvailableReplicas != 4 || status.UpdatedReplicas != 3 || status.CurrentRevision == status.UpdateRevision {
			t.Errorf("status %+v", status)
		}
		if c := status.Conditions; len(c) != 3 || c[2].Reason != "ResizeInfeasible" || c[0].Type != v1alpha1.CloneSetConditionFailedUpdate || c[1].Type != v1alpha1.CloneSetConditionReconciling || !strings.Contains(c[0].Message, small+": the node cannot give the pod its new resources") {
			t.Errorf("conditions %+v", c)
		}
		if !slices.ContainsFunc(c.waits(), func(w string) bool { return strings.HasPrefix(w, "InPlaceOnly: ") }) {
			t.Errorf("waits %v", c.waits())
		}
		c.setCPU("1", "")
		c.Settle()
		if status := c.get().Status; status.UpdatedAvailableReplicas != 4 || len(status.Conditions) > 0 || !slices.Equal(before, uids(c.Pods())) {
			t.Errorf("changed back: status %+v", status)
		}
	})
}

// IP-37: a node that does not report what containers have cannot resize them.
func TestResizeOnOldNodes(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.resizable(nil)
		c.create(4, sizedPods)
		c.Settle()
		before := uids(c.Pods())
		c.setCPU("2", "")
		requests := c.Settle()
		if slices.ContainsFunc(requests, func(r string) bool { return strings.HasSuffix(r, "pods/resize") }) || slices.Contains(before, uids(c.Pods())[0]) {
			t.Errorf("requests %v", requests)
		}
	})
}

// IP-36: a manager that ends after it has written the label is followed by one that requests the resize.
func TestResizeAfterACrash(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.resizable(gives)
		c.create(3, sizedPods)
		c.Settle()
		before := uids(c.Pods())
		c.setCPU("2", "")
		c.FailBefore(failResizes(fixture.ErrLost))
		if _, _, err := c.ReconcileOnce(); !errors.Is(err, fixture.ErrLost) && err == nil {
			t.Fatal("no error")
		}
		c.FailBefore(nil)
		c.restart()
		c.Settle()
		if got := cpus(c.Pods()); !slices.Equal(got, []string{"2/2"}) || !slices.Equal(before, uids(c.Pods())) {
			t.Errorf("cpu %v", got)
		}
	})
}

// IP-36: if another manager has gone on with the pod, its resize is not sent again; the next reconcile decides.
func TestResizeConflicts(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.resizable(gives)
		c.create(1, sizedPods)
		c.Settle()
		c.setCPU("2", "")
		c.FailBefore(failResizes(apierrors.NewConflict(schema.GroupResource{Resource: "pods"}, "x", nil)))
		requests, _, err := c.ReconcileOnce()
		if err == nil || !slices.Contains(requests, "1 patch pods/resize") {
			t.Errorf("requests %v, error %v; want one resize, and a conflict", requests, err)
		}
		if conditions := c.Conditions(); len(conditions) > 0 {
			t.Errorf("a conflict is reported: %+v", conditions)
		}
		c.FailBefore(nil)
		c.Settle()
		if got := cpus(c.Pods()); !slices.Equal(got, []string{"2/2"}) {
			t.Errorf("cpu %v", got)
		}
	})
}

// noBudget allows nothing.
type noBudget struct{}

func (noBudget) AllowUpdate(context.Context, *corev1.Pod) (bool, error) { return false, nil }
