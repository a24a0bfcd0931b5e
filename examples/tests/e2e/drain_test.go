// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"io"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/kubectl/pkg/drain"

	"github.com/podwright/podwright/availability/client"
	policyv1alpha1 "github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/examples/tests/testbed"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// A drain, with the code of kubectl, waits for what a budget denies, and finishes. The budget is older than the pods.
func TestDrain(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name                 string
		set                  *v1alpha1.CloneSet
		maxUnavailable       int32
		minAvailable, maxPod int
	}{
		{"OneReplicaMakesRoom", cloneSet("web", 1, strategy(inPlace, 0), surge(1)), 0, 1, 2},
		{"OneAfterAnother", cloneSet("web", 4), 1, 3, 5},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newCloneSetFixture(t)
			s.budget("web", test.maxUnavailable)
			s.run(test.set)
			s.awaitProtected("web")
			s.expect("web", test.minAvailable, test.maxPod)
			before := s.owned("web")
			s.drain(before)
			for _, pod := range before {
				s.AwaitGone(pod, "it was drained")
			}
			s.awaitSettled("web")
			s.keptBudget("web")
		})
	}
}

// budget creates a PodUnavailableBudget of a CloneSet.
func (s *cloneSetFixture) budget(set string, maxUnavailable int32) {
	s.Helper()
	budgets, err := client.NewForConfig(s.Config())
	if err != nil {
		s.Fatalf("%v", err)
	}
	b := &policyv1alpha1.PodUnavailableBudget{ObjectMeta: metav1.ObjectMeta{Name: set}, Spec: policyv1alpha1.PodUnavailableBudgetSpec{
		TargetReference: &policyv1alpha1.TargetReference{APIVersion: v1alpha1.SchemeGroupVersion.String(), Kind: "CloneSet", Name: set},
		MaxUnavailable:  new(intstr.FromInt32(maxUnavailable)),
	}}
	if _, err := budgets.PodUnavailableBudgets(s.Namespace).Create(s.Context(), b, metav1.CreateOptions{}); err != nil {
		s.Fatalf("create PodUnavailableBudget %s: %v", set, err)
	}
}

// awaitProtected waits until the pods of a CloneSet are told of its budget, and counted: evictions before that are not judged.
// (PUB-13, PUB-24)
func (s *cloneSetFixture) awaitProtected(set string) {
	s.Helper()
	budgets, err := client.NewForConfig(s.Config())
	if err != nil {
		s.Fatalf("%v", err)
	}
	s.AwaitAsking(fmt.Sprintf("the pods of %s are protected", set), func() string {
		b, err := budgets.PodUnavailableBudgets(s.Namespace).Get(s.Context(), set, metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		pods := s.owned(set)
		for _, pod := range pods {
			if pod.Annotations[policyv1alpha1.RelatedPubAnnotation] != set {
				return fmt.Sprintf("%s has the annotations %v", pod.Name, pod.Annotations)
			}
		}
		if int(b.Status.CurrentAvailable) != len(pods) {
			return fmt.Sprintf("%d pods, status %+v", len(pods), b.Status)
		}
		return ""
	})
}

// drain evicts pods as kubectl does, all at once, and waits until they are gone.
func (s *cloneSetFixture) drain(pods []*corev1.Pod) {
	s.Helper()
	var list []corev1.Pod
	for _, pod := range pods {
		list = append(list, *pod)
	}
	helper := &drain.Helper{Ctx: s.Context(), Client: s.Core, GracePeriodSeconds: -1, Timeout: testbed.Patience, Out: io.Discard, ErrOut: io.Discard}
	if err := helper.DeleteOrEvictPods(list); err != nil {
		s.Errorf("drain: %v", err)
	}
}

func surge(pods int32) func(*v1alpha1.CloneSet) {
	return func(set *v1alpha1.CloneSet) { set.Spec.UpdateStrategy.MaxSurge = new(intstr.FromInt32(pods)) }
}
