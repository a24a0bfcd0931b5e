// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/examples/tests/testbed"
	"github.com/podwright/podwright/examples/tests/testbed/podstate"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

var cloneSets = v1alpha1.SchemeGroupVersion.WithResource("clonesets")

// An autoscaler and kubectl scale use the subresource.
func TestScaleSubresource(t *testing.T) {
	t.Parallel()
	s := newCloneSetFixture(t)
	s.run(cloneSet("web", 2))
	sets := s.Dynamic.Resource(cloneSets).Namespace(s.Namespace)
	for _, n := range []int64{4, 1} {
		if _, err := sets.Patch(s.Context(), "web", types.MergePatchType, fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, n), metav1.PatchOptions{}, "scale"); err != nil {
			s.Fatalf("scale to %d: %v", n, err)
		}
		s.awaitSettled("web")
		scale, err := sets.Get(s.Context(), "web", metav1.GetOptions{}, "scale")
		if err != nil {
			s.Fatalf("get the scale: %v", err)
		}
		observed, _, _ := unstructured.NestedInt64(scale.Object, "status", "replicas")
		selector, _, _ := unstructured.NestedString(scale.Object, "status", "selector")
		if scale.GetKind() != "Scale" || observed != n || selector != "app=web" {
			s.Errorf("expected a Scale with %d replicas and the selector app=web, observed %v", n, scale.Object)
		}
	}
	s.created(4)
}

func TestSpecifiedDelete(t *testing.T) {
	t.Parallel()
	s := newCloneSetFixture(t)
	s.run(cloneSet("web", 4, strategy(reCreate, 1)))
	pods := s.owned("web")

	s.expect("web", 3, 4)
	s.Label(pods[0].Name, lifecyclev1alpha1.SpecifiedDeleteLabel, "true")
	s.Label(pods[1].Name, lifecyclev1alpha1.SpecifiedDeleteLabel, "")
	s.AwaitGone(pods[0], "CS-4: marked by label")
	s.AwaitGone(pods[1], "CS-4: marked by label, with any value")
	s.awaitSettled("web")
	s.keptBudget("web") // CS-22

	s.expect("web", 3, 4)
	s.edit("web", podsToDelete(pods[2].Name, pods[3].Name))
	s.AwaitGone(pods[2], "CS-4: marked by name")
	s.AwaitGone(pods[3], "CS-4: marked by name")
	s.awaitPruned("web")
	s.awaitSettled("web")
	s.keptBudget("web")
	s.deletedOnly(testbed.Names(pods)...)

	victim := s.owned("web")[1]
	s.edit("web", podsToDelete(victim.Name), replicas(3))
	s.AwaitGone(victim, "CS-E10: marked by name, not replaced")
	s.awaitPruned("web")
	s.awaitSettled("web")
	s.created(8)
}

// awaitPruned waits until podsToDelete is empty.
func (s *cloneSetFixture) awaitPruned(set string) {
	s.Helper()
	s.Await("CS-3(g): podsToDelete is pruned", func() string {
		stored, _ := s.sets.Named(set)
		if names := stored.Spec.ScaleStrategy.PodsToDelete; len(names) > 0 {
			return fmt.Sprintf("%v", names)
		}
		return ""
	})
}

// The user's choice to delete a pod can be taken back, as long as the budget has held the deletion back.
func TestSpecifiedDeleteIsTakenBack(t *testing.T) {
	testbed.Long(t)
	t.Parallel()
	s := newCloneSetFixture(t)
	s.run(cloneSet("web", 3, strategy(inPlace, 1)))
	pods := s.owned("web")
	s.edit("web", image("web:bad"), partition("2")) // takes up the budget
	s.awaitStatus("web", "one pod is updated and out of service", func(set *v1alpha1.CloneSet) string {
		if set.Status.UpdatedReplicas != 1 || set.Status.ReadyReplicas != 2 {
			return fmt.Sprintf("status %+v", set.Status)
		}
		return ""
	})
	var marked *corev1.Pod
	for _, pod := range s.owned("web") {
		if podstate.InService(pod) {
			marked = pod
		}
	}
	s.Label(marked.Name, lifecyclev1alpha1.SpecifiedDeleteLabel, "true")
	s.edit("web", replicas(4))
	s.awaitStatus("web", "a fourth pod, of the bad image too; the marked one waits", func(set *v1alpha1.CloneSet) string {
		if set.Status.Replicas != 4 || set.Status.ReadyReplicas != 2 {
			return fmt.Sprintf("status %+v", set.Status)
		}
		return ""
	})
	s.Label(marked.Name, lifecyclev1alpha1.SpecifiedDeleteLabel, nil)
	s.edit("web", image("web:1"), partition("0"))
	s.awaitSettled("web")
	s.deletedOnly() // CS-E16
	s.created(len(pods) + 1)
}

// What the API server refuses is told in the status, and gone from it when it no longer refuses.
func TestQuotaIsToldInTheStatus(t *testing.T) {
	t.Parallel()
	s := newCloneSetFixture(t)
	quotas := s.Core.CoreV1().ResourceQuotas(s.Namespace)
	quota := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: "pods"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("2")}},
	}
	if _, err := quotas.Create(s.Context(), quota, metav1.CreateOptions{}); err != nil {
		s.Fatalf("create a quota: %v", err)
	}
	s.AwaitAsking("the quota is counted", func() string {
		found, err := quotas.Get(s.Context(), "pods", metav1.GetOptions{})
		if err != nil || len(found.Status.Hard) == 0 {
			return fmt.Sprintf("%+v, %v", found.Status, err)
		}
		return ""
	})
	s.create(cloneSet("web", 4))
	s.awaitStatus("web", "the condition FailedScale, and two pods", func(set *v1alpha1.CloneSet) string {
		i := slices.IndexFunc(set.Status.Conditions, func(c v1alpha1.CloneSetCondition) bool {
			return c.Type == v1alpha1.CloneSetConditionFailedScale && c.Status == corev1.ConditionTrue && c.Message != ""
		})
		if i < 0 || set.Status.AvailableReplicas != 2 {
			return fmt.Sprintf("status %+v", set.Status)
		}
		return ""
	})
	if _, err := quotas.Patch(s.Context(), "pods", types.MergePatchType, []byte(`{"spec":{"hard":{"pods":"9"}}}`), metav1.PatchOptions{}); err != nil {
		s.Fatalf("raise the quota: %v", err)
	}
	s.awaitSettled("web")
	s.awaitStatus("web", "no condition any more", func(set *v1alpha1.CloneSet) string {
		if len(set.Status.Conditions) > 0 {
			return fmt.Sprintf("%+v", set.Status.Conditions)
		}
		return ""
	})
	s.created(4)
}
