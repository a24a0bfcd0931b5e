// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// breakWebhook has the API server ask a webhook that does not answer about every new object of a resource in the namespace.
// The creations fail with the code 500 until the returned function is called.
func (s *fixture[T]) breakWebhook(resource string) (mend func()) {
	s.Helper()
	name := resource + "-" + s.Namespace
	configurations := s.Core.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	_, err := configurations.Create(s.Context(), &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name: "broken.example.com", SideEffects: new(admissionregistrationv1.SideEffectClassNone), AdmissionReviewVersions: []string{"v1"},
			ClientConfig:      admissionregistrationv1.WebhookClientConfig{URL: new("https://127.0.0.1:1/")},
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: s.Namespace}},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{resource}},
			}},
		}},
	}, metav1.CreateOptions{})
	if err != nil {
		s.Fatal(err)
	}
	mend = func() { _ = configurations.Delete(context.Background(), name, metav1.DeleteOptions{}) }
	s.Cleanup(mend)
	s.AwaitAsking("the webhook is called", func() string {
		meta := metav1.ObjectMeta{Name: "asked"}
		dryRun := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}
		var err error
		if resource == "pods" {
			_, err = s.Core.CoreV1().Pods(s.Namespace).Create(s.Context(), plainPod("asked"), dryRun)
		} else {
			claim := cloneSet("web", 1, claimTemplate("data")).Spec.VolumeClaimTemplates[0].DeepCopy()
			claim.ObjectMeta = meta
			_, err = s.Core.CoreV1().PersistentVolumeClaims(s.Namespace).Create(s.Context(), claim, dryRun)
		}
		if err == nil {
			return "it is not"
		}
		return ""
	})
	return mend
}

// A webhook of another program breaks down while a workload scales up. The controller finds out what became of the creations that
// ended with a server error. When the webhook is back, it makes each pod and claim once.
func TestWebhookOfOthersIsDown(t *testing.T) {
	for _, resource := range []string{"pods", "persistentvolumeclaims"} {
		t.Run("CloneSet/"+resource, func(t *testing.T) {
			t.Parallel()
			s := newCloneSetFixture(t)
			s.run(cloneSet("web", 1, claimTemplate("data")))
			failsAndGoesOn(s.fixture, resource, replicas(3))
		})
		t.Run("StatefulSet/"+resource, func(t *testing.T) {
			t.Parallel()
			s := newStatefulSetFixture(t)
			s.run(statefulSet(1, s.spec(parallelInPlace), s.spec(dataClaims)))
			failsAndGoesOn(s.fixture, resource, s.spec(`{replicas: 3}`))
		})
	}
}

// failsAndGoesOn has the creation of pods or claims fail for a while, as the workload web scales up to three pods.
func failsAndGoesOn[T metav1.Object](s *fixture[T], resource string, scaleUp func(T)) {
	s.Helper()
	mend := s.breakWebhook(resource)
	s.edit("web", scaleUp)
	s.AwaitAsking("two failures are told", func() string {
		events, err := s.Core.CoreV1().Events(s.Namespace).List(s.Context(), metav1.ListOptions{
			FieldSelector: labels.Set{"involvedObject.name": "web", "type": corev1.EventTypeWarning}.String(),
		})
		if err != nil {
			return err.Error()
		}
		var failures int32
		for _, event := range events.Items {
			failures += event.Count
		}
		if failures < 2 {
			return fmt.Sprintf("%d events", failures)
		}
		return ""
	})
	mend()
	s.awaitSettled("web")
	s.created(3)
	if claims := s.Claims.All(); len(claims) != 3 {
		s.Errorf("expected 3 claims, observed %d", len(claims))
	}
}
