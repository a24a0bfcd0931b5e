// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// TestTriggers: what concerns a SidecarSet has it reconciled, and nothing else. (SCS-W6)
func TestTriggers(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.create("{updateStrategy: {type: NotUpdate}}", "web-a", "web-b")
		c.Create(newSet(t, "web-1", "namespaceSelector: {matchLabels: {team: a}}"), "")
		reconciles, stop := c.start()
		defer stop()
		c.Minute()
		matched := func(want ...int32) {
			t.Helper()
			if got := []int32{c.get("web").Status.MatchedPods, c.get("web-1").Status.MatchedPods}; !slices.Equal(got, want) {
				t.Errorf("matched %d, want %d", got, want)
			}
		}
		matched(2, 0)
		for _, step := range []struct {
			name  string
			act   func()
			least int // reconciles
			want  []int32
		}{
			{"a pod of nobody", func() {
				c.CreatePod(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "db", Labels: map[string]string{"app": "db"}}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "db"}}}})
			}, 0, []int32{2, 0}},
			{"heartbeats", func() { c.Heartbeats() }, 0, []int32{2, 0}},
			{"a pod that goes", func() { c.RemovePod("web-b") }, 1, []int32{1, 0}},
			{"a pod that leaves", func() { c.PatchPod("web-a", `{"metadata":{"labels":{"app":"x"}}}`) }, 1, []int32{0, 0}},
			{"a pod that is taken over", func() {
				c.PatchPod("web-a", `{"metadata":{"labels":{"app":"web-1"},"annotations":{"kruise.io/sidecarset-injected-list":"web-1"}}}`)
			}, 1, []int32{0, 0}},
			{"the labels of its namespace", func() {
				_, err := c.Kube.CoreV1().Namespaces().Patch(t.Context(), "default", types.MergePatchType, []byte(`{"metadata":{"labels":{"team":"a"}}}`), metav1.PatchOptions{})
				c.Must(err)
			}, 1, []int32{0, 1}},
			{"an annotation of its namespace", func() {
				_, err := c.Kube.CoreV1().Namespaces().Patch(t.Context(), "default", types.MergePatchType, []byte(`{"metadata":{"annotations":{"a":"b"}}}`), metav1.PatchOptions{})
				c.Must(err)
			}, 0, []int32{0, 1}},
			{"no webhook hears of the pods of its namespace any more", func() {
				_, err := c.Kube.CoreV1().Namespaces().Patch(t.Context(), "default", types.MergePatchType, []byte(`{"metadata":{"labels":{"control-plane":""}}}`), metav1.PatchOptions{})
				c.Must(err)
			}, 2, []int32{0, 1}},
		} {
			before := reconciles.Count()
			step.act()
			c.Minute()
			if n := reconciles.Count() - before; n < step.least || step.least == 0 && n > 0 {
				t.Errorf("%s: %d reconciles", step.name, n)
			}
			matched(step.want...)
		}
		if errs := reconciles.Errors(); len(errs) > 0 {
			t.Errorf("errors %v", errs)
		}
	})
}

// TestCollision: a revision gets another name if something else has it. (SCS-R3)
func TestCollision(t *testing.T) {
	for name, change := range map[string]func(*appsv1.ControllerRevision){
		"of its own, with other data": func(r *appsv1.ControllerRevision) { r.Data.Raw = []byte(`{"spec":{"containers":[]}}`) },
		"that cannot be read":         func(r *appsv1.ControllerRevision) { r.Data.Raw = []byte(`{"spec":null}`) },
		"of another":                  func(r *appsv1.ControllerRevision) { r.OwnerReferences[0].UID = "other" },
		"of nobody":                   func(r *appsv1.ControllerRevision) { r.OwnerReferences = nil },
	} {
		t.Run(name, func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				c.create("{}", "web-a")
				c.Settle()
				revisions := c.Kube.AppsV1().ControllerRevisions(DefaultRevisionNamespace)
				taken, err := revisions.Get(t.Context(), c.get("web").Status.LatestRevision, metav1.GetOptions{})
				c.Must(err)
				c.Must(revisions.Delete(t.Context(), taken.Name, metav1.DeleteOptions{}))
				taken.UID, taken.ResourceVersion = "", ""
				change(taken)
				_, err = revisions.Create(t.Context(), taken, metav1.CreateOptions{})
				c.Must(err)
				c.Settle()
				status := c.get("web").Status
				if status.LatestRevision == taken.Name || ptr.Deref(status.CollisionCount, 0) != 1 {
					t.Errorf("revision %s beside %s, %d collisions", status.LatestRevision, taken.Name, ptr.Deref(status.CollisionCount, 0))
				}
				if _, err := revisions.Get(t.Context(), status.LatestRevision, metav1.GetOptions{}); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

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
