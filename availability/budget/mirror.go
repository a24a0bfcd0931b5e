// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/lifecycle/readiness"
)

// ManagedByLabel is a label of mirrors, by which a user finds them. Its value is
// v1alpha1.PubEventSource.
const ManagedByLabel = "app.kubernetes.io/managed-by"

// Mirrored tells whether a budget asks for a mirror. (PUB-30)
func Mirrored(b *v1alpha1.PodUnavailableBudget) bool {
	return b.Annotations[v1alpha1.PodDisruptionBudgetAnnotation] == "true"
}

// Mirror returns the PodDisruptionBudget that shows a budget to clients that know nothing of it.
// Autoscalers ask it before they choose a node, and the API server itself denies evictions. The
// budget is its owner, and gives it its name. It protects from evictions alone, and protects no pod
// that is not ready. It protects as many pods as are desired, as a number, which holds whatever
// controls the pods. The selector is that of the Selection.
//
// Nil: there is to be none. Then the budget has no status yet, wants no pods, does not protect from
// evictions, is being deleted, or its selector is not known. An empty selector would select every
// pod. Whether the budget asks for one, is not considered. (PUB-30, PUB-32)
func Mirror(b *v1alpha1.PodUnavailableBudget, status *v1alpha1.PodUnavailableBudgetStatus, selector *metav1.LabelSelector) *policyv1.PodDisruptionBudget {
	if empty(selector) || status.ObservedGeneration == 0 || status.DesiredAvailable <= 0 ||
		b.DeletionTimestamp != nil || !protects(b, v1alpha1.PubEvictOperation) {
		return nil
	}
	return &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: b.Namespace, Name: b.Name, Labels: map[string]string{ManagedByLabel: v1alpha1.PubEventSource},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(b, v1alpha1.SchemeGroupVersion.WithKind("PodUnavailableBudget"))}},
		Spec: policyv1.PodDisruptionBudgetSpec{
			MinAvailable:               new(intstr.FromInt32(status.DesiredAvailable)),
			Selector:                   selector.DeepCopy(),
			UnhealthyPodEvictionPolicy: new(policyv1.AlwaysAllow),
		},
	}
}

func empty(s *metav1.LabelSelector) bool {
	return s == nil || len(s.MatchLabels)+len(s.MatchExpressions) == 0
}

// Stricter says why a mirror could deny an eviction for good that the budget allows; empty if it denies none. It
// counts the ready pods that it selects, and knows nothing of annotations. So the budget has to protect these pods,
// and all pods of the Selection have to be among them. (PUB-32)
//
// The pods are those of the namespace.
func Stricter(b *v1alpha1.PodUnavailableBudget, s Selection, mirror *policyv1.PodDisruptionBudget, pods []*corev1.Pod) string {
	selects, err := metav1.LabelSelectorAsSelector(mirror.Spec.Selector)
	if err != nil {
		return err.Error()
	}
	own := map[*corev1.Pod]bool{}
	for _, pod := range s.Pods {
		own[pod] = true
		if !selects.Matches(labels.Set(pod.Labels)) {
			return fmt.Sprintf("the selector of the workload does not select pod %s, which counts", pod.Name)
		}
	}
	for _, pod := range pods {
		if !Active(pod) || !readiness.Ready(pod) || !selects.Matches(labels.Set(pod.Labels)) {
			continue
		}
		switch related := pod.Annotations[v1alpha1.RelatedPubAnnotation]; {
		case !own[pod] || related != "" && related != b.Name:
			return fmt.Sprintf("the selector selects pod %s, which the budget does not protect", pod.Name)
		case pod.Annotations[v1alpha1.PodPubNoProtectionAnnotation] == "true":
			return fmt.Sprintf("pod %s has the annotation %s", pod.Name, v1alpha1.PodPubNoProtectionAnnotation)
		case !Ready(pod):
			return fmt.Sprintf("pod %s counts as unavailable though it is ready", pod.Name)
		}
	}
	return ""
}

// Overlap returns the names of another PodDisruptionBudget that a mirror has to yield to, and of a pod that both
// select; empty for none. The API server answers the eviction of such a pod with an error. A mirror that exists
// stays beside those of budgets that come later by name, since these yield. (PUB-32)
//
// The pods and the others are those of the namespace; the mirror may be among these.
func Overlap(mirror *policyv1.PodDisruptionBudget, exists bool, others []*policyv1.PodDisruptionBudget, pods []*corev1.Pod) (other, pod string) {
	selects, err := metav1.LabelSelectorAsSelector(mirror.Spec.Selector)
	if err != nil {
		return "", ""
	}
	pods = slices.DeleteFunc(slices.Clone(pods), func(pod *corev1.Pod) bool { return !Active(pod) || !selects.Matches(labels.Set(pod.Labels)) })
	for _, o := range others {
		if o.Name == mirror.Name || exists && o.Name > mirror.Name && isMirror(o) {
			continue
		}
		theirs, err := metav1.LabelSelectorAsSelector(o.Spec.Selector)
		if err != nil {
			continue // it selects nothing
		}
		for _, pod := range pods {
			if theirs.Matches(labels.Set(pod.Labels)) {
				return o.Name, pod.Name
			}
		}
	}
	return "", ""
}

// isMirror tells whether a PodDisruptionBudget shows a budget.
func isMirror(d *policyv1.PodDisruptionBudget) bool {
	ref := metav1.GetControllerOfNoCopy(d)
	return ref != nil && ref.Kind == "PodUnavailableBudget" && ref.Name == d.Name
}
