// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/availability/budget"
	"github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/lifecycle"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// What a webhook answers about a pod is the same as without the transform of its cache.
func TestTrimPod(t *testing.T) {
	b := newBudget("web", "1")
	b.Status = v1alpha1.PodUnavailableBudgetStatus{ObservedGeneration: 1, DesiredAvailable: 1, CurrentAvailable: 2, UnavailableAllowed: 1}
	full := b.DeepCopy()
	full.Status.CurrentAvailable, full.Status.UnavailableAllowed = 1, 0
	booked := full.DeepCopy()
	booked.Status.DisruptedPods, booked.Status.PodUIDs = map[string]metav1.Time{"web-1-a": metav1.NewTime(at)}, map[string]types.UID{"web-1-a": "pod"}
	edit := func(change func(*corev1.Pod)) *corev1.Pod { return webPod(change) }
	for name, pod := range map[string]*corev1.Pod{
		"it serves": webPod(), "no budget": webPod(unlinked),
		"not ready":     edit(func(pod *corev1.Pod) { pod.Status.Conditions[0].Status = corev1.ConditionFalse }),
		"no condition":  edit(func(pod *corev1.Pod) { pod.Status.Conditions = nil }),
		"pending":       edit(func(pod *corev1.Pod) { pod.Status.Phase = corev1.PodPending }),
		"it goes":       edit(func(pod *corev1.Pod) { pod.DeletionTimestamp = &metav1.Time{Time: at} }),
		"held out":      edit(func(pod *corev1.Pod) { pod.Labels["unavailable-pod.kruise.io/x"] = "" }),
		"marked":        edit(func(pod *corev1.Pod) { pod.Labels[lifecyclev1alpha1.SpecifiedDeleteLabel] = "" }),
		"not protected": edit(func(pod *corev1.Pod) { pod.Annotations[v1alpha1.PodPubNoProtectionAnnotation] = "true" }),
		"denied before": edit(func(pod *corev1.Pod) {
			pod.Annotations[lifecyclev1alpha1.EvictionDeniedAnnotation] = at.Format("2006-01-02T15:04:05Z")
		}),
		"of a CloneSet": edit(func(pod *corev1.Pod) {
			pod.OwnerReferences[0] = ownerOf("apps.kruise.io/v1alpha1", "CloneSet", "web", "set")
		}),
		"nobody's": edit(func(pod *corev1.Pod) { pod.OwnerReferences = nil }),
		"of two, by one": edit(func(pod *corev1.Pod) {
			pod.OwnerReferences = append([]metav1.OwnerReference{{Kind: "Other"}}, pod.OwnerReferences...)
		}),
	} {
		trimmed, err := TrimPod(pod.DeepCopy())
		if err != nil {
			t.Fatal(err)
		}
		got := trimmed.(*corev1.Pod)
		kept := cached(t, pod.DeepCopy())
		if listed, err := kept.List(labels.Everything()); err != nil || !cmp.Equal(listed, []*corev1.Pod{got}) {
			t.Errorf("%s: listed %v, %v", name, listed, err)
		}
		if found, err := kept.Get(pod.Name); err != nil || !cmp.Equal(found, got) {
			t.Errorf("%s: the cache of a CachedWebhook has another pod (-want +got):\n%s %v", name, cmp.Diff(got, found), err)
		}
		for _, b := range []*v1alpha1.PodUnavailableBudget{nil, b, full, booked} {
			for _, operation := range []v1alpha1.PubOperation{v1alpha1.PubEvictOperation, v1alpha1.PubDeleteOperation} {
				request := budget.Request{Operation: operation, Now: at}
				if diff := cmp.Diff(budget.Decide(b, pod, request), budget.Decide(b, got, request)); diff != "" {
					t.Errorf("%s: %s (-want +got):\n%s", name, operation, diff)
				}
			}
		}
		if makesRoom(pod) != makesRoom(got) || lifecycle.AwaitsEviction(pod, at) != lifecycle.AwaitsEviction(got, at) || budget.Ready(pod) != budget.Ready(got) {
			t.Errorf("%s: another pod than %+v: %+v", name, pod, got)
		}
		options := &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &pod.UID, ResourceVersion: &pod.ResourceVersion}}
		if meets(got, options) != nil || got.Namespace != pod.Namespace || got.Name != pod.Name || len(got.Spec.Containers) > 0 {
			t.Errorf("%s: %+v", name, got)
		}
	}
	other := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
	if got, err := TrimPod(other); got != any(other) || err != nil {
		t.Errorf("%v, %v", got, err)
	}
}

// cached is a cache of a CachedWebhook that has a pod, and one of the same name elsewhere.
func cached(t *testing.T, pod *corev1.Pod) corev1listers.PodNamespaceLister {
	t.Helper()
	elsewhere := pod.DeepCopy()
	elsewhere.Namespace = "elsewhere"
	kept := keptPods{Indexer: cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})}
	for _, pod := range []*corev1.Pod{pod, elsewhere} {
		object, err := keepPod(pod)
		if err == nil {
			err = kept.Add(object)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := kept.Pods("nowhere").Get(pod.Name); !apierrors.IsNotFound(err) {
		t.Errorf("a pod that is not there: %v", err)
	}
	return kept.Pods(pod.Namespace)
}
