// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	availabilityclient "github.com/podwright/podwright/availability/client"
	availabilityv1alpha1 "github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/examples/tests/testbed/drains"
)

// evict evicts a pod, once.
func (s *cloneSetFixture) evict(pod *corev1.Pod) error {
	return drains.Evict(s.Context(), s.Core, pod.Namespace, pod.Name, nil)
}

// A budget lets none of the pods of a CloneSet go. A client that evicts one is told to try again, as by a
// PodDisruptionBudget. A client that deletes one is told why it may not. Once the budget allows it, the eviction
// succeeds, and the CloneSet is complete again. (PUB-24, PUB-28)
func TestPodUnavailableBudgets(t *testing.T) {
	t.Parallel()
	s := newCloneSetFixture(t)
	clients, err := availabilityclient.NewForConfig(steady.Config())
	if err != nil {
		t.Fatal(err)
	}
	budgets := clients.PodUnavailableBudgets(s.Namespace)
	budget := &availabilityv1alpha1.PodUnavailableBudget{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: availabilityv1alpha1.PodUnavailableBudgetSpec{
		TargetReference: &availabilityv1alpha1.TargetReference{APIVersion: "apps.kruise.io/v1alpha1", Kind: "CloneSet", Name: "web"}, MaxUnavailable: new(intstr.FromInt32(0))}}
	if _, err := budgets.Create(s.Context(), budget, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	wrong := budget.DeepCopy()
	wrong.Name = "again"
	if _, err := budgets.Create(s.Context(), wrong, metav1.CreateOptions{}); !apierrors.IsBadRequest(err) || !strings.Contains(err.Error(), "PodUnavailableBudget web") {
		t.Errorf("PUB-26: a second one of the same pods: %v", err)
	}
	s.run(cloneSet("web", 3))
	s.awaitProtected("web")
	pods, err := s.Core.CoreV1().Pods(s.Namespace).List(s.Context(), metav1.ListOptions{LabelSelector: "app=web"})
	if err != nil || len(pods.Items) != 3 {
		t.Fatalf("%d pods, error %v", len(pods.Items), err)
	}
	pod := &pods.Items[0]
	const denied = `podunavailablebudget.policy.kruise.io "web" is forbidden: pub unavailable allowed is negative`
	if err := s.evict(pod); !apierrors.IsTooManyRequests(err) || !apierrors.HasStatusCause(err, policyv1.DisruptionBudgetCause) || !strings.Contains(err.Error(), denied) {
		t.Errorf("PUB-28: evict: %v", err)
	} else if seconds, found := apierrors.SuggestsClientDelay(err); !found || seconds != 5 {
		t.Errorf("PUB-28: evict: try again after %d s (%t)", seconds, found)
	}
	if err := s.Core.CoreV1().Pods(s.Namespace).Delete(s.Context(), pod.Name, metav1.DeleteOptions{}); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), denied) {
		t.Errorf("PUB-28: delete: %v", err)
	}
	if _, err := budgets.Patch(s.Context(), "web", types.MergePatchType, []byte(`{"spec":{"maxUnavailable":1}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	s.AwaitAsking("PUB-28: the eviction, tried again", func() string {
		if err := s.evict(pod); err != nil && !apierrors.IsNotFound(err) {
			return err.Error()
		}
		return ""
	})
	s.awaitSettled("web")
}
