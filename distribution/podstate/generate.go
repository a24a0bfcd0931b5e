// SPDX-License-Identifier: Apache-2.0

package podstate

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

// Generated is what the annotations of a workload ask for. At most one of the fields is set; none if all is as
// asked for.
type Generated struct {
	// Create is the PersistentPodState to create.
	Create *v1alpha1.PersistentPodState
	// Update is the spec that the one which exists should have.
	Update *v1alpha1.PersistentPodStateSpec
	// Delete tells to delete the one which exists.
	Delete bool
	// Problem says why what is asked for is not done.
	Problem string
}

// generatedWeight is the weight of a preferred topology that annotations ask for.
const generatedWeight = 100

// Generate says what to do about the PersistentPodState that has the name of a workload, which is nil if there is
// none. (PPS-21 to PPS-23)
func Generate(w *Workload, existing *v1alpha1.PersistentPodState) Generated {
	switch {
	case w.Deleting || existing != nil && existing.DeletionTimestamp != nil:
		return Generated{}
	case w.Annotations[v1alpha1.AutoGeneratePersistentPodStateAnnotation] != "true":
		return Generated{Delete: existing != nil && generatedFor(w, existing)}
	}
	spec := generatedSpec(w)
	switch {
	case spec == nil:
		return Generated{}
	case existing == nil:
		return Generated{Create: &v1alpha1.PersistentPodState{
			ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: w.Name, OwnerReferences: []metav1.OwnerReference{{
				APIVersion: w.GroupVersion().String(), Kind: w.Kind, Name: w.Name, UID: w.UID, Controller: ptr.To(true),
			}}},
			Spec: *spec,
		}}
	case !Targets(existing, w.GroupKind(), w.Name):
		return Generated{Problem: fmt.Sprintf("PersistentPodState %s exists and names another workload, %s %s: delete it, or remove the annotation %s",
			existing.Name, existing.Spec.TargetReference.Kind, existing.Spec.TargetReference.Name, v1alpha1.AutoGeneratePersistentPodStateAnnotation)}
	}
	// The reference cannot change, and annotations say nothing of a retention policy.
	spec.TargetReference = existing.Spec.TargetReference
	spec.PersistentPodStateRetentionPolicy = existing.Spec.PersistentPodStateRetentionPolicy
	if equality.Semantic.DeepEqual(spec, &existing.Spec) {
		return Generated{}
	}
	return Generated{Update: spec}
}

// generatedFor tells whether a PersistentPodState was made for a workload.
func generatedFor(w *Workload, s *v1alpha1.PersistentPodState) bool {
	ref := metav1.GetControllerOfNoCopy(s)
	return ref != nil && ref.UID == w.UID
}

// generatedSpec is the spec that annotations ask for; nil if they name no topology. (PPS-21)
func generatedSpec(w *Workload) *v1alpha1.PersistentPodStateSpec {
	required := split(w.Annotations[v1alpha1.RequiredPersistentTopologyAnnotation])
	preferred := split(w.Annotations[v1alpha1.PreferredPersistentTopologyAnnotation])
	if len(required)+len(preferred) == 0 {
		return nil
	}
	spec := &v1alpha1.PersistentPodStateSpec{
		TargetReference: v1alpha1.TargetReference{APIVersion: w.GroupVersion().String(), Kind: w.Kind, Name: w.Name},
	}
	if len(required) > 0 {
		spec.RequiredPersistentTopology = &v1alpha1.NodeTopologyTerm{NodeTopologyKeys: required}
	}
	if len(preferred) > 0 {
		spec.PreferredPersistentTopology = []v1alpha1.PreferredTopologyTerm{
			{Weight: generatedWeight, Preference: v1alpha1.NodeTopologyTerm{NodeTopologyKeys: preferred}},
		}
	}
	for _, key := range split(w.Annotations[v1alpha1.PersistentPodAnnotationsAnnotation]) {
		spec.PersistentPodAnnotations = append(spec.PersistentPodAnnotations, v1alpha1.PersistentPodAnnotation{Key: key})
	}
	return spec
}

// split returns what commas divide, without spaces around it.
func split(list string) (items []string) {
	for item := range strings.SplitSeq(list, ",") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	return items
}
