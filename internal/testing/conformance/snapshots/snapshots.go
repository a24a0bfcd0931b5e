// SPDX-License-Identifier: Apache-2.0

// Package snapshots gives planners what no reader should give them: nothing, nil, objects of others, and specs that only admission
// would refuse. The tests of every kind of workload call [Check].
package snapshots

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"pgregory.net/rapid"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/testing/fakecluster/mutation"
)

// Check checks what a planner makes of broken snapshots. new returns a snapshot of a workload for whose pods there is something to do. Its
// fields have the names that all kinds use: Set, Now, Pods, Revisions and so on. No two that it returns share anything.
func Check[S, P any](t *testing.T, plan func(*S) *P, new func() *S) {
	t.Run("no plan can be made", func(t *testing.T) { checkUnusable(t, plan, new) })
	fields := reflect.TypeFor[S]()
	for i := range fields.NumField() {
		if f := fields.Field(i); isObjects(f.Type) {
			t.Run(f.Name, func(t *testing.T) { checkLeftOut(t, plan, new, f.Name) })
		}
	}
	t.Run("broken", rapid.MakeCheck(func(rt *rapid.T) { checkBroken(rt, plan, new()) }))
}

func checkUnusable[S, P any](t *testing.T, plan func(*S) *P, new func() *S) {
	withoutSet, withoutTime := new(), new()
	field(withoutSet, "Set").SetZero()
	field(withoutTime, "Now").SetZero()
	for want, s := range map[string]*S{"Set": nil, "has no Set": withoutSet, "Now is zero": withoutTime} {
		p := plan(s)
		if problems := common(p).Problems; len(problems) != 1 || !strings.Contains(problems[0].Err.Error(), want) {
			t.Errorf("problems %v, want one about %q", problems, want)
		}
		if does := does(p); does != "" {
			t.Errorf("%s: it plans %s", want, does)
		}
	}
}

// checkLeftOut: what does not belong to the workload changes nothing of the plan, which says that it was left out.
func checkLeftOut[S, P any](t *testing.T, plan func(*S) *P, new func() *S, list string) {
	want := does(plan(new()))
	if want == "" {
		t.Fatal("nothing is to be done")
	}
	stranger, elsewhere := foreign("stranger"), foreign("elsewhere")
	elsewhere.Namespace, elsewhere.OwnerReferences[0].UID = "elsewhere", workload(new()).GetUID()
	for name, meta := range map[string]*metav1.ObjectMeta{"nil": nil, "shop/stranger": &stranger, "elsewhere/elsewhere": &elsewhere} {
		if list == "Nodes" && meta != nil {
			continue // they belong to no workload
		}
		s := new()
		if meta != nil {
			meta.Namespace = strings.Replace(meta.Namespace, "shop", workload(s).GetNamespace(), 1)
			name = meta.Namespace + "/" + meta.Name
		}
		given := field(s, list)
		given.Set(reflect.Append(given, object(given.Type().Elem(), meta)))
		n := given.Len()
		p := plan(s)
		problems := common(p).Problems
		if about := "Snapshot." + list + ": " + name + " left out"; len(problems) != 1 || !strings.Contains(problems[0].Err.Error(), about) {
			t.Errorf("problems %v, want %q", problems, about)
		}
		if got := does(p); got != want {
			t.Errorf("%s: the plan is\n%s, want\n%s", name, got, want)
		}
		if given.Len() != n {
			t.Errorf("%s: the snapshot was changed", name)
		}
	}
}

// checkBroken: whatever a caller gives, there is a plan and no panic, and nothing is done to pods of others.
func checkBroken[S, P any](rt *rapid.T, plan func(*S) *P, s *S) {
	for range rapid.IntRange(1, 6).Draw(rt, "faults") {
		if !field(s, "Set").IsNil() {
			rapid.SampledFrom(faults(rt, s)).Draw(rt, "fault")()
		}
	}
	p := common(plan(s))
	for _, d := range p.Delete {
		if d.Pod.UID == "uid-stranger" {
			rt.Fatalf("it deletes %s", d.Pod.Name)
		}
	}
	for _, patch := range p.Patch {
		if patch.Pod.UID == "uid-stranger" {
			rt.Fatalf("it changes %s", patch.Pod.Name)
		}
	}
}

