// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/revision"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/podplan"
	"github.com/podwright/podwright/lifecycle"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

func TestTemplateThatTheSelectorDoesNotMatch(t *testing.T) {
	w := newScenario(t)
	w.set.Spec.Template.Labels = nil
	plan := NewPlan(w.snapshot())
	if len(plan.Create) != 0 {
		t.Error("a pod is created that would be released at once")
	}
	const want = `spec.selector "app=web" does not match the labels of the template`
	if len(plan.Problems) != 1 || !strings.Contains(plan.Problems[0].Err.Error(), want) {
		t.Errorf("problems %v, want %q", plan.Problems, want)
	}
	// The report must not change with the version of the CloneSet, which every
	// write of the status raises: it would be written again and again.
	w.set.ResourceVersion += "0"
	again := NewPlan(w.snapshot())
	if first, second := plan.Problems[0].Err.Error(), again.Problems[0].Err.Error(); first != second {
		t.Errorf("the same spec is reported as %q, and then as %q", first, second)
	}
}

// No pod is updated to a template that the selector does not match: it would be released,
// and replaced by one that is updated next. One that is prepared returns to service.
func TestUpdateThatTheSelectorDoesNotMatch(t *testing.T) {
	for _, spec := range []string{"type=ReCreate", "type=InPlaceIfPossible", "type=InPlaceOnly",
		"type=InPlaceIfPossible inPlaceUpdate=hold", "type=InPlaceOnly inPlaceUpdate=hold"} {
		t.Run(spec, func(t *testing.T) {
			w := newScenario(t)
			w.Spec("replicas=4", "partition=2")
			w.Spec(strings.Fields(spec)...)
			w.settle()
			for i, pod := range w.Pods {
				w.Pods[i] = pod.DeepCopy()
				w.Pods[i].Labels["hold"] = "true"
			}
			w.Spec("image=nginx:2")
			w.settle()
			w.set.Spec.Template.Labels["app"] = "other"
			w.settle()
			w.apply(NewPlan(w.snapshot()))
			w.kubelets()
			plan := NewPlan(w.snapshot())
			if len(plan.Create)+len(plan.Delete)+len(plan.Patch) != 0 {
				t.Errorf("%d pods are created, %d deleted, %d patched", len(plan.Create), len(plan.Delete), len(plan.Patch))
			}
			const want = `: spec.selector "app=web" does not match the labels of the template, "app=other"`
			if len(plan.Problems) != 1 || !strings.Contains(plan.Problems[0].Err.Error(), want) {
				t.Errorf("problems %v, want %q", plan.Problems, want)
			}
			if len(w.Pods) != 4 {
				t.Errorf("%d pods, want the 4 that there were", len(w.Pods))
			}
			for _, pod := range w.Pods {
				if lifecycle.StateOf(pod) != lifecyclev1alpha1.StateNormal || metav1.GetControllerOf(pod) == nil {
					t.Errorf("pod %s has the state %s and the owners %v", pod.Name, lifecycle.StateOf(pod), pod.OwnerReferences)
				}
			}
		})
	}
}

// The selector was changed together with the template, and no longer matches the
// revision of which the partition wants pods. The others are created.
func TestCurrentRevisionThatTheSelectorDoesNotMatch(t *testing.T) {
	w := newScenario(t)
	w.Spec("replicas=4")
	w.settle()
	w.Spec("partition=2")
	w.set.Spec.Selector.MatchLabels["track"], w.set.Spec.Template.Labels["track"] = "a", "a"
	plan := NewPlan(w.snapshot())
	if len(plan.Create) != 2 || len(plan.Problems) != 1 {
		t.Errorf("%d pods are created, problems %v: want the 2 updated ones, and to know why no others are", len(plan.Create), plan.Problems)
	}
}

// What cannot be created does not use up what scaleStrategy.maxUnavailable lets
// be created, and no updated pod stands in for one that the partition wants.
func TestCurrentRevisionThatHasNoPods(t *testing.T) {
	for _, spoil := range []struct {
		name string
		do   func(*setScenario)
	}{
		{"the selector does not match it", func(w *setScenario) {
			w.set.Spec.Selector.MatchLabels["track"], w.set.Spec.Template.Labels["track"] = "a", "a"
		}},
		{"it cannot be read", func(w *setScenario) {
			for i, r := range w.Revisions {
				w.Revisions[i] = r.DeepCopy()
				w.Revisions[i].Data.Raw = []byte(`{"spec":{"template":7}}`)
			}
			w.Spec("image=nginx:2")
		}},
		{"a launch priority of it is no number", func(w *setScenario) {
			w.Spec("image=nginx:2")
			for i, r := range w.Revisions {
				w.Revisions[i] = r.DeepCopy()
				w.Revisions[i].Data.Raw = bytes.Replace(r.Data.Raw, []byte(`"containers":[`), []byte(
					`"containers":[{"name":"log","env":[{"name":"`+lifecyclev1alpha1.ContainerPriorityEnv+`","value":"high"}]},`), 1)
			}
			w.features.LaunchPriority = true
		}},
	} {
		for _, test := range []struct{ limit, created int }{{1, 1}, {2, 2}, {3, 2}} {
			t.Run(fmt.Sprintf("%s, scaleStrategy.maxUnavailable %d", spoil.name, test.limit), func(t *testing.T) {
				w := newScenario(t)
				w.apply(NewPlan(w.snapshot()))
				w.settle()
				w.Remove(w.Pods[0].Name)
				spoil.do(w)
				w.Spec("replicas=5", "partition=3", fmt.Sprint("scaleMaxUnavailable=", test.limit))
				plan := NewPlan(w.snapshot())
				if len(plan.Create) != test.created || len(plan.Problems) != 1 {
					t.Errorf("%d pods are created, problems %v: want %d, and to know why no others are", len(plan.Create), plan.Problems, test.created)
				}
				for _, creation := range plan.Create {
					if !revision.Matches(creation.Pod.Labels[podplan.RevisionLabel], plan.Revisions.Update.Name) {
						t.Errorf("a pod of revision %s is created", creation.Pod.Labels[podplan.RevisionLabel])
					}
				}
				for range 3 {
					w.apply(NewPlan(w.snapshot()))
					w.kubelets()
				}
				if len(w.Pods) != 2 {
					t.Errorf("%d pods in the end, want the 2 updated ones that the partition allows", len(w.Pods))
				}
			})
		}
	}
}

func TestMistypedReplicas(t *testing.T) {
	w := newScenario(t)
	w.Spec("replicas=2000000000")
	if n := len(NewPlan(w.snapshot()).Create); n != rollout.MostCreations {
		t.Errorf("%d pods are created in one reconcile", n)
	}
}

// The template is edited before a status was written that names a current
// revision. The pods of the former template are known as such all the same.
func TestEditBeforeTheFirstStatus(t *testing.T) {
	w := newScenario(t)
	w.Spec("replicas=3")
	w.settle()
	before := w.set.Status.CurrentRevision
	w.set.Status = v1alpha1.CloneSetStatus{}
	w.Spec("image=nginx:2", "replicas=4", "partition=4")
	plan := NewPlan(w.snapshot())
	if len(plan.Create) != 1 || plan.Create[0].Pod.Spec.Containers[0].Image == "nginx:2" || len(plan.Patch) > 0 {
		t.Errorf("created %+v, changed %+v: want one pod for the partition, of the former template", plan.Create, plan.Patch)
	}
	if plan.Status == nil || plan.Status.CurrentRevision != before || plan.Status.UpdateRevision == before {
		t.Errorf("status %+v, want the current revision %s", plan.Status, before)
	}
}
