// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// TestMissedPods: pods that were created without sidecars are reported within five seconds. (SCS-23)
func TestMissedPods(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		metrics := &counted{}
		c.create("{}", "web-a")
		_, stop := c.start(func(o *Options) { o.SetMetrics = metrics })
		defer stop()
		c.Minute()
		c.Events.Forget()
		c.CreatePod(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web-x", Labels: map[string]string{"app": "web"}}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx"}}}})
		c.Sleep("5s")
		conditions := c.get("web").Status.Conditions
		if len(conditions) != 1 || conditions[0].Type != v1alpha1.SidecarSetInjected || conditions[0].Status != corev1.ConditionFalse || !strings.Contains(conditions[0].Message, "default/web-x") {
			t.Errorf("conditions %+v", conditions)
		}
		if events := c.Events.All(); len(events) != 1 || !strings.HasPrefix(events[0], "Warning NotInjectedPods: ") {
			t.Errorf("events %q", events)
		}
		if got := metrics.show(); got != "web: 1 matched, 1 not injected" {
			t.Errorf("metrics: %s", got)
		}
		c.Delete()
		c.Minute()
		if got := metrics.show(); got != "web is gone" {
			t.Errorf("metrics: %s", got)
		}
	})
}

// counted are SetMetrics that remember the last call.
type counted struct {
	lock sync.Mutex
	last string
}

func (m *counted) Counted(set string, status *v1alpha1.SidecarSetStatus, notInjected int) {
	m.set(fmt.Sprintf("%s: %d matched, %d not injected", set, status.MatchedPods, notInjected))
}
func (m *counted) Gone(set string) { m.set(set + " is gone") }
func (m *counted) set(s string) {
	m.lock.Lock()
	defer m.lock.Unlock()
	m.last = s
}
func (m *counted) show() string {
	m.lock.Lock()
	defer m.lock.Unlock()
	return m.last
}

// TestOtherNamespace: a pod in any namespace is updated, even if the answer is lost, and
// one of the same name in another is another one.
func TestOtherNamespace(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		set := c.create("{updateStrategy: {maxUnavailable: 2}}", "web-a")
		other := podIn(c, set, "shop", "web-a")
		lose, happened := fixture.Once(fixture.Fail("patch pods", fixture.ErrLost))
		c.FailAfter(lose)
		_, stop := c.start()
		defer stop()
		c.Minute()
		c.setLog("log:2")
		for range 5 {
			c.Minute()
			c.Must(c.Kubelet.SyncAll(t.Context(), "shop"))
		}
		if !happened() {
			t.Error("no answer was lost")
		}
		pod, err := c.Kube.CoreV1().Pods("shop").Get(t.Context(), other, metav1.GetOptions{})
		c.Must(err)
		got, err := json.Marshal([][]string{imagesOf(pod), imagesOf(&c.Pods()[0])})
		c.Must(err)
		if want := `[["log=log:2","main=nginx:1"],["log=log:2","main=nginx:1"]]`; string(got) != want {
			t.Errorf("images %s, want %s", got, want)
		}
		if s := c.get("web").Status; s.UpdatedPods != 2 || len(s.Conditions) > 0 {
			t.Errorf("status %+v", s)
		}
	})
}

// podIn creates a pod in a namespace.
func podIn(c *cluster, set *v1alpha1.SidecarSet, namespace, name string) string {
	c.T.Helper()
	pod := injectedPod(c.T, set, namespace, name)
	_, err := c.Kube.CoreV1().Pods(namespace).Create(c.T.Context(), pod, metav1.CreateOptions{})
	c.Must(err)
	return pod.Name
}
