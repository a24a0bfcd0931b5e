// SPDX-License-Identifier: Apache-2.0

package spread

import (
	"encoding/json"
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	schedulingcorev1 "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

// Adoption is a pod that was there before, and the subset that fits it. (WS-13)
type Adoption struct {
	// Pod is the pod, shared with the caches, and Subset the name of the subset.
	Pod    *corev1.Pod
	Subset string
	// Annotations and Labels are what to write into the pod; a nil value removes one.
	Annotations, Labels map[string]*string
}

// fitting is the index of the subset that fits a pod best on its node, elsewhere for none. Misses
// tells whether a subset misses pods. (WS-13)
func fitting(ws *v1alpha1.WorkloadSpread, pod *corev1.Pod, node *corev1.Node, misses func(int) bool) int {
	best, most := elsewhere, int64(0)
	for i := range ws.Spec.Subsets {
		subset := &ws.Spec.Subsets[i]
		if !fits(pod, node, subset) {
			continue
		}
		score := int64(0)
		if preferred, err := nodeaffinity.NewPreferredSchedulingTerms(subset.PreferredNodeSelectorTerms); err == nil {
			score = 100 * preferred.Score(node)
		}
		if unchanged(pod, subset) {
			score += 10
		}
		if misses(i) {
			score++
		}
		if best == elsewhere || score > most {
			best, most = i, score
		}
	}
	return best
}

// fits tells whether a subset could have sent a pod to its node. (WS-13)
func fits(pod *corev1.Pod, node *corev1.Node, subset *v1alpha1.WorkloadSpreadSubset) bool {
	tolerations := append(append([]corev1.Toleration{}, pod.Spec.Tolerations...), subset.Tolerations...)
	for i := range node.Spec.Taints {
		if !schedulingcorev1.TolerationsTolerateTaint(klog.Logger{}, tolerations, &node.Spec.Taints[i], true) {
			return false
		}
	}
	if !hasTerm(subset) {
		return true
	}
	spec := pod.Spec.DeepCopy()
	addAffinity(spec, subset)
	selector, err := nodeaffinity.NewNodeSelector(spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
	return err == nil && selector.Match(node)
}

// unchanged tells whether the patch of a subset leaves a pod unchanged, annotations aside.
// (WS-13)
func unchanged(pod *corev1.Pod, subset *v1alpha1.WorkloadSpreadSubset) bool {
	after, err := patched(pod, subset.Patch.Raw)
	if err != nil {
		return false
	}
	if after == pod {
		return true
	}
	before := *pod
	changed := *after
	before.Annotations, changed.Annotations = nil, nil
	return equality.Semantic.DeepEqual(&before, &changed)
}

// adoption is what makes a pod one of a subset. (WS-14)
func adoption(ws *v1alpha1.WorkloadSpread, pod *corev1.Pod, subset *v1alpha1.WorkloadSpreadSubset) Adoption {
	text := annotation(ws, subset.Name, "")
	a := Adoption{Pod: pod, Subset: subset.Name, Annotations: map[string]*string{}}
	if !strings.EqualFold(ws.Annotations[v1alpha1.IgnorePatchExistingPodsAnnotation], "true") {
		var patch struct {
			Metadata struct {
				Labels      map[string]*string `json:"labels"`
				Annotations map[string]*string `json:"annotations"`
			} `json:"metadata"`
		}
		if json.Unmarshal(subset.Patch.Raw, &patch) == nil {
			a.Annotations = changes(pod.Annotations, patch.Metadata.Annotations)
			a.Labels = changes(pod.Labels, patch.Metadata.Labels)
		}
	}
	a.Annotations[v1alpha1.MatchedWorkloadSpreadAnnotation] = &text
	return a
}

// changes leaves out what stands already.
func changes(has map[string]string, wanted map[string]*string) map[string]*string {
	result := map[string]*string{}
	maps.Copy(result, wanted)
	maps.DeleteFunc(result, func(key string, value *string) bool {
		present, found := has[key]
		return value == nil && !found || value != nil && found && present == *value
	})
	return result
}
