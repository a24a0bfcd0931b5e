// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/testing/fakecluster"
)

// restartsForCPU has containers restart when their cpu changes.
const restartsForCPU = `,"resizePolicy":[{"resourceName":"cpu","restartPolicy":"RestartContainer"}]`

// sizedTemplate is sizedPods with further fields of the container, and another policy.
func (c *cluster) sizedTemplate(policy, more string) string {
	return c.Merge(sizedPods, `{"spec":{"updateStrategy":{"type":"`+policy+`","maxUnavailable":1},`+
		`"template":{"spec":{"containers":[{"name":"main","image":"nginx:1","resources":{"requests":{"cpu":"1"}}`+more+`}]}}}}`)
}

// changeCPU has a policy store another cpu than the one asked for, in every write of a pod.
func (c *cluster) changeCPU(asked, stored string) {
	c.Mutate(func(r fakecluster.Request, object *unstructured.Unstructured) {
		if r.Resource != "pods" || r.Subresource == "status" {
			return
		}
		containers, _, _ := unstructured.NestedSlice(object.Object, "spec", "containers")
		for _, each := range containers {
			if cpu, _, _ := unstructured.NestedString(each.(map[string]any), "resources", "requests", "cpu"); cpu == asked {
				_ = unstructured.SetNestedField(each.(map[string]any), stored, "resources", "requests", "cpu")
			}
		}
		_ = unstructured.SetNestedSlice(object.Object, containers, "spec", "containers")
	})
}

// IP-38: a policy gives pods another cpu than the one asked for. They get that, and the update ends with it.
func TestResizeIsChangedByAdmission(t *testing.T) {
	for _, stored := range []string{"1500m", "1"} { // rounded up, and limited to what the pods have
		for _, restart := range []string{"", restartsForCPU} {
			for _, kind := range []string{"InPlaceIfPossible", "InPlaceOnly"} {
				t.Run(kind+" "+stored+restart, func(t *testing.T) {
					inCluster(t, func(t *testing.T, c *cluster) {
						c.resizable(gives)
						c.create(4, c.sizedTemplate(kind, restart))
						_, stop := c.start()
						defer stop()
						c.Minute()
						before := uids(c.Pods())
						c.changeCPU("1200m", stored)
						c.ForgetRequests()
						c.setCPU("1200m", restart)
						for range 10 {
							c.Minute()
						}
						if got := c.Count("controller")["patch pods/resize"]; got != 4 {
							t.Errorf("%d resizes of 4 pods", got)
						}
						pods, status := c.Pods(), c.get().Status
						if diff := cmp.Diff([]string{stored + "/" + stored}, cpus(pods)); diff != "" || !inService(pods) || !slices.Equal(before, uids(pods)) {
							t.Errorf("in service %t; cpu (-want +got):\n%s", inService(pods), diff)
						}
						if status.UpdatedAvailableReplicas != 4 || status.CurrentRevision != status.UpdateRevision || len(status.Conditions) > 0 || len(c.waits()) > 0 {
							t.Errorf("status %+v, waits %v", status, c.waits())
						}
					})
				})
			}
		}
	}
}

// IP-38: what an autoscaler sets after the node has taken note of a resize stays, though the node has no room for either.
func TestResizeLeavesAnAutoscaler(t *testing.T) {
	for _, says := range []string{corev1.PodReasonDeferred, fakecluster.ResizeInProgress} {
		t.Run(says, func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				c.resizable(func(*corev1.Pod) string { return says })
				c.create(3, sizedPods)
				_, stop := c.start()
				defer stop()
				c.Minute()
				c.setCPU("2", "")
				c.Minute()
				c.ForgetRequests()
				for range 30 {
					for _, name := range c.PodNames() {
						_, err := c.Kube.CoreV1().Pods(web.Namespace).Patch(t.Context(), name, types.StrategicMergePatchType,
							[]byte(`{"spec":{"containers":[{"name":"main","resources":{"requests":{"cpu":"1500m"}}}]}}`), metav1.PatchOptions{}, "resize")
						c.Must(err)
					}
					c.Minute()
				}
				if got := c.Count("controller")["patch pods/resize"]; got > 3 {
					t.Errorf("%d resizes of 3 pods in half an hour", got)
				}
				if diff := cmp.Diff([]string{"1500m/1"}, cpus(c.Pods())); diff != "" || c.get().Status.AvailableReplicas != 3 {
					t.Errorf("cpu (-want +got):\n%s", diff)
				}
				c.Kubelet.Resize = gives
				c.Minute()
				if diff := cmp.Diff([]string{"1500m/1500m"}, cpus(c.Pods())); diff != "" || len(c.waits()) > 0 {
					t.Errorf("with room: waits %v, cpu (-want +got):\n%s", c.waits(), diff)
				}
			})
		})
	}
}
