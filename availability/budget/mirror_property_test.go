// SPDX-License-Identifier: Apache-2.0

package budget_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"pgregory.net/rapid"

	"github.com/podwright/podwright/availability/budget"
	"github.com/podwright/podwright/availability/v1alpha1"
)

// kubernetesAllows is how the API server answers an eviction, once the disruption controller of Kubernetes has computed the
// status of a PodDisruptionBudget.
func kubernetesAllows(d *policyv1.PodDisruptionBudget, pods []*corev1.Pod, pod *corev1.Pod) bool {
	selector, _ := metav1.LabelSelectorAsSelector(d.Spec.Selector)
	ready := func(pod *corev1.Pod) bool { return pod.Status.Conditions[0].Status == corev1.ConditionTrue }
	if !selector.Matches(labels.Set(pod.Labels)) || pod.DeletionTimestamp != nil || pod.Status.Phase != corev1.PodRunning ||
		!ready(pod) && *d.Spec.UnhealthyPodEvictionPolicy == policyv1.AlwaysAllow {
		return true
	}
	healthy := int32(0)
	for _, pod := range pods {
		if selector.Matches(labels.Set(pod.Labels)) && pod.DeletionTimestamp == nil && ready(pod) {
			healthy++
		}
	}
	return healthy > d.Spec.MinAvailable.IntVal
}

// PUB-32: whatever the pods are like, a mirror denies no eviction that the budget allows.
func TestMirrorIsNeverStricter(t *testing.T) {
	mirrored := 0
	rapid.Check(t, func(t *rapid.T) {
		b := newBudget(rapid.SampledFrom([]func(*v1alpha1.PodUnavailableBudget){
			maxUnavailable("0"), maxUnavailable("1"), maxUnavailable("40%"), minAvailable("1"), minAvailable("3"), minAvailable("100%"),
			func(b *v1alpha1.PodUnavailableBudget) {
				selecting(map[string]string{"app": "web"})(b)
				maxUnavailable("1")(b)
			},
		}).Draw(t, "spec"))
		kinds := []func(*corev1.Pod){none, none, none, none, unready, deleting, phase(corev1.PodPending), bare, ownedBy("other"), label("app", "other"), marked,
			label(v1alpha1.UnavailablePodLabelPrefix+"x", "1"), annotate(v1alpha1.PodPubNoProtectionAnnotation, "true"),
			annotate(v1alpha1.RelatedPubAnnotation, "first"), annotate(v1alpha1.RelatedPubAnnotation, "")}
		var pods []*corev1.Pod
		for i := range rapid.IntRange(0, 6).Draw(t, "pods") {
			pod := newPod(fmt.Sprintf("pod-%d", i))
			if rapid.IntRange(0, 3).Draw(t, "special") == 0 {
				rapid.SampledFrom(kinds).Draw(t, "kind")(pod)
			}
			pods = append(pods, pod)
		}
		web := workload("apps.kruise.io", "CloneSet", "web", rapid.Int32Range(0, 6).Draw(t, "replicas"), "")
		web.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
		s, err := budget.Select(b, pods, workloads(web))
		if err != nil {
			t.Fatal(err)
		}
		r, err := budget.Compute(b, s, start)
		if err != nil {
			t.Fatal(err)
		}
		b.Status = r.Status
		mirror := budget.Mirror(b, &b.Status, s.Selector)
		if mirror == nil || budget.Stricter(b, s, mirror, pods) != "" {
			return
		}
		mirrored++
		for _, pod := range s.Pods { // as the controller is about to
			if pod.Annotations[v1alpha1.RelatedPubAnnotation] == "" {
				pod.Annotations[v1alpha1.RelatedPubAnnotation] = b.Name
			}
		}
		for _, pod := range pods {
			allowed := pod.Annotations[v1alpha1.RelatedPubAnnotation] != b.Name || budget.Decide(b, pod, budget.Request{Operation: v1alpha1.PubEvictOperation, Now: start}).Allowed
			if allowed && budget.Active(pod) && !kubernetesAllows(mirror, pods, pod) {
				t.Fatalf("the budget allows the eviction of %s, the mirror denies it: %+v", pod.Name, b.Status)
			}
		}
	})
	if mirrored == 0 {
		t.Error("no case had a mirror")
	}
}
