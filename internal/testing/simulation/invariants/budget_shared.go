// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/availability/v1alpha1"
)

// SharedBudgets judges budgets that share the pods of several owners. It judges by the pods that serve at the moment of a write, as
// the kubelets showed them. It also judges by the specs of the budgets, and by what the owners want. What a status says does not
// matter.
type SharedBudgets struct {
	// Updates says that a webhook is asked about updates of pods.
	Updates bool
	// Scaled are the plural names of the kinds of others that have a scale, in lower case. (PUB-23)
	Scaled []string

	// idle are the pods whose going was allowed while they did not serve, or did not name a budget.
	idle map[types.UID]bool
}

// Answer notes what goes without being counted. (PUB-14.1, PUB-14.3)
func (b *SharedBudgets) Answer(a *Answer) []Violation {
	if !a.Allowed || a.DryRun {
		return nil
	}
	if b.idle == nil {
		b.idle = map[types.UID]bool{}
	}
	idle := map[types.UID]bool{}
	for _, pod := range a.truePods() {
		if pod != nil && pod.DeletionTimestamp == nil {
			idle[pod.UID] = idle[pod.UID] || !servesBudget(pod) || budgetOf(pod) == ""
		}
	}
	maps.Copy(b.idle, idle)
	return nil
}

// Write judges a write of the controller of the budgets: it writes statuses, and tells pods of a budget that is about them. (PUB-24)
func (b *SharedBudgets) Write(w *Write) []Violation {
	var v violations
	checkPrecise(&v, w)
	before, after := w.pods()
	switch {
	case w.Resource == budgetResource && w.Subresource == "status":
	case w.Resource != "pods" || before == nil || after == nil:
		v.add(Ownership, "%s of %s %s", w.Verb, w.Resource, w.name())
	default:
		checkOnlyNamed(&v, before, after)
		if w.Known == nil {
			break
		}
		known := sharing{w.Known, b.Scaled}
		if budgetOf(after) == "" {
			known.checkUntold(&v, before)
			break
		}
		if to := known.budget(budgetOf(after)); to == nil || !known.matches(to, after) {
			v.add(Ownership, "tells pod %s of budget %q, which is not about it", before.Name, budgetOf(after))
		}
	}
	return v
}

// checkUntold: a pod loses the name of its budget only if that has a targetRef, and no budget is about the pod. (PUB-47)
func (s sharing) checkUntold(v *violations, pod *corev1.Pod) {
	from := s.budget(budgetOf(pod))
	v.never(from == nil || from.Spec.TargetReference == nil, Ownership, "takes budget %q off pod %s", budgetOf(pod), pod.Name)
	if rs := s.replicaSet(metav1.GetControllerOfNoCopy(pod)); rs != nil && metav1.GetControllerOfNoCopy(rs) == nil {
		v.add(Ownership, "takes budget %q off pod %s, whose ReplicaSet %s a Deployment may adopt", budgetOf(pod), pod.Name, rs.Name)
	}
	for _, b := range s.budgets() {
		v.never(s.matches(b, pod), Ownership,
			"takes budget %q off pod %s, and budget %s is about it", budgetOf(pod), pod.Name, b.Name)
	}
}

// Witness judges what others do to pods. While nothing disturbs, as many pods serve afterwards as the budget wants. (PUB-6, PUB-7,
// PUB-13, PUB-20)
func (b *SharedBudgets) Witness(w *Write) []Violation {
	var v violations
	before, after := w.pods()
	if w.Resource != "pods" || before == nil || !w.Truth.Undisturbed || !servesBudget(before) || b.idle[before.UID] {
		return nil
	}
	operation := "DELETE"
	switch {
	case w.Subresource == "eviction":
		operation = "EVICT"
	case after == nil || after.DeletionTimestamp != nil:
	case b.Updates && disrupts(before, after):
		operation = "UPDATE"
	default:
		return nil
	}
	s := sharing{w.Truth, b.Scaled}
	of := s.budget(budgetOf(before))
	if of == nil || of.Status.ObservedGeneration != of.Generation || !protects(of, operation) || !s.matches(of, before) ||
		before.Annotations[v1alpha1.PodPubNoProtectionAnnotation] == "true" {
		return nil
	}
	if serves, desired := s.count(of); desired > 0 && serves <= desired {
		v.add(Availability, "%s of pod %s: %d pods of budget %s serve, and %d have to", operation, before.Name, serves, of.Name, desired)
	}
	return v
}

