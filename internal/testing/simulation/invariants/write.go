// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// Object is an object of the API.
type Object interface {
	runtime.Object
	metav1.Object
}

// State is the objects of a workload at a moment: as they are, or as a controller knows them. Maps are by name.
type State struct {
	// Now is the moment, by which it is decided who is available.
	Now time.Time
	// Workload is nil if there is none.
	Workload  Object
	Pods      map[string]*corev1.Pod
	Claims    map[string]*corev1.PersistentVolumeClaim
	Revisions map[string]*appsv1.ControllerRevision
	// Nodes are those of the cluster, empty if they do not matter.
	Nodes map[string]*corev1.Node
	// Namespaces are those of the cluster, empty if they do not matter.
	Namespaces map[string]*corev1.Namespace
	// Beside are the objects of the history that have the name of the workload, by resource.
	Beside map[string]Object
	// Further are the objects of all other resources, by resource and name.
	Further map[string]map[string]Object
	// Version is how far the API server was at that moment; 0 if that is not known.
	Version int64
	// Asked is the same of pods that were asked about one by one since, by name.
	Asked map[string]int64
	// Failed names the pods about which a request of the same reconcile has failed.
	Failed map[string]bool
	// Untold names the pods that the same reconcile has created, and was told that it has not.
	Untold map[string]bool
	// EverFailed names those whose patch or deletion the author has ever failed to make.
	EverFailed map[string]bool
	// Created is how far it was when it created an object, by UID; nil if that is not known.
	Created map[types.UID]int64
	// Expandable are the storage classes that let volumes grow.
	Expandable []string
	// Refused is what policies and quotas forbid the controller now, when all has settled. What a write may rely on is Write.Refused.
	Refused []Refusal
	// Undisturbed says that all that disturbed the history has ended, and that everything has settled since. Caches are
	// behind by no more than what happens in a moment.
	Undisturbed bool
}

// Preconditions are what a request asks the object to be; empty if it does not.
type Preconditions struct{ UID, ResourceVersion string }

// Refusal is what a policy forbids.
type Refusal struct{ Verb, Resource string }

func (s *State) refuses(verb, resource string) bool {
	return slices.Contains(s.Refused, Refusal{verb, resource})
}

// Change is a change of an object, by any author.
type Change struct {
	// At is the moment.
	At time.Time
	// By is the process of the controller that wrote it; empty stands for everybody else.
	By string
	// Resource is the plural name, "pods" for example.
	Resource string
	// Before is nil if the object is new, After if it is gone.
	Before, After Object
}

// Write is a write of a controller that changed something.
type Write struct {
	// By is the process that wrote it.
	By string
	// Verb is create, update, patch or delete; Resource the plural name, "pods"
	// for example; Subresource is empty or "status".
	Verb, Resource, Subresource string
	// Before and After are the object before and after the write. Before is nil if it is new, After if it is gone.
	Before, After Object
	// Asked is what the request asked the object to be, so that no other one is hit; nil if that is not known.
	Asked *Preconditions
	// Sent is the body of the request; nil if that is not known.
	Sent []byte
	// Refused is what the API server has refused for certain to the same reconcile before: a policy, a quota, or for another reason.
	Refused []Refusal
	// Truth is what there was just before the write.
	Truth *State
	// Known is what the author had to know: what it observed, and its own later writes, but not this one. Nil if that
	// is not known: then only that is judged which holds whatever it knew.
	Known *State
	// Observed is what the caches of the author held when its reconcile looked; nil if that is not known.
	Observed *State
}

// refused tells whether the API server has refused something to the same reconcile before. What another process has written of it
// since, the author does not know.
func (w *Write) refused(verb, resource string) bool {
	return slices.Contains(w.Refused, Refusal{verb, resource})
}

func (w *Write) name() string {
	if w.Before != nil {
		return w.Before.GetName()
	}
	return w.After.GetName()
}

func objects[T Object](w *Write) (before, after T) {
	before, _ = w.Before.(T)
	after, _ = w.After.(T)
	return before, after
}

