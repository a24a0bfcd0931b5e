// SPDX-License-Identifier: Apache-2.0

package podreadiness_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/lifecycle/podreadiness"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

var cloneSets = fakecluster.CustomResource(v1alpha1.SchemeGroupVersion.WithKind("CloneSet"), "clonesets")

// TestStories plays the stories in testdata: see fixture.PlayStories. "gated" creates a pod, changed by words of testdata/words.yaml. "removed-before-write" has
// another writer remove the pod just before the controller's next write. "heartbeats" is fixture.Cluster.Heartbeats.
func TestStories(t *testing.T) {
	fixture.PlayStories(t, "testdata/stories", cloneSets, func(c *fixture.Cluster) *fixture.Story {
		o := podreadiness.Options{Kubernetes: c.Client(fixture.ControllerUser), Pods: c.PodInformer()}
		c.Unfinished = func() string { return "" } // there is no pod any more
		return &fixture.Story{Stable: true, Restart: func() {},
			Start: func() (*fixture.Reconciles, func()) {
				reconciles := &fixture.Reconciles{}
				o.ControllerOptions = podwright.ControllerOptions{Metrics: reconciles}
				return reconciles, fixture.StartNew(c, podreadiness.New, o)
			},
			Further: map[string]func(...string) string{
				"gated": func(words ...string) string {
					pod := gated(words[1:]...)
					pod.ObjectMeta = metav1.ObjectMeta{Name: words[0], OwnerReferences: pod.OwnerReferences}
					c.CreatePod(pod)
					return ""
				},
				"heartbeats": func(...string) string { c.Heartbeats(); return "" },
				"removed-before-write": func(...string) string {
					once, _ := fixture.Once(fixture.Fail("patch pods/status", fixture.ErrInternal))
					c.FailBefore(func(r fakecluster.Request) error {
						if once(r) == nil {
							return nil
						}
						return c.Kube.CoreV1().Pods(fixture.Web.Namespace).Delete(t.Context(), r.Name, *metav1.NewDeleteOptions(0))
					})
					return ""
				},
			}}
	})
}
