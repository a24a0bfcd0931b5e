// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/podwright/podwright/workloads/v1alpha1"
)

// pods makes the pod template of a subset. (UD-8.2 to UD-8.4)
func (r *rendering) pods() (*corev1.PodTemplateSpec, error) {
	pods := podTemplate(r.template).DeepCopy()
	placeOn(&pods.Spec, &r.subset.NodeSelectorTerm)
	for i := range r.subset.Tolerations {
		pods.Spec.Tolerations = append(pods.Spec.Tolerations, *r.subset.Tolerations[i].DeepCopy())
	}
	pods, err := patched(pods, r.subset.Patch)
	if err != nil {
		return nil, err
	}
	if pods.Labels == nil {
		pods.Labels = map[string]string{}
	}
	delete(pods.Labels, v1alpha1.ReservedPodLabel) // it is of one pod (CT-7)
	maps.Copy(pods.Labels, r.set.Spec.Selector.MatchLabels)
	pods.Labels[v1alpha1.SubsetNameLabel], pods.Labels[v1alpha1.SubsetRevisionLabel] = r.subset.Name, r.revision
	return pods, nil
}

// placeOn restricts pods to the nodes of a subset: each term of their node affinity gets the
// expressions of the subset's term. (UD-8.2)
func placeOn(spec *corev1.PodSpec, term *corev1.NodeSelectorTerm) {
	if len(term.MatchExpressions) == 0 {
		return
	}
	required := &setPointer(&setPointer(&spec.Affinity).NodeAffinity).RequiredDuringSchedulingIgnoredDuringExecution
	terms := &setPointer(required).NodeSelectorTerms
	if len(*terms) == 0 {
		*terms = make([]corev1.NodeSelectorTerm, 1)
	}
	for i := range *terms {
		(*terms)[i].MatchExpressions = slices.Concat((*terms)[i].MatchExpressions, term.DeepCopy().MatchExpressions)
	}
}

func hasPatch(patch *runtime.RawExtension) bool {
	return patch != nil && len(patch.Raw) > 0 && !bytes.Equal(patch.Raw, []byte("null"))
}

// patched applies a strategic merge patch to a pod template. (UD-8.4)
func patched(pods *corev1.PodTemplateSpec, patch *runtime.RawExtension) (*corev1.PodTemplateSpec, error) {
	if !hasPatch(patch) {
		return pods, nil
	}
	raw, err := json.Marshal(pods)
	if err != nil {
		return nil, fmt.Errorf("encode the pod template: %w", err)
	}
	changed, err := strategicpatch.StrategicMergePatch(raw, patch.Raw, &corev1.PodTemplateSpec{})
	if err != nil {
		return nil, fmt.Errorf("patch: %w", err)
	}
	into := &corev1.PodTemplateSpec{}
	if err := json.Unmarshal(changed, into); err != nil {
		return nil, fmt.Errorf("patch: the result is no pod template: %w", err)
	}
	return into, nil
}
