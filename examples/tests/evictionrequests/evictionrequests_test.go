// SPDX-License-Identifier: Apache-2.0

package evictionrequests

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	lifecyclev1alpha1 "k8s.io/api/lifecycle/v1alpha1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	podwrightv1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

const note = podwrightv1alpha1.EvictionDeniedAnnotation

// EVR-5, EVR-12: the only pod of a CloneSet, without a budget, is never missed. What users write into the template
// reaches the pods.
func TestOnlyPodOfACloneSet(t *testing.T) {
	t.Parallel()
	s := newScene(t, 1)
	if diff := cmp.Diff(registered, s.pod.Spec.EvictionResponders); diff != "" {
		t.Fatalf("spec.evictionResponders of a pod (-template +pod):\n%s", diff)
	}
	pods, err := core.CoreV1().Pods(s.namespace).List(s.Context, metav1.ListOptions{})
	s.must(err)
	watch, err := core.CoreV1().Pods(s.namespace).Watch(s.Context, metav1.ListOptions{ResourceVersion: pods.ResourceVersion})
	s.must(err)
	defer watch.Stop()
	s.request()

	serving := map[types.UID]bool{s.pod.UID: true}
	for gone := false; !gone; {
		event, open := <-watch.ResultChan()
		if !open {
			t.Fatalf("the watch has ended: %v", s.Err())
		}
		pod, isPod := event.Object.(*corev1.Pod)
		if !isPod {
			t.Fatalf("the watch tells of %v", event.Object)
		}
		delete(serving, pod.UID)
		if event.Type != "DELETED" && serves(pod) {
			serving[pod.UID] = true
		}
		if len(serving) == 0 {
			t.Fatalf("no pod serves after %s %s", event.Type, pod.Name)
		}
		gone = event.Type == "DELETED" && pod.UID == s.pod.UID
	}
	s.eventually("the responder to be through", func() error {
		if _, own := s.eviction(); own.CompletionTime == nil {
			return fmt.Errorf("its report: %+v", own)
		}
		return nil
	})
	s.end(lifecyclev1alpha1.ResponderStateCompleted, lifecyclev1alpha1.EvictionConditionTargetEvicted, lifecyclev1alpha1.EvictionConditionReasonPodDeleted)
	if ready := s.ready(); len(ready) != 1 {
		t.Errorf("%d pods at the end", len(ready))
	}
}

// EVR-7, EVR-8, EVR-10: a PodDisruptionBudget denies the eviction until it is gone.
func TestBudget(t *testing.T) {
	t.Parallel()
	s := newScene(t, 0)
	budgets := core.PolicyV1().PodDisruptionBudgets(s.namespace)
	_, err := budgets.Create(s.Context, &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: policyv1.PodDisruptionBudgetSpec{MinAvailable: new(intstr.FromInt(1)), Selector: &metav1.LabelSelector{MatchLabels: s.pod.Labels}}}, metav1.CreateOptions{})
	s.must(err)
	s.eventually("the budget to be counted", func() error {
		budget, err := budgets.Get(s.Context, "web", metav1.GetOptions{})
		if err == nil && budget.Status.CurrentHealthy != 1 {
			err = fmt.Errorf("its status: %+v", budget.Status)
		}
		return err
	})
	s.request()
	s.eventually("word of the budget, and a note", func() error {
		pod, err := core.CoreV1().Pods(s.namespace).Get(s.Context, s.pod.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		_, own := s.eviction()
		if own.HeartbeatTime == nil || own.Message == nil || !strings.Contains(*own.Message, "disruption budget") || pod.Annotations[note] == "" {
			return fmt.Errorf("the report: %+v, the annotations of the pod: %v", own, pod.Annotations)
		}
		return nil
	})
	s.must(budgets.Delete(s.Context, "web", metav1.DeleteOptions{}))
	s.eventually("the responder to be through", func() error {
		if _, own := s.eviction(); own.CompletionTime == nil {
			return fmt.Errorf("its report: %+v", own)
		}
		return nil
	})
}

// EVR-9: the request is withdrawn while the pod waits for room, which is not to be had.
func TestCanceled(t *testing.T) {
	t.Parallel()
	s := newScene(t, 1)
	_, err := core.CoreV1().ResourceQuotas(s.namespace).Create(s.Context, &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "no-more"},
		Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("1")}}}, metav1.CreateOptions{})
	s.must(err)
	s.eventually("the quota to be counted", func() error {
		quota, err := core.CoreV1().ResourceQuotas(s.namespace).Get(s.Context, "no-more", metav1.GetOptions{})
		if err == nil && len(quota.Status.Used) == 0 {
			err = fmt.Errorf("its status: %+v", quota.Status)
		}
		return err
	})
	s.request()
	noted := func() (string, error) {
		pod, err := core.CoreV1().Pods(s.namespace).Get(s.Context, s.pod.Name, metav1.GetOptions{})
		if err != nil {
			return "", err
		}
		return pod.Annotations[note], nil
	}
	s.eventually("a note and a report", func() error {
		text, err := noted()
		if _, own := s.eviction(); err == nil && (text == "" || own.HeartbeatTime == nil) {
			err = fmt.Errorf("the note %q and the report %+v", text, own)
		}
		return err
	})
	s.end(lifecyclev1alpha1.ResponderStateCanceled, lifecyclev1alpha1.EvictionConditionFailed, lifecyclev1alpha1.EvictionConditionReasonCanceledDueToNoRequesters)
	s.eventually("the note to be gone", func() error {
		text, err := noted()
		if err == nil && text != "" {
			err = fmt.Errorf("the note %q", text)
		}
		return err
	})
	if ready := s.ready(); len(ready) != 1 || ready[0].UID != s.pod.UID {
		t.Errorf("%d pods are ready", len(ready))
	}
}
