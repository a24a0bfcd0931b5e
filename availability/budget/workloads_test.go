// SPDX-License-Identifier: Apache-2.0

package budget_test

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/availability/budget"
	"github.com/podwright/podwright/availability/v1alpha1"
)

func TestSelect(t *testing.T) {
	target := func(apiVersion, kind, name string) func(*v1alpha1.PodUnavailableBudget) {
		return func(b *v1alpha1.PodUnavailableBudget) {
			b.Spec.TargetReference = &v1alpha1.TargetReference{APIVersion: apiVersion, Kind: kind, Name: name}
		}
	}
	terminating := func(w *budget.Workload) *budget.Workload { w.Deleting = true; return w }
	silent := func(w *budget.Workload) *budget.Workload { w.Replicas = nil; return w }
	of := func(apiVersion, kind, name string, w *budget.Workload) *budget.Workload {
		w.Controller.APIVersion, w.Controller.Kind, w.Controller.Name = apiVersion, kind, name
		return w
	}
	ofCloneSet := controlledBy("apps.kruise.io/v1alpha1", "CloneSet", "web")
	web, app := workload("apps.kruise.io", "CloneSet", "web", 3, ""), map[string]string{"app": "web"}
	for _, tt := range []struct {
		name      string
		budget    *v1alpha1.PodUnavailableBudget
		pods      []*corev1.Pod
		workloads budget.Workloads
		want      string // total and pods, or the error
	}{
		{"PUB-1: neither ended nor being deleted", newBudget(), []*corev1.Pod{newPod("a"), newPod("b", phase(corev1.PodFailed)), newPod("c", phase(corev1.PodSucceeded)),
			newPod("d", deleting), newPod("e", phase(corev1.PodPending), unready)}, workloads(web), "3 a e"},
		{"PUB-3: its own", newBudget(), []*corev1.Pod{newPod("a"), newPod("b", ownedBy("other")), newPod("c", bare)}, workloads(web), "3 a"},
		{"PUB-3: whatever the version", newBudget(target("apps.kruise.io/v9", "CloneSet", "web")), newPods(1), workloads(web), "3 pod-0"},
		{"PUB-3: of another group", newBudget(target("apps/v1", "CloneSet", "web")), newPods(1), workloads(web), "0 unprotected"},
		{"PUB-3: no such workload", newBudget(), newPods(1, controlledBy("apps/v1", "ReplicaSet", "other")), nil, "0 unprotected"},
		{"PUB-3: no such version", newBudget(target("a/b/c", "CloneSet", "web")), newPods(1), workloads(web), "0 unprotected"},
		{"PUB-3: being deleted", newBudget(), newPods(1), workloads(terminating(workload("apps.kruise.io", "CloneSet", "web", 3, ""))), "0 unprotected"},
		{"PUB-3: scaled to 0", newBudget(), newPods(1), workloads(workload("apps.kruise.io", "CloneSet", "web", 0, "")), "0 unprotected"},
		{"PUB-3: of its ReplicaSets, also of one at 0", newBudget(target("apps/v1", "Deployment", "shop")),
			[]*corev1.Pod{newPod("a", ownedBy("new")), newPod("b", ownedBy("old")), newPod("c", ownedBy("gone"))},
			workloads(workload("apps", "Deployment", "shop", 4, ""), workload("apps", "ReplicaSet", "new", 4, "shop"), workload("apps", "ReplicaSet", "old", 0, "shop"),
				terminating(workload("apps", "ReplicaSet", "gone", 1, "shop"))), "4 a b"},
		{"PUB-3: by way of others", newBudget(target("apps.kruise.io/v1alpha1", "UnitedDeployment", "all")), newPods(1),
			workloads(workload("apps.kruise.io", "UnitedDeployment", "all", 5, ""), workload("apps.kruise.io", "CloneSet", "web", 3, "all")), "5 pod-0"},
		{"PUB-3: owners in a circle", newBudget(target("v1", "Y", "z")), newPods(1, ownedBy("a")),
			workloads(workload("", "Y", "z", 1, ""), workload("x", "X", "a", 1, "b"), workload("x", "X", "b", 1, "a")), "1"},
		{"PUB-4: each workload once", newBudget(selecting(app)), append(newPods(2), newPod("other", label("app", "db")), newPod("c", ownedBy("api"))),
			workloads(web, workload("apps", "StatefulSet", "api", 7, "")), "10 pod-0 pod-1 c"},
		{"PUB-2: a Rollout's ReplicaSet", newBudget(selecting(app)), newPods(1, ownedBy("rs")),
			workloads(workload("argoproj.io", "Rollout", "shop", 6, ""), workload("apps", "ReplicaSet", "rs", 2, "shop")), "6 pod-0"},
		{"PUB-2: whose controller nobody knows", newBudget(selecting(app)), newPods(1, ownedBy("rs")), workloads(workload("apps", "ReplicaSet", "rs", 2, "shop")), "2 pod-0"},
		{"PUB-4: no workload", newBudget(selecting(app)), newPods(2, bare), workloads(web), "2 pod-0 pod-1"},
		{"PUB-4: no workload, beside one that is known", newBudget(selecting(app)), []*corev1.Pod{newPod("a"), newPod("b", bare)}, workloads(web), "3 a b"},
		{"PUB-4: static pods", newBudget(selecting(app)), newPods(2, controlledBy("v1", "Node", "n1")), nil, "2 pod-0 pod-1"},
		{"PUB-23: workloads that nobody knows", newBudget(selecting(app)), []*corev1.Pod{newPod("a", controlledBy("x.io/v1", "X", "y")), newPod("b", controlledBy("x.io/v1", "X", "z")), newPod("c")},
			workloads(web), "5 unknown X y, X z a b c"},
		{"PUB-4: the annotation, and not all is known", newBudget(selecting(app), protectTotal("8")), []*corev1.Pod{newPod("a", controlledBy("x.io/v1", "X", "y")), newPod("c")}, workloads(web), "8 a c"},
		{"PUB-23: a target that nobody knows", newBudget(target("x.io/v1", "X", "y")), newPods(2, controlledBy("x.io/v2", "X", "y")), nil, "2 unknown X y pod-0 pod-1"},
		{"PUB-23: a target that nobody knows, by way of a ReplicaSet", newBudget(target("x.io/v1", "X", "y")), newPods(1, ownedBy("rs")),
			workloads(of("x.io/v1", "X", "y", workload("apps", "ReplicaSet", "rs", 2, "uid"))), "1 unknown X y pod-0"},
		{"PUB-3: the target is gone", newBudget(), newPods(1), workloads(terminating(workload("apps.kruise.io", "CloneSet", "web", 3, ""))), "0 unprotected"},
		{"PUB-3: the target is gone, and there is another one", newBudget(), []*corev1.Pod{newPod("a"), newPod("b", ownedBy("new"))},
			workloads(terminating(workload("apps.kruise.io", "CloneSet", "web", 3, "")), &budget.Workload{GroupKind: web.GroupKind, Name: "web", UID: "new", Replicas: web.Replicas}), "3 b"},
		{"PUB-23: the target is gone, and another one of the name is not known yet", newBudget(), []*corev1.Pod{newPod("a"), newPod("b", ofCloneSet, ownedBy("new"))},
			workloads(terminating(workload("apps.kruise.io", "CloneSet", "web", 3, ""))), "1 unknown CloneSet web b"},
		{"PUB-23: the target is known, and one of the name is not", newBudget(), []*corev1.Pod{newPod("a"), newPod("b", ofCloneSet, ownedBy("before"))}, workloads(web), "3 a"},
		{"PUB-4: scaled to 0", newBudget(selecting(app)), newPods(1), workloads(workload("apps.kruise.io", "CloneSet", "web", 0, "")), "0 unprotected pod-0"},
		{"PUB-4: the annotation, where nothing else tells", newBudget(selecting(app), protectTotal("8")), newPods(1, bare), nil, "8 pod-0"},
		{"PUB-4: the annotation, and more is known", newBudget(selecting(app), protectTotal("8")), newPods(1), workloads(web), "3 pod-0"},
		{"PUB-4: what is no number", newBudget(selecting(app), protectTotal("many")), newPods(1, bare), nil, "1 pod-0"},
		{"PUB-5: the workload does not say how many", newBudget(), newPods(1), workloads(silent(workload("apps.kruise.io", "CloneSet", "web", 0, ""))), "1 pod-0"},
		{"PUB-4: an absurd number", newBudget(selecting(app)), []*corev1.Pod{newPod("a"), newPod("b", ownedBy("api"))},
			workloads(workload("apps.kruise.io", "CloneSet", "web", 1<<31-1, ""), workload("apps", "StatefulSet", "api", 1<<31-1, "")), "2147483647 a b"},
		{"an empty selector", newBudget(selecting(nil)), newPods(1), workloads(web), "0"},
		{"a wrong selector", newBudget(selecting(map[string]string{"app": "?"})), newPods(1), workloads(web), "spec.selector"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := budget.Select(tt.budget, tt.pods, tt.workloads)
			got := []string{fmt.Sprint(s.Total)}
			if s.Unprotected {
				got = append(got, "unprotected")
			}
			if len(s.Unknown) > 0 {
				got = append(got, "unknown", strings.Join(s.Unknown, ", "))
			}
			for _, pod := range s.Pods {
				got = append(got, pod.Name)
			}
			if err != nil {
				got = strings.SplitN(err.Error(), ":", 2)[:1]
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("got %s, want %s", strings.Join(got, " "), tt.want)
			}
		})
	}
}

// TestSelectorOfSelection: the selector of a budget, or that of its workload. (PUB-30)
func TestSelectorOfSelection(t *testing.T) {
	byLabel := newBudget(selecting(map[string]string{"app": "web"}))
	if s, err := budget.Select(byLabel, newPods(1), nil); err != nil || s.Selector != byLabel.Spec.Selector {
		t.Errorf("PUB-30: error %v, selector %v", err, s.Selector)
	}
	web := workload("apps.kruise.io", "CloneSet", "web", 3, "")
	web.Selector = byLabel.Spec.Selector
	if s, err := budget.Select(newBudget(), newPods(1), workloads(web)); err != nil || s.Selector != web.Selector {
		t.Errorf("PUB-30: of a workload: error %v, selector %v", err, s.Selector)
	}
}
