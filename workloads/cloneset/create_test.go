package cloneset

import (
	"strings"
	"testing"

	"github.com/podwright/podwright/inplace/rollout"
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
}

func TestMistypedReplicas(t *testing.T) {
	w := newWorld(t)
	w.Spec("replicas=2000000000")
	if n := len(NewPlan(w.snapshot()).Create); n != rollout.MostCreations {
		t.Errorf("%d pods are created in one pass", n)
	}
}
