// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/availability/budget"
	"github.com/podwright/podwright/availability/v1alpha1"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/admission"
	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/internal/testing/simulation/planted"
	workloadsv1alpha1 "github.com/podwright/podwright/workloads/v1alpha1"
)

// asIfReady takes pods that are to be deleted for ready ones.
func asIfReady(r *admissionv1.AdmissionRequest) {
	if pod, err := admission.OldObject[corev1.Pod](r); err == nil && pod != nil && r.Operation == admissionv1.Delete && pod.DeletionTimestamp == nil {
		pod.Status.Phase = corev1.PodRunning
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		r.OldObject.Raw = raw(pod)
	}
}

// really takes no notice of dry runs.
func really(r *admissionv1.AdmissionRequest) {
	r.DryRun = nil
	for _, raw := range []*[]byte{&r.Options.Raw, &r.Object.Raw} {
		*raw = bytes.ReplaceAll(*raw, []byte(`"dryRun":["All"]`), []byte(`"dryRun":[]`))
	}
}

// roundDown reads percentages as the number of pods that they are at least.
func roundDown(s *Snapshot) {
	total := int32(0)
	for _, w := range s.Workloads {
		total += w.Wants()
	}
	for _, value := range []*intstr.IntOrString{s.Budget.Spec.MaxUnavailable, s.Budget.Spec.MinAvailable} {
		if value != nil && value.Type == intstr.String {
			n, err := intstr.GetScaledValueFromIntOrPercent(value, int(total), false)
			if err == nil {
				*value = intstr.FromInt(n)
			}
		}
	}
}

// distrustMirrors takes pods for out of service in which a container has another image than the last update gave it. Only a webhook
// of others does that.
func distrustMirrors(s *Snapshot) {
	planted.EachPod[Snapshot](func(pod *corev1.Pod) {
		var state inplacev1alpha1.State
		if json.Unmarshal([]byte(pod.Annotations[inplacev1alpha1.StateAnnotation]), &state) != nil {
			return // it was never updated
		}
		for i := range pod.Spec.Containers {
			if given := state.LastContainers[pod.Spec.Containers[i].Name].Image; given != "" && given != pod.Spec.Containers[i].Image {
				pod.Status.Conditions = nil
			}
		}
	})(s)
}

// countLinked counts pods that are still to be told of their budget.
func countLinked(_ *Snapshot, p *Plan) {
	if p.Status == nil {
		return
	}
	for _, pod := range p.Link {
		if budget.Ready(pod) {
			p.Status.CurrentAvailable++
		}
	}
}

// byStatus takes the pods that a CloneSet has for those that it wants.
func byStatus(object any) any {
	if set, ok := object.(*workloadsv1alpha1.CloneSet); ok {
		set = set.DeepCopy()
		set.Spec.Replicas = &set.Status.Replicas
		return set
	}
	return object
}

// generous lets everything go.
type generous struct{}

func (generous) AllowUpdate(context.Context, *corev1.Pod) (bool, error) { return true, nil }

// unprotectedInCache are evictions of pods that the cache has as unprotected or as not ready.
func unprotectedInCache(w *Webhook, r *admissionv1.AdmissionRequest) bool {
	if r.SubResource != "eviction" || w.Pods == nil {
		return false
	}
	pod, err := w.Pods.Pods(r.Namespace).Get(r.Name)
	return err == nil && (relatedTo(pod) == "" || !budget.Ready(pod))
}

// unready are evictions of pods that are not ready now: nothing is said of them.
func unready(w *Webhook, r *admissionv1.AdmissionRequest) bool {
	if r.SubResource != "eviction" {
		return false
	}
	pod, err := w.readPod(context.Background(), r, &metav1.DeleteOptions{})
	return err == nil && pod != nil && !budget.Ready(pod)
}

// ignoreConflicts answers a patch of a budget that meets a conflict as if it had been made.
func ignoreConflicts(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		answer, err := next.RoundTrip(r)
		if err != nil || r.Method != http.MethodPatch || answer.StatusCode != http.StatusConflict {
			return answer, err
		}
		data, err := json.Marshal(&v1alpha1.PodUnavailableBudget{})
		answer.StatusCode, answer.Body = http.StatusOK, io.NopCloser(bytes.NewReader(data))
		return answer, err
	})
}

// uncounted is what is asked before the budget web has been counted for the first time.
func uncounted(w *Webhook, r *admissionv1.AdmissionRequest) bool {
	b, err := w.Guard.options.Budgets.Namespace(r.Namespace).Get(simulation.Web.Name)
	return err == nil && b.Status.ObservedGeneration == 0
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
