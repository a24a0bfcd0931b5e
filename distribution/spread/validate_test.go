// SPDX-License-Identifier: Apache-2.0

package spread

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

// WS-22: of several WorkloadSpreads of a workload one has it, in whatever order they are listed.
func TestHolder(t *testing.T) {
	named := func(name, target string, created time.Duration, deleting bool) *v1alpha1.WorkloadSpread {
		ws := spreadOf(t, "targetRef: {apiVersion: apps/v1, kind: Deployment, name: "+target+"}")
		if ws.Name, ws.CreationTimestamp = name, metav1.NewTime(now.Add(created)); deleting {
			ws.DeletionTimestamp = &ws.CreationTimestamp
		}
		return ws
	}
	first, later := named("c", "web", 0, false), named("a", "web", time.Second, false)
	together, other, going := named("d", "web", 0, false), named("b", "db", 0, false), named("e", "web", -time.Hour, true)
	for _, test := range []struct {
		all  []*v1alpha1.WorkloadSpread
		want *v1alpha1.WorkloadSpread
	}{
		{nil, nil},
		{[]*v1alpha1.WorkloadSpread{other}, nil},
		{[]*v1alpha1.WorkloadSpread{going}, going},
		{[]*v1alpha1.WorkloadSpread{later, going}, later},
		{[]*v1alpha1.WorkloadSpread{other, later, together, first, going}, first},
	} {
		for range 2 {
			if got := Holder(test.all, func(ws *v1alpha1.WorkloadSpread) bool { return Targets(ws, Deployments, "web") }); got != test.want {
				t.Errorf("%v has the workload, want %v", got, test.want)
			}
			slices.Reverse(test.all)
		}
	}
}

// WS-22: two WorkloadSpreads are of the same pods, too, if the workload of one controls that of the other one.
func TestConflictOfOwners(t *testing.T) {
	deployment := Named{GroupKind: Deployments, Name: "web"}
	rollout := Named{GroupKind: schema.GroupKind{Group: "argoproj.io", Kind: "Rollout"}, Name: "web"}
	of := func(apiVersion, kind, name string) *v1alpha1.WorkloadSpread {
		return spreadOf(t, "targetRef: {apiVersion: "+apiVersion+", kind: "+kind+", name: "+name+"}")
	}
	web, db, replicaSet, custom := of("apps/v1", "Deployment", "web"), of("apps/v1", "Deployment", "db"), of("apps/v1", "ReplicaSet", "web-1"), of("argoproj.io/v1", "Rollout", "web")
	for _, test := range []struct {
		name  string
		a, b  *v1alpha1.WorkloadSpread
		above []Named // the ReplicaSet
		want  bool
	}{
		{"its Deployment", web, replicaSet, []Named{deployment}, true},
		{"another Deployment", db, replicaSet, []Named{deployment}, false},
		{"nothing is above it", web, replicaSet, nil, false},
		{"a kind of the white list, two steps above", custom, replicaSet, []Named{deployment, rollout}, true},
		{"two ReplicaSets of a Deployment", of("apps/v1", "ReplicaSet", "web-2"), replicaSet, []Named{deployment}, false},
		{"a kind that controls pods alone", of("batch/v1", "Job", "web"), replicaSet, []Named{{GroupKind: Jobs, Name: "web"}}, false},
	} {
		above := func(ws *v1alpha1.WorkloadSpread) []Named {
			if ws == replicaSet {
				return test.above
			}
			return nil
		}
		if got, reverse := Conflict(test.a, test.b, above), Conflict(test.b, test.a, above); got != test.want || reverse != test.want {
			t.Errorf("%s: %t, and in reverse %t", test.name, got, reverse)
		}
	}
}

// everything is above any workload.
func everything(*v1alpha1.WorkloadSpread) []Named {
	return []Named{{GroupKind: Deployments, Name: "web"}, {}}
}

func TestTargets(t *testing.T) {
	ws := spreadOf(t, "subsets: [{name: a}]")
	if !Targets(ws, Deployments, "web") || Targets(ws, Deployments, "db") || Targets(ws, ReplicaSets, "web") {
		t.Error("WS-1: the target is wrong")
	}
	for _, ref := range []*v1alpha1.TargetReference{nil, {}, {APIVersion: "a/b/c", Kind: "Deployment", Name: "web"}, {APIVersion: "apps/v1", Kind: "Deployment"}, {APIVersion: "apps/v1", Name: "web"}} {
		ws := &v1alpha1.WorkloadSpread{Spec: v1alpha1.WorkloadSpreadSpec{TargetReference: ref}}
		if _, known := KindOf(ws); known || Conflict(ws, ws, everything) || Targets(ws, Deployments, "web") {
			t.Errorf("WS-1: %v is known", ref)
		}
	}
	other := spreadOf(t, "targetRef: {apiVersion: apps/v1beta1, kind: Deployment, name: web}")
	if !Conflict(ws, other, nil) || Conflict(ws, spreadOf(t, "targetRef: {apiVersion: apps/v1, kind: Deployment, name: db}"), nil) {
		t.Error("WS-22: conflicts are wrong")
	}
	for _, test := range []struct {
		w    *Workload
		want int32
	}{{nil, 0}, {&Workload{}, 1}, {deployment(3), 3}, {deployment(-1), 0}, {&Workload{Deleting: true}, 0}} {
		if got := test.w.Wants(); got != test.want {
			t.Errorf("WS-1: %v wants %d, want %d", test.w, got, test.want)
		}
	}
	if errs := ValidateUpdate(other, ws); len(errs) > 1 {
		t.Errorf("WS-21: another version: %v", errs)
	}
	old := spreadOf(t, "targetRef: {apiVersion: apps.kruise.io/v1alpha1, kind: StatefulSet, name: db}\nsubsets: [{name: a}]")
	var got []string
	for _, changed := range []string{"{apiVersion: apps.kruise.io/v1beta1, kind: StatefulSet, name: db}", "{apiVersion: apps/v1, kind: StatefulSet, name: db}", "{apiVersion: apps.kruise.io/v1beta1, kind: StatefulSet, name: x}"} {
		for _, err := range ValidateUpdate(spreadOf(t, "subsets: [{name: a}]\ntargetRef: "+changed), old) {
			got = append(got, err.Error())
		}
	}
	const immutable = "spec.targetRef: Forbidden: group, kind and name cannot be modified"
	if diff := cmp.Diff([]string{immutable, immutable}, got); diff != "" {
		t.Errorf("WS-21 (-want +got) %s", diff)
	}
}