// statusWrite is a write of the status of a workload, and the workload as its author saw it. It tells whether there is something to judge:
// the status changes and nothing else, and the author saw that workload.
func statusWrite[T Object](v *violations, w *Write) (before, after, seen T, judged bool) {
	before, had := w.Before.(T)
	after, has := w.After.(T)
	seen, saw := w.Observed.Workload.(T)
	part := func(of T, name string) any { return reflect.ValueOf(of).Elem().FieldByName(name).Interface() }
	same := func(name string) bool { return equality.Semantic.DeepEqual(part(before, name), part(after, name)) }
	if !had || !has || !same("Spec") {
		v.add(Spec, "%s of the %s changes more than the status", w.Verb, reflect.TypeFor[T]().Elem().Name())
		return before, after, seen, false
	}
	return before, after, seen, saw && seen.GetUID() == after.GetUID() && !same("Status")
}

func (w *Write) pods() (before, after *corev1.Pod) { return objects[*corev1.Pod](w) }

// knownPod is the pod as the author knew it: its state before the write if
// that is not known. It is nil if the author knew another pod by that name, or none.
func (w *Write) knownPod() *corev1.Pod {
	before, _ := w.pods()
	if before == nil || w.Known == nil {
		return before
	}
	known := w.Known.Pods[before.Name]
	if known == nil || known.UID != before.UID {
		return nil
	}
	return known
}

// asKnown is what the author had to know, and asSeen what its caches held. Both are what there was if that is not known.
func (w *Write) asKnown() *State { return cmp.Or(w.Known, w.Truth) }
func (w *Write) asSeen() *State  { return cmp.Or(w.Observed, w.Truth) }

func (w *Write) spec() Object { return w.asKnown().Workload }

// revisions are those that the author knew and that are the workload's, or have no owner and match its selector.
func (w *Write) revisions(uid types.UID, selector *metav1.LabelSelector) map[string]*appsv1.ControllerRevision {
	found := maps.Clone(w.asKnown().Revisions)
	maps.DeleteFunc(found, func(_ string, r *appsv1.ControllerRevision) bool {
		return !controls(uid, r) && (metav1.GetControllerOfNoCopy(r) != nil || !matches(selector, r.Labels))
	})
	return found
}

// revisionsOf are those by which the author knew the one of a template. It may have written that one, and the answer was lost.
func (w *Write) revisionsOf(template *corev1.PodTemplateSpec, uid types.UID, selector *metav1.LabelSelector) map[string]*appsv1.ControllerRevision {
	known := w.revisions(uid, selector)
	if updateRevision(template, known) == "" && !w.refused("create", "controllerrevisions") {
		return w.Truth.Revisions
	}
	return known
}

// wasOrphan tells whether an object that is written had no controller, and the author knew that a selector matches it. Its labels may
// have changed since: then it is released in the next reconcile.
func (w *Write) wasOrphan(selector *metav1.LabelSelector) bool {
	of := cmp.Or[metav1.Object](w.knownObject(), w.Before)
	return metav1.GetControllerOfNoCopy(w.Before) == nil && matches(selector, of.GetLabels())
}

// Invariant names what must always hold.
type Invariant string

// What must always hold.
const (
	// Ownership: nothing is touched that the workload does not own.
	Ownership Invariant = "ownership"
	// Surge: there are never more pods than replicas and maxSurge allow.
	Surge Invariant = "surge"
	// Availability: no available pod is taken out of service beyond maxUnavailable.
	Availability Invariant = "availability"
	// ScaleRate: no more pods come up at once than scaleStrategy allows.
	ScaleRate Invariant = "scale rate"
	// Placement: every node that should run a pod has one, and no other node has any.
	Placement Invariant = "placement"
	// Partition: pods that the partition holds back stay at their revision.
	Partition Invariant = "partition"
	// Paused: an update that is paused updates no pod.
	Paused Invariant = "paused"
	// Needless: no pod is deleted or updated for no reason.
	Needless Invariant = "needless"
	// Hooks: what a lifecycle hook holds waits for it.
	Hooks Invariant = "hooks"
	// InPlace: an in-place update changes what its revision says and nothing else.
	InPlace Invariant = "in place"
	// Hot: of two hot containers one serves all the time, and it is known which.
	Hot Invariant = "hot upgrade"
	// Exclusive: while one controller updates a pod in place, no other one does.
	Exclusive Invariant = "exclusive"
	// Claims: claims live as long as policy says, and never serve two pods.
	Claims Invariant = "claims"
	// Identity: a name, an ordinal or an instance belongs to one pod.
	Identity Invariant = "identity"
	// History: a revision stays while anything needs it.
	History Invariant = "history"
	// Order: pods come and go in the order that is promised.
	Order Invariant = "order"
	// Status: the status says what is the case.
	Status Invariant = "status"
	// Contained: a revision that works nowhere does not spread.
	Contained Invariant = "contained"
	// Spec: the spec is the user's.
	Spec Invariant = "spec"
	// Settled: what is not disturbed converges, and then nothing more is done.
	Settled Invariant = "settled"
	// Calm: no reconcile panics, and no failure makes requests without end.
	Calm Invariant = "calm"
	// Ending: a namespace that is being deleted is empty in the end, and no controller tries to fill it.
	Ending Invariant = "ending"
)

