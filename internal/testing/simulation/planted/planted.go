// SPDX-License-Identifier: Apache-2.0

// Package planted makes the bugs that histories must find, for all kinds: in plans, in what planners see, and in what a status says.
// [simulation.Spoil] has those of requests and options.
package planted

import (
	"reflect"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/internal/testing/readers"
	"github.com/podwright/podwright/internal/testing/simulation"
)

// InPlan changes plans.
func InPlan[O, S, P any](spoil func(*S, *P)) simulation.Spoil[O, podwright.Reconciler[S, P]] {
	return around[O](func(plan func(*S) *P, s *S) *P {
		p := plan(s)
		spoil(s, p)
		return p
	})
}

// InStatus changes the status that a plan writes, T, which is the field Status of the plan.
func InStatus[O, S, P, T any](spoil func(*T)) simulation.Spoil[O, podwright.Reconciler[S, P]] {
	return InPlan[O](func(_ *S, p *P) {
		if status := field(p, "Status").Interface().(*T); status != nil {
			spoil(status)
		}
	})
}

// Misread changes what planners see: a copy of a snapshot, and of its objects.
func Misread[O, S, P any](spoil func(*S)) simulation.Spoil[O, podwright.Reconciler[S, P]] {
	return around[O](func(plan func(*S) *P, s *S) *P { return misread(plan, s, spoil) })
}

// EachPod is for Misread: it changes each pod of a snapshot, in its field Pods.
func EachPod[S any](spoil func(*corev1.Pod)) func(*S) {
	return func(s *S) {
		for _, pod := range field(s, "Pods").Interface().([]*corev1.Pod) {
			spoil(pod)
		}
	}
}

// MisreadAll is Misread of controllers whose status stays right, so that it does not tell.
func MisreadAll[O, S, P any](spoil func(*S)) simulation.Spoil[O, podwright.Reconciler[S, P]] {
	return around[O](func(plan func(*S) *P, s *S) *P {
		p := misread(plan, s, spoil)
		field(p, "Status").Set(field(plan(s), "Status"))
		return p
	})
}

// misread plans by a copy of a snapshot that is spoilt. A nil one stays nil.
func misread[S, P any](plan func(*S) *P, s *S, spoil func(*S)) *P {
	if s == nil {
		return plan(nil)
	}
	seen := *s
	fields := reflect.ValueOf(&seen).Elem()
	for i := range fields.NumField() {
		if f := fields.Field(i); f.CanSet() {
			f.Set(copied(f))
		}
	}
	spoil(&seen)
	return plan(&seen)
}

// around plants a bug around the planner of a kind.
func around[O, S, P any](spoilt func(plan func(*S) *P, s *S) *P) simulation.Spoil[O, podwright.Reconciler[S, P]] {
	return simulation.Spoil[O, podwright.Reconciler[S, P]]{Reconciler: func(r podwright.Reconciler[S, P]) {
		kind := controller.KindOf(r)
		plan := kind.Plan
		kind.Plan = func(s *S) *P { return spoilt(plan, s) }
	}}
}

func field(of any, name string) reflect.Value { return reflect.ValueOf(of).Elem().FieldByName(name) }

// copied is an object, or a slice or a map of such, as a copy. Everything else is what it was.
func copied(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.Pointer:
		if object, is := v.Interface().(runtime.Object); is && !v.IsNil() {
			return reflect.ValueOf(object.DeepCopyObject())
		}
	case reflect.Slice:
		if v.IsNil() {
			return v
		}
		all := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			all.Index(i).Set(copied(v.Index(i)))
		}
		return all
	case reflect.Map:
		if v.IsNil() {
			return v
		}
		all := reflect.MakeMapWithSize(v.Type(), v.Len())
		for key, value := range v.Seq2() {
			all.SetMapIndex(key, copied(value))
		}
		return all
	}
	return v
}

// Read reads the caches of a process, of which the first is that of the workload.
func Read(p *simulation.Process, resources ...podwright.Resource) readers.Noting {
	reader := caches.Reader{}
	for _, resource := range resources {
		reader[resource] = p.Informer(string(resource)).GetIndexer()
	}
	return readers.Noting{Reader: reader, Resource: resources[0], Note: p.Observe}
}

// Start returns what starts controllers of a kind that have a bug, by the options of their processes.
func Start[O, S, P any](of fixture.Package[O, S, P], bug simulation.Spoil[O, podwright.Reconciler[S, P]],
	options func(*simulation.Process) (O, error)) func(*simulation.Process) (simulation.Controller, error) {
	return func(p *simulation.Process) (simulation.Controller, error) {
		r, err := bug.Start(p, options, of.NewReconciler)
		if err != nil {
			return simulation.Controller{}, err
		}
		return simulation.Controller{Reconcile: of.Reconcile(r), Unfinished: func() (string, error) { return of.Unfinished(r, fixture.Web) }}, nil
	}
}
