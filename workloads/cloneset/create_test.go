package cloneset

import (
	"strings"
	"testing"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

func TestTemplateThatTheSelectorDoesNotMatch(t *testing.T) {
	w := newWorld(t)
	w.set.Spec.Template.Labels = nil
	plan := NewPlan(w.snapshot())
	if len(plan.Create) != 0 {
		t.Error("a pod is created that would be given up at once")
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

// The selector was changed together with the template, and no longer matches the
// revision of which the partition wants pods. The others are created.
func TestCurrentRevisionThatTheSelectorDoesNotMatch(t *testing.T) {
	w := newWorld(t)
	w.Spec("replicas=4")
	w.settle()
	w.Spec("partition=2")
	w.set.Spec.Selector.MatchLabels["track"], w.set.Spec.Template.Labels["track"] = "a", "a"
	plan := NewPlan(w.snapshot())
	if len(plan.Create) != 2 || len(plan.Problems) != 1 {
		t.Errorf("%d pods are created, problems %v: want the 2 updated ones, and to know why no others are", len(plan.Create), plan.Problems)
	}
}

func TestMistypedReplicas(t *testing.T) {
	w := newWorld(t)
	w.Spec("replicas=2000000000")
	if n := len(NewPlan(w.snapshot()).Create); n != rollout.MostCreations {
		t.Errorf("%d pods are created in one pass", n)
	}
}

// The template is edited before a status was written that names a current
// revision. The pods of the former template are known as such all the same.
func TestEditBeforeTheFirstStatus(t *testing.T) {
	w := newWorld(t)
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
