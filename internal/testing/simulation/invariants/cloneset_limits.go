// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// cloneSetLimits are the numbers of a spec, in pods. (CS-5, CS-6)
type cloneSetLimits struct {
	replicas, partition, surge, unavailable, scaleUnavailable int
	broken                                                    bool // the spec cannot be understood
}

func limitsOf(set *v1alpha1.CloneSet, features CloneSetFeatures) (l cloneSetLimits) {
	strategy := &set.Spec.UpdateStrategy
	l.replicas = int(ptr.Deref(set.Spec.Replicas, 1))
	number := func(value *intstr.IntOrString, unset intstr.IntOrString, up bool) int {
		n, err := intstr.GetScaledValueFromIntOrPercent(ptr.To(ptr.Deref(value, unset)), l.replicas, up)
		l.broken = l.broken || err != nil
		return max(n, 0)
	}
	l.partition = min(number(strategy.Partition, intstr.FromInt32(0), true), l.replicas)
	if p := strategy.Partition; p != nil && p.Type == intstr.String && p.StrVal != "100%" && l.replicas > 1 && l.partition == l.replicas {
		l.partition--
	}
	l.surge = number(strategy.MaxSurge, intstr.FromInt32(0), true)
	if strategy.Paused && features.PauseWithoutSurge {
		l.surge = 0
	}
	l.unavailable = number(strategy.MaxUnavailable, intstr.FromString(v1alpha1.DefaultCloneSetMaxUnavailable), l.surge == 0)
	l.scaleUnavailable = number(set.Spec.ScaleStrategy.MaxUnavailable, intstr.FromInt32(math.MaxInt32), true)
	selector, err := metav1.LabelSelectorAsSelector(set.Spec.Selector)
	l.broken = l.broken || l.replicas < 0 || set.Spec.Selector == nil || err != nil || selector.Empty()
	return l
}

func matches(s *metav1.LabelSelector, of map[string]string) bool {
	selector, err := metav1.LabelSelectorAsSelector(s)
	return err == nil && selector.Matches(labels.Set(of))
}

func preparingDelete(pod *corev1.Pod) bool {
	return stateOf(pod) == lifecyclev1alpha1.StatePreparingDelete
}

// awaitsEviction tells whether a client waits until a pod may be evicted. (LC-29)
func awaitsEviction(pod *corev1.Pod, now time.Time) bool {
	denied, err := time.Parse(time.RFC3339, pod.Annotations[lifecyclev1alpha1.EvictionDeniedAnnotation])
	return err == nil && now.Before(denied.Add(5*time.Minute))
}

// isSpecified tells whether a user wants a pod to be deleted. (CS-4)
func (j *cloneSetJudge) isSpecified(pod *corev1.Pod) bool {
	_, labelled := pod.Labels[lifecyclev1alpha1.SpecifiedDeleteLabel]
	return labelled || j.specified[pod.Name]
}

// updateRevision is the short hash of the revision of a template, the latest if
// there are several; empty if there is none. (CS-CR4, CS-CR5)
func updateRevision(template *corev1.PodTemplateSpec, revisions map[string]*appsv1.ControllerRevision) string {
	templates := templatesOf(revisions)
	for _, r := range slices.Backward(slices.SortedFunc(maps.Values(revisions), earlier)) {
		if t := templates[shortHash(r.Name)]; t != nil && equality.Semantic.DeepEqual(t, template) {
			return shortHash(r.Name)
		}
	}
	return ""
}

func earlier(a, b *appsv1.ControllerRevision) int {
	return cmp.Or(cmp.Compare(a.Revision, b.Revision),
		a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
}