// Violation says which invariant does not hold, and why.
type Violation struct {
	Invariant Invariant
	Message   string
}

func (v Violation) String() string { return string(v.Invariant) + ": " + v.Message }

type violations []Violation

func (v *violations) add(invariant Invariant, format string, args ...any) {
	*v = append(*v, Violation{Invariant: invariant, Message: fmt.Sprintf(format, args...)})
}

// never says what is wrong if something is the case that must not be.
func (v *violations) never(wrong bool, invariant Invariant, format string, args ...any) {
	if wrong {
		v.add(invariant, format, args...)
	}
}

// wrong is never for what makes it needless to judge more: it tells whether that is the case.
func (v *violations) wrong(is bool, invariant Invariant, format string, args ...any) bool {
	v.never(is, invariant, format, args...)
	return is
}

// compare judges the numbers of a status by those that it should have, each by its name in JSON.
func (v *violations) compare(status, want any) {
	is, should := reflect.ValueOf(status).Elem(), reflect.ValueOf(want).Elem()
	for i := range is.NumField() {
		field := is.Type().Field(i)
		if field.Type.Kind() != reflect.Int32 {
			continue
		}
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		has, there := is.Field(i).Int(), should.Field(i).Int()
		v.never(has != there, Status, "%s is %d, and there are %d", name, has, there)
	}
}

func count[N int | int32](n *N, holds bool) {
	if holds {
		*n++
	}
}

// sameFacts tells whether two statuses say the same beside conditions and collisions.
func sameFacts[T any](a, b T) bool {
	for _, status := range []*T{&a, &b} {
		for _, field := range []string{"Conditions", "CollisionCount"} {
			reflect.ValueOf(status).Elem().FieldByName(field).SetZero()
		}
	}
	return equality.Semantic.DeepEqual(a, b)
}

// compareGeneration judges which generation a status says that it is about.
func (v *violations) compareGeneration(observed, generation int64) {
	v.never(observed != generation, Status, "observedGeneration is %d, the generation %d", observed, generation)
}

// checkOwnership: nothing is touched that the workload does not control. What it controlled when the author looked, and
// was given up since, is excused; another object of the same name is not. may says what else may be touched.
func checkOwnership(v *violations, w *Write, uid types.UID, may func(before, after Object) bool) {
	if w.Before == nil || uid == "" {
		return
	}
	if w.Before.GetUID() == uid || controls(uid, w.Before) || may(w.Before, w.After) {
		return
	}
	if known := w.knownObject(); known != nil && known.GetUID() == w.Before.GetUID() && controls(uid, known) {
		return
	}
	v.add(Ownership, "%s of %s %s, whose owners are %v", w.Verb, w.Resource, w.name(), ownerNames(w.Before))
}

// checkPrecise: a write names the UID of the object that its author saw, so that no other one of the same name is hit.
func checkPrecise(v *violations, w *Write) {
	v.never(w.Before != nil && w.Asked != nil && w.Asked.UID == "", Ownership,
		"%s of %s %s does not name its UID", w.Verb, w.Resource, w.name())
}

func (w *Write) knownObject() metav1.Object {
	if w.Known == nil {
		return nil
	}
	pod, isPod := w.Known.Pods[w.name()]
	claim, isClaim := w.Known.Claims[w.name()]
	revision, isRevision := w.Known.Revisions[w.name()]
	switch {
	case w.Resource == "pods" && isPod:
		return pod
	case w.Resource == "persistentvolumeclaims" && isClaim:
		return claim
	case w.Resource == "controllerrevisions" && isRevision:
		return revision
	}
	return nil
}

func ownerNames(object metav1.Object) (names []string) {
	for _, owner := range object.GetOwnerReferences() {
		names = append(names, owner.Kind+" "+owner.Name)
	}
	return names
}
