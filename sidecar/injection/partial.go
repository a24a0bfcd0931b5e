// SPDX-License-Identifier: Apache-2.0

package injection

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// NamesRevision tells whether a SidecarSet injects an earlier revision, into all new pods or some. (SCI-3)
func NamesRevision(set *v1alpha1.SidecarSet) bool {
	wanted := set.Spec.InjectionStrategy.Revision
	return wanted != nil && (wanted.RevisionName != nil || wanted.CustomVersion != nil)
}

// Partial tells whether a SidecarSet injects an earlier revision into some of the new pods only. (SCS-31)
func Partial(set *v1alpha1.SidecarSet) bool {
	return NamesRevision(set) && set.Spec.InjectionStrategy.Revision.Policy == v1alpha1.PartialSidecarSetInjectRevisionPolicy
}

// injectsRevision tells whether the pod gets the revision that the injectionStrategy names, and not the spec. (SCI-3, SCS-31)
func (in *Input) injectsRevision(set *v1alpha1.SidecarSet) (bool, error) {
	strategy := &set.Spec.UpdateStrategy
	if !Partial(set) || strategy.Paused {
		return NamesRevision(set), nil
	}
	if strategy.Selector != nil {
		selector, err := metav1.LabelSelectorAsSelector(strategy.Selector)
		if err != nil {
			return false, fmt.Errorf("spec.updateStrategy.selector: %w", err)
		}
		if !selector.Matches(labels.Set(in.Pod.Labels)) {
			return true, nil
		}
	}
	if strategy.Partition == nil || strategy.Partition.Type == intstr.Int {
		return false, nil
	}
	percent, err := rollout.Count("spec.updateStrategy.partition", *strategy.Partition, 100, rollout.RoundDown)
	if err != nil {
		return false, err
	}
	if revision, is := injectedRevision(in.Pod, set.Name); is { // drawn before
		found, err := Wanted(set, in.Revisions)
		return err == nil && found.Name == revision, nil
	}
	return in.Lots[set.Name]*100 < float64(percent), nil
}

// injectedRevision is the revision that a pod says it was injected with. (SCI-16)
func injectedRevision(pod *corev1.Pod, set string) (name string, is bool) {
	records, err := Records(pod, v1alpha1.SidecarSetHashAnnotation)
	record, is := records[set]
	return record.SidecarSetControllerRevision, is && err == nil
}