// protects tells whether a budget protects from an operation. (PUB-14.5)
func protects(b *podBudget, operation string) bool {
	return slices.Contains(strings.Split(cmp.Or(b.Annotations[v1alpha1.PubProtectOperationAnnotation], "DELETE,UPDATE,EVICT"), ","), operation)
}

// Settled judges that each pod knows of a budget that is about it, if there is one. Of a ReplicaSet that wants none no pod stays if one
// is to spare: its owner asks again and again. (PUB-3, PUB-20, PUB-24, PUB-47)
func (b *SharedBudgets) Settled(state *State, _ bool) []Violation {
	var v violations
	s := sharing{state, b.Scaled}
	for _, name := range slices.Sorted(maps.Keys(state.Pods)) {
		pod := state.Pods[name]
		if !active(pod) {
			continue
		}
		about := slices.ContainsFunc(s.budgets(), func(of *podBudget) bool { return s.matches(of, pod) })
		if of := s.budget(budgetOf(pod)); about && !state.refuses("patch", "pods") && (of == nil || !s.matches(of, pod)) {
			v.add(Settled, "pod %s names budget %q, and another one is about it", name, budgetOf(pod))
		} else if of != nil && of.Spec.TargetReference != nil && !about && !state.refuses("patch", "pods") && s.isKnown(pod) {
			v.add(Settled, "pod %s names budget %q, which is not about it, as no other one is", name, budgetOf(pod))
		}
		if rs := s.replicaSet(metav1.GetControllerOfNoCopy(pod)); rs != nil && *rs.Spec.Replicas == 0 && !state.refuses("delete", "pods") && s.spares(pod) {
			v.add(Settled, "pod %s stays, its ReplicaSet %s wants none, and one is to spare", name, rs.Name)
		}
	}
	return v
}

// isKnown tells whether a pod is of a ReplicaSet that is there, and that what controls that is there too. (PUB-47)
func (s sharing) isKnown(pod *corev1.Pod) bool {
	rs := s.replicaSet(metav1.GetControllerOfNoCopy(pod))
	if rs == nil || rs.DeletionTimestamp != nil || rs.UID != metav1.GetControllerOfNoCopy(pod).UID {
		return false
	}
	ref := metav1.GetControllerOfNoCopy(rs)
	if ref == nil {
		return false // a Deployment may adopt it
	}
	if ref.Kind != "Deployment" {
		return true
	}
	d := s.Further["deployments"][ref.Name]
	return d != nil && d.GetUID() == ref.UID && d.GetDeletionTimestamp() == nil
}

// sharing is a state in which budgets share pods, and the kinds of others that have a scale.
type sharing struct {
	*State
	scaled []string
}

func (s sharing) budget(name string) *podBudget {
	b, _ := s.Further[budgetResource][name].(*podBudget)
	return b
}

// budgets are those of the state in the order of their names: so a seed that fails tells the same each time.
func (s sharing) budgets() (all []*podBudget) {
	for _, name := range slices.Sorted(maps.Keys(s.Further[budgetResource])) {
		all = append(all, s.budget(name))
	}
	return all
}

func (s sharing) replicaSet(ref *metav1.OwnerReference) *appsv1.ReplicaSet {
	if ref == nil || ref.Kind != "ReplicaSet" {
		return nil
	}
	rs, _ := s.Further["replicasets"][ref.Name].(*appsv1.ReplicaSet)
	return rs
}

