// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/podwright/podwright/internal/testing/fakecluster"
)

// TestRelabelledPods has something change the labels of new pods for an hour. The number of pods that are made is bounded, none
// is left behind, and a condition says why. Once the labels stay, the CloneSet gets all its pods.
func TestRelabelledPods(t *testing.T) {
	admission := func(change func(labels map[string]string)) func(*cluster) func() {
		return func(c *cluster) func() {
			made := 0
			c.Mutate(func(r fakecluster.Request, object *unstructured.Unstructured) {
				if made++; r.String() == "create pods" && made < 1000 { // more show nothing new
					labels := object.GetLabels()
					change(labels)
					object.SetLabels(labels)
				}
			})
			return func() {}
		}
	}
	for _, test := range []struct {
		name      string
		begin     func(*cluster) (step func())
		condition string
	}{
		{"CT-5: admission changes a label of the selector", admission(func(l map[string]string) { l["app"] = "other" }), `label app is "other"`},
		{"CT-5: admission drops the label of the revision", admission(func(l map[string]string) { delete(l, "controller-revision-hash") }), "no label controller-revision-hash"},
		{"CT-6: something changes it soon after the creation", func(c *cluster) func() {
			c.Kubelet.Schedule = func(*corev1.Pod) string { return "" }
			return func() {
				for _, pod := range c.Pods() {
					if pod.Labels["app"] == "web" {
						c.PatchPod(pod.Name, `{"metadata":{"labels":{"app":"other"}}}`)
					}
				}
			}
		}, "spec.selector does not match it any more"},
	} {
		t.Run(test.name, func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				step := test.begin(c)
				c.create(3, "")
				_, stop := c.Run()
				defer stop()
				for range 3600 {
					step()
					c.Sleep("1s")
					if len(c.Pods()) > 3 {
						t.Fatalf("%d pods are left", len(c.Pods()))
					}
				}
				if n := c.Count("controller")["create pods"]; n > 3*21 {
					t.Errorf("%d pods were created in an hour", n)
				}
				if said := strings.Join(c.Conditions(), "; "); !strings.Contains(said, "FailedScale") || !strings.Contains(said, test.condition) {
					t.Errorf("conditions %q", said)
				}
				c.Mutate(nil)
				c.Kubelet.Schedule = nil
				for range 15 {
					c.Minute()
				}
				if status := c.get().Status; status.ReadyReplicas != 3 || len(c.Pods()) != 3 || len(c.Conditions()) > 0 {
					t.Errorf("afterwards %d pods, conditions %q, status %+v", len(c.Pods()), c.Conditions(), status)
				}
			})
		})
	}
}