// faults break one thing each: the objects of a list, or a field of the workload.
func faults[S any](rt *rapid.T, s *S) (all []func()) {
	all = append(all, field(s, "Set").SetZero, field(s, "Now").SetZero)
	stranger := foreign("stranger")
	stranger.Namespace, stranger.Name = workload(s).GetNamespace(), workload(s).GetName()+"-4"
	for i := range reflect.TypeFor[S]().NumField() {
		f := reflect.ValueOf(s).Elem().Field(i)
		of := f.Type()
		switch {
		case of.Kind() == reflect.Map && of.Elem().Implements(reflect.TypeFor[metav1.Object]()):
			all = append(all, func() {
				f.Set(reflect.MakeMap(of))
				f.SetMapIndex(reflect.ValueOf("data-web-0"), reflect.Zero(of.Elem()))
				f.SetMapIndex(reflect.ValueOf(""), object(of.Elem(), &metav1.ObjectMeta{}))
			})
		case isObjects(of):
			for _, meta := range []*metav1.ObjectMeta{nil, {}, &stranger} {
				all = append(all, func() { f.Set(reflect.Append(f, object(of.Elem(), meta))) })
			}
			all = append(all, f.SetZero, func() { f.Set(reflect.AppendSlice(f, f)) }, func() { strip(f) })
		}
	}
	set := field(s, "Set").Interface()
	n := rapid.SampledFrom([]int64{math.MinInt32, -1, 0, 1, math.MaxInt32}).Draw(rt, "number")
	all = append(all, extremes(field(s, "Set").Elem().FieldByName("Spec"), n)...)
	all = append(all, field(s, "Set").Elem().FieldByName("Spec").FieldByName("Template").SetZero)
	for _, m := range mutation.Of(set) {
		if !strings.HasPrefix(m.Path, ".Spec.Template") && !strings.HasPrefix(m.Path, ".ObjectMeta.ManagedFields") {
			all = append(all, func() { m.Apply(set) })
		}
	}
	return all
}

// strip takes labels, annotations and status from all objects of a list.
func strip(list reflect.Value) {
	for i := range list.Len() {
		if list.Index(i).IsNil() {
			continue
		}
		object := list.Index(i).Elem()
		object.FieldByName("ObjectMeta").FieldByName("Labels").SetZero()
		object.FieldByName("ObjectMeta").FieldByName("Annotations").SetZero()
		if status := object.FieldByName("Status"); status.IsValid() {
			status.SetZero()
		}
	}
}

// extremes set each number to another one.
func extremes(v reflect.Value, n int64) (all []func()) {
	for i := range v.NumField() {
		f := v.Field(i)
		switch {
		case f.Type() == reflect.TypeFor[*int32]():
			all = append(all, func() { f.Set(reflect.ValueOf(new(int32(n)))) })
		case f.Type() == reflect.TypeFor[*intstr.IntOrString]():
			all = append(all, func() { f.Set(reflect.ValueOf(new(intstr.FromInt32(int32(n))))) })
		case f.Kind() == reflect.Int32:
			all = append(all, func() { f.SetInt(n) })
		case f.Kind() == reflect.Struct && v.Type().Field(i).Name != "Template":
			all = append(all, extremes(f, n)...)
		case f.Kind() == reflect.Pointer && !f.IsNil() && f.Elem().Kind() == reflect.Struct:
			all = append(all, extremes(f.Elem(), n)...)
		}
	}
	return all
}

// does is what a plan does, line by line, without its problems and the status that tells of them.
func does(p any) string {
	return strings.Join(slices.DeleteFunc(strings.Split(fmt.Sprint(p), "\n"), func(line string) bool {
		return line == "" || strings.HasPrefix(line, "problem ") || line == "no revision" || strings.HasPrefix(line, "write the status")
	}), "\n")
}

// foreign is about an object of another owner.
func foreign(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID("uid-" + name), Labels: map[string]string{"app": "web"},
		OwnerReferences: []metav1.OwnerReference{{UID: "uid-other", Controller: new(true)}}}
}

// object is one of a pointer type, which is nil without metadata.
func object(of reflect.Type, meta *metav1.ObjectMeta) reflect.Value {
	if meta == nil {
		return reflect.Zero(of)
	}
	v := reflect.New(of.Elem())
	v.Elem().FieldByName("ObjectMeta").Set(reflect.ValueOf(*meta))
	return v
}

func isObjects(of reflect.Type) bool {
	return of.Kind() == reflect.Slice && of.Elem().Implements(reflect.TypeFor[metav1.Object]())
}

func field(of any, name string) reflect.Value { return reflect.ValueOf(of).Elem().FieldByName(name) }

func workload(s any) metav1.Object { return field(s, "Set").Interface().(metav1.Object) }

func common(plan any) *rollout.Plan { return field(plan, "Plan").Addr().Interface().(*rollout.Plan) }
