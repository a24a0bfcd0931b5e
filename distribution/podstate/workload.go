// SPDX-License-Identifier: Apache-2.0

package podstate

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/podplan"
	"github.com/podwright/podwright/internal/workload"
)

// Workload is what has to be known of a workload whose pods are numbered.
type Workload struct {
	schema.GroupVersionKind
	// Namespace, Name and UID are those of the workload, and Annotations its own, which ask for a PersistentPodState.
	Namespace, Name string
	UID             types.UID
	Annotations     map[string]string
	// Replicas is how many pods it wants. Nil: not known, so that no state is dropped.
	Replicas *int32
	// Start is the first ordinal. Reserved are ordinals that no pod has, as spec.reserveOrdinals has them: numbers, and ranges such as
	// "5-7". An entry that is neither reserves nothing.
	Start    int
	Reserved []intstr.IntOrString
	// Deleting tells that it is being deleted.
	Deleting bool
}

// ordinals are those that the pods of a workload should have: from start up to end, without
// the reserved ones. (PPS-8)
type ordinals struct {
	start, end int
	reserved   workload.Reserved
}

func (w *Workload) ordinals() ordinals {
	reserved, _ := workload.ParseReserved(w.Reserved) // the controller of StatefulSets reports an entry that says nothing
	o := ordinals{start: w.Start, end: reserved.End(w.Start, int(*w.Replicas)), reserved: reserved}
	return o
}

// keeps tells whether the state of a pod that is gone is kept. That of a name without an ordinal
// is. (PPS-8)
func (o *ordinals) keeps(pod string) bool {
	_, ordinal, ok := podplan.SplitOrdinal(pod)
	n := int(ordinal)
	return !ok || n >= o.start && n < o.end && !o.reserved.Contains(n)
}

// Targets tells whether a PersistentPodState names a workload of a kind. The version does not
// matter. (PPS-1)
func Targets(s *v1alpha1.PersistentPodState, kind schema.GroupKind, name string) bool {
	ref := &s.Spec.TargetReference
	gv, err := schema.ParseGroupVersion(ref.APIVersion)
	return err == nil && ref.Name == name && ref.Kind == kind.Kind && gv.Group == kind.Group
}

// For returns the PersistentPodState that a pod is placed by, or nil. It is the first by name of
// those of the namespace that name the controller of the pod and are not being deleted. (PPS-1,
// PPS-11)
func For(states []*v1alpha1.PersistentPodState, pod *corev1.Pod) (first *v1alpha1.PersistentPodState) {
	ref := metav1.GetControllerOfNoCopy(pod)
	if ref == nil {
		return nil
	}
	gv, err := schema.ParseGroupVersion(ref.APIVersion)
	if err != nil {
		return nil
	}
	for _, s := range states {
		if s.DeletionTimestamp == nil && Targets(s, schema.GroupKind{Group: gv.Group, Kind: ref.Kind}, ref.Name) && (first == nil || s.Name < first.Name) {
			first = s
		}
	}
	return first
}
