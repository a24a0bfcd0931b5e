// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/revision"
	"github.com/podwright/podwright/internal/podplan"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// TestNextReconcileIsTheEarliest: of several moments at which pods become available the
// first one counts, whichever pod it is.
func TestNextReconcileIsTheEarliest(t *testing.T) {
	for _, ago := range [][]int{{10, 20}, {20, 10}} {
		w := newScenario(t)
		w.Spec("policy=Parallel", "replicas=2")
		w.rollOut(t, "")
		w.Spec("minReadySeconds=30")
		for i, pod := range slices.Clone(w.Pods) {
			w.Edit(pod.Name, func(p *corev1.Pod) {
				for c := range p.Status.Conditions {
					p.Status.Conditions[c].LastTransitionTime = metav1.NewTime(w.Now.Add(-time.Duration(ago[i]) * time.Second))
				}
			})
		}
		if got, want := NewPlan(w.snapshot()).RequeueAfter, 10*time.Second; got != want {
			t.Errorf("pods are ready for %v s, minReadySeconds 30: the next reconcile is after %v, want %v", ago, got, want)
		}
	}
}

// TestUnfinishedUpdateUsesBudget: STS-18. A pod that lacks the readiness gate and a lifecycle state stays Ready while it is
// updated in place. It is not available at the new revision before its containers are new.
func TestUnfinishedUpdateUsesBudget(t *testing.T) {
	w := newScenario(t)
	w.Spec("policy=Parallel", "replicas=3", "podUpdatePolicy=InPlaceIfPossible")
	w.rollOut(t, "")
	for _, pod := range slices.Clone(w.Pods) {
		w.Edit(pod.Name, func(p *corev1.Pod) { delete(p.Labels, lifecyclev1alpha1.StateLabel) })
	}
	w.Spec("image=nginx:2")
	for range 4 { // and no kubelet acts
		w.apply(NewPlan(w.snapshot()))
	}
	moved := 0
	for _, pod := range w.Pods {
		if pod.Spec.Containers[0].Image == "nginx:2" {
			moved++
		}
	}
	if moved != 1 {
		t.Errorf("maxUnavailable 1: %d pods have the new image before any of them runs it", moved)
	}
}

// TestHistoryKeepsRevisionsOfLeavingPods: CS-CR7. A pod that is left over, and on its
// way out, still names its revision.
func TestHistoryKeepsRevisionsOfLeavingPods(t *testing.T) {
	w := newScenario(t)
	w.Spec("policy=Parallel", "replicas=2")
	w.set.Spec.RevisionHistoryLimit = new(int32)
	w.rollOut(t, "")
	w.Spec("partition=1", "image=nginx:2")
	w.rollOut(t, "")
	old := w.Pod("web-1").Labels[podplan.RevisionLabel]
	w.Spec("replicas=1", "image=nginx:3")
	for range 4 {
		w.apply(NewPlan(w.snapshot()))
	}
	if w.Pod("web-1").DeletionTimestamp == nil || w.set.Status.CurrentRevision == old || w.set.Status.UpdateRevision == old {
		t.Fatal("pod web-1 is to be on its way out, and the last one of its revision")
	}
	var names []string
	for _, r := range w.Revisions {
		names = append(names, r.Name)
	}
	if !slices.Contains(names, old) {
		t.Errorf("revision %s of pod web-1 is gone; there are %s", old, strings.Join(names, ", "))
	}
}

// TestLabelsThatNameAPod: STS-10. They are the pod's own, whatever the template says or takes away.
func TestLabelsThatNameAPod(t *testing.T) {
	named := func(labels map[string]string) {
		labels[appsv1.PodIndexLabel], labels[appsv1.StatefulSetPodNameLabel] = "7", "web-7"
	}
	for name, change := range map[string]edit{
		"the template names another": func(s *Snapshot) { named(s.Set.Spec.Template.Labels) },
		"the template named another": func(s *Snapshot) {
			former := testTemplate("A")
			named(former.Labels)
			r, err := revision.New(s.Set, v1beta1.SchemeGroupVersion.WithKind("StatefulSet"), &former, 1, nil)
			if err != nil {
				t.Fatal(err)
			}
			s.Revisions[0].Data = r.Data
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := testSnapshot(t, "B", "A", "0A 1A", inPlace(v1beta1.InPlaceIfPossiblePodUpdateStrategyType), change)
			for i, pod := range s.Pods {
				pod.Labels[appsv1.PodIndexLabel] = fmt.Sprint(i)
			}
			plan := NewPlan(s)
			if summary(s, plan) != "UpdateInPlace 1" {
				t.Fatalf("plan %s", summary(s, plan))
			}
			pod, err := plan.Patch[0].Patch.Apply(s.Pods[1])
			if err != nil {
				t.Fatal(err)
			}
			if pod.Labels[appsv1.PodIndexLabel] != "1" || pod.Labels[appsv1.StatefulSetPodNameLabel] != "web-1" {
				t.Errorf("pod web-1 gets the labels %v", pod.Labels)
			}
		})
	}
	t.Run("a wrong index is put right", func(t *testing.T) {
		s := testSnapshot(t, "A", "A", "0A", func(s *Snapshot) { s.Pods[0].Labels[appsv1.PodIndexLabel] = "7" })
		if got := summary(s, NewPlan(s)); got != "Identify 0" {
			t.Errorf("plan %q", got)
		}
	})
}
