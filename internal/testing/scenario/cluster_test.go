// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/inplace/revision"
	"github.com/podwright/podwright/inplace/rollout"
)

// newCluster is a graceful cluster of a pod web-0 with a claim.
func newCluster(t TB) *Cluster {
	w := New(t, metav1.OwnerReference{Kind: "Crew", Name: "web", UID: "uid-web"}, nil)
	w.Graceful = true
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web-0"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx:1"}}}}
	w.createPods([]rollout.PodCreation{{Pod: pod, Claims: []*corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data-web-0"}}}}})
	w.Kubelets()
	return w
}

// failure is a TB that records how a cluster fails.
type failure struct {
	testing.TB
	text string
}

func (f *failure) Fatalf(format string, args ...any) {
	f.text = fmt.Sprintf(format, args...)
	panic(f)
}

func TestWhatPlansCannotAskFor(t *testing.T) {
	pod := func(name string) *corev1.Pod { return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}} }
	claim := func(name string) *corev1.PersistentVolumeClaim {
		return &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: name}}
	}
	history := func(name string) *appsv1.ControllerRevision {
		return &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Name: name}}
	}
	for _, test := range []struct {
		want string
		do   func(w *Cluster)
	}{
		{"the plan creates pod web-0, which exists", func(w *Cluster) { w.createPods([]rollout.PodCreation{{Pod: pod("web-0")}}) }},
		{"the plan deletes pod web-1, which does not exist", func(w *Cluster) { w.deletePod(pod("web-1")) }},
		{"the plan deletes pod web-0, which does not exist", func(w *Cluster) { w.deletePod(pod("web-0")) }}, // another UID
		{"the plan deletes pod web-0, which is terminating", func(w *Cluster) {
			w.remove("web-0")
			w.deletePod(w.Pod("web-0"))
		}},
		{"the plan creates claim data-web-0, which exists", func(w *Cluster) {
			w.createClaims([]*corev1.PersistentVolumeClaim{claim("data-web-0")})
		}},
		{"the plan deletes claim other, which does not exist", func(w *Cluster) { w.DeleteClaim(claim("other")) }},
		{"the plan changes the owners of claim other, which does not exist", func(w *Cluster) { w.ownClaim(claim("other"), nil) }},
		{"the plan gives claim data-web-0 the owners that it has", func(w *Cluster) {
			w.ownClaim(w.claim("data-web-0"), w.claim("data-web-0").OwnerReferences)
		}},
		{"the plan patches pod web-1, which does not exist", func(w *Cluster) {
			w.patchPods([]rollout.PodPatch{{Pod: pod("web-1"), Patch: &podpatch.Patch{}}})
		}},
		{"the plan patches pod web-0 (Refresh) without a change", func(w *Cluster) {
			w.patchPods([]rollout.PodPatch{{Pod: w.Pod("web-0"), Patch: &podpatch.Patch{}, Kind: rollout.PatchRefresh}})
		}},
		{"the plan creates revision web-a, which exists", func(w *Cluster) {
			w.writeRevisions(&revision.Changes{Create: history("web-a")})
			w.writeRevisions(&revision.Changes{Create: history("web-a")})
		}},
		{"the plan changes revision web-b, which does not exist", func(w *Cluster) {
			w.writeRevisions(&revision.Changes{Raise: history("web-b"), RaiseTo: 2})
		}},
		{"the plan adopts revision web-a, which has a controller", func(w *Cluster) {
			controller := true
			w.Owner.Controller = &controller
			w.writeRevisions(&revision.Changes{Create: history("web-a")})
			w.writeRevisions(&revision.Changes{Adopt: w.Revisions})
			w.writeRevisions(&revision.Changes{Adopt: w.Revisions})
		}},
		{"there is no pod web-7", func(w *Cluster) { w.Name("web-7") }},
	} {
		t.Run(test.want, func(t *testing.T) {
			w := newCluster(t)
			got := &failure{TB: t}
			w.T = got
			defer func() {
				if recover() == nil || got.text != test.want {
					t.Errorf("failed with %q, want %q", got.text, test.want)
				}
			}()
			test.do(w)
		})
	}
}

func TestForksHaveFuturesOfTheirOwn(t *testing.T) {
	w := New(t, metav1.OwnerReference{}, nil)
	w.Pods = []*corev1.Pod{{ObjectMeta: metav1.ObjectMeta{Name: "p"}}}
	fork := w.Fork()
	fork.Edit("p", func(p *corev1.Pod) { p.Labels = map[string]string{"of": "fork"} })
	w.remove("p")
	if len(w.Pods) != 0 || fork.Pod("p") == nil || fork.Pod("p").Labels["of"] != "fork" {
		t.Errorf("want no pod and a changed one in the fork, got %v and %v", w.Pods, fork.Pods)
	}
}
