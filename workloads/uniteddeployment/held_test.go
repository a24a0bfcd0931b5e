// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// UD-22: the status says which subset is held up, in the words of its CloneSet, and since when that is.
func TestHeldUp(t *testing.T) {
	w := newWorld(t, newSet(t, "replicas: 4"))
	w.settle()
	if c := conditions.Told(NewPlan(&w.Snapshot).Status.Conditions); c != nil {
		t.Fatalf("nothing is held up, and it says %+v", c)
	}
	since := metav1.NewTime(w.Now.Add(-time.Hour).Truncate(time.Second))
	child := w.set("b").Object.(*v1alpha1.CloneSet)
	tell := func(message string) *v1alpha1.UnitedDeploymentStatus {
		edited(w, child, func(o *v1alpha1.CloneSet) {
			o.Status.Conditions = []v1alpha1.CloneSetCondition{{Type: v1alpha1.CloneSetConditionHeldUp, Status: "True", Reason: "CrashLoop", Message: message, LastTransitionTime: since}}
		})
		child = w.set("b").Object.(*v1alpha1.CloneSet)
		return NewPlan(&w.Snapshot).Status
	}
	status := tell("pod x: crashes")
	want := "subset b: CloneSet " + child.Name + ": pod x: crashes"
	if c := conditions.Told(status.Conditions); c == nil || c.Reason != "SubsetHeldUp" || c.Message != want || !c.Since.Equal(since.Time) {
		t.Fatalf("it says %+v, want %q since %s", c, want, since)
	}
	if !sameStatus(status, tell("pod y: crashes")) {
		t.Error("the status is written for other words about the subset")
	}
	child.Status.Conditions = nil
	if sameStatus(status, NewPlan(&w.Snapshot).Status) {
		t.Error("the status is not written when it is over")
	}
}

// UD-22: Deployments say nothing, so their pods do, after a minute.
func TestHeldUpDeployment(t *testing.T) {
	w := newWorld(t, newSet(t, "replicas: 4"))
	w.settle()
	p := &planner{Snapshot: &w.Snapshot, plan: &Plan{}, bySubset: map[string]Child{"a": {Kind: Deployment, Object: &v1alpha1.CloneSet{ObjectMeta: metav1.ObjectMeta{Name: "d"}}, Replicas: 2, ReadyReplicas: 1}}}
	for _, test := range []struct {
		age  time.Duration
		want string
	}{{59 * time.Second, ""}, {time.Minute, "subset a: Deployment d: 1 of 2 pods are ready"}} {
		p.HeldSince = map[rollout.Subject]time.Time{{Kind: "subset", Name: "a"}: w.Now.Add(-test.age)}
		status := &v1alpha1.UnitedDeploymentStatus{}
		p.setHeldUp(status)
		got := ""
		if c := conditions.Told(status.Conditions); c != nil {
			got = c.Message
		}
		if got != test.want {
			t.Errorf("after %s: %q, want %q", test.age, got, test.want)
		}
	}
}