// owner is the workload of a pod: its controller, or what controls its ReplicaSet. It is nil if the pod stands for itself, as static
// pods do. (PUB-2, PUB-4)
func (s sharing) owner(pod *corev1.Pod) *metav1.OwnerReference {
	ref := metav1.GetControllerOfNoCopy(pod)
	if rs := s.replicaSet(ref); rs != nil && metav1.GetControllerOfNoCopy(rs) != nil {
		return metav1.GetControllerOfNoCopy(rs)
	}
	if ref == nil || ref.Kind == "Node" {
		return nil
	}
	return ref
}

// matches tells whether a budget is about a pod, as far as other budgets leave it. (PUB-3, PUB-4)
func (s sharing) matches(b *podBudget, pod *corev1.Pod) bool {
	of := b.Spec.TargetReference
	if of == nil {
		return matches(b.Spec.Selector, pod.Labels)
	}
	group := func(version string) string { return schema.FromAPIVersionAndKind(version, "").Group }
	ref := s.owner(pod)
	return ref != nil && ref.Kind == of.Kind && ref.Name == of.Name && group(ref.APIVersion) == group(of.APIVersion)
}

// spares tells whether a pod can go: more pods of its budget serve than have to.
func (s sharing) spares(pod *corev1.Pod) bool {
	b := s.budget(budgetOf(pod))
	if b == nil || !s.matches(b, pod) {
		return true
	}
	serves, desired := s.count(b)
	return serves > desired
}

// wants is how many pods a workload wants. Nothing tells that if it has no scale. (PUB-5, PUB-23)
func (s sharing) wants(ref *metav1.OwnerReference) (n int32, known bool) {
	resource := strings.ToLower(ref.Kind) + "s"
	object := s.Further[resource][ref.Name]
	if object != nil && (object.GetUID() != ref.UID && ref.UID != "" || object.GetDeletionTimestamp() != nil) {
		object = nil
	}
	switch object := object.(type) {
	case *appsv1.Deployment:
		return *object.Spec.Replicas, true
	case *appsv1.ReplicaSet:
		return *object.Spec.Replicas, true
	case *unstructured.Unstructured:
		wants, _, _ := unstructured.NestedInt64(object.Object, "spec", "replicas") // otherwise it is 0
		return int32(wants), slices.Contains(s.scaled, resource)
	}
	return 0, slices.Contains(append([]string{"deployments", "replicasets"}, s.scaled...), resource)
}

// count counts the pods of a budget that serve and name it, and how many have to. Pods that name another budget which is about
// them do not count. (PUB-4, PUB-6, PUB-7, PUB-20, PUB-23)
func (s sharing) count(b *podBudget) (serves, desired int32) {
	view := &budgetView{}
	bare, unknown, was := int32(0), false, false
	seen := map[types.UID]bool{}
	for _, pod := range s.Pods {
		other := s.budget(budgetOf(pod))
		if ref := s.owner(pod); ref != nil && !active(pod) && s.matches(b, pod) { // which a status may still count
			_, known := s.wants(ref)
			was = was || !known
		}
		if !active(pod) || !s.matches(b, pod) || other != nil && other.Name != b.Name && s.matches(other, pod) {
			continue
		}
		view.pods = append(view.pods, pod)
		count(&serves, budgetOf(pod) == b.Name && servesBudget(pod))
		ref := s.owner(pod)
		if ref == nil {
			bare++
		} else if !seen[ref.UID] {
			seen[ref.UID] = true
			n, known := s.wants(ref)
			view.total, unknown = view.total+n, unknown || !known
		}
	}
	if b.Spec.TargetReference == nil {
		if fixed, err := strconv.Atoi(b.Annotations[v1alpha1.PubProtectTotalReplicasAnnotation]); err == nil && (view.total == 0 || unknown || was) {
			view.total, unknown = int32(fixed), false
		} else if view.total == 0 && !unknown {
			view.total = bare
		}
	}
	if unknown {
		view.total = int32(len(view.pods))
	}
	if view.desire(b); view.broken || view.total == 0 {
		return serves, 0
	}
	if unknown && (b.Spec.MaxUnavailable != nil || strings.HasSuffix(b.Spec.MinAvailable.StrVal, "%")) {
		view.desired = max(view.desired, int32(len(view.pods)))
	}
	return serves, view.desired
}
