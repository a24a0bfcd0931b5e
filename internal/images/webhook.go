// SPDX-License-Identifier: Apache-2.0

package images

import (
	"context"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/admission"
)

// ChecksAgents is a Webhook.Check that asks next, and refuses new objects and changed specs if no agents run. The objects
// are named for users.
func ChecksAgents[T, Spec any](noAgents bool, objects string, spec func(*T) *Spec, next func(context.Context, admission.Change[T]) (field.ErrorList, error)) func(context.Context, admission.Change[T]) (field.ErrorList, error) {
	return func(ctx context.Context, c admission.Change[T]) (field.ErrorList, error) {
		if noAgents && (c.Old == nil || !equality.Semantic.DeepEqual(spec(c.Object), spec(c.Old))) {
			return nil, admission.Forbidden(c.Request, objects+" are turned off (feature gate KruiseDaemon): no agent on the nodes would pull")
		}
		return next(ctx, c)
	}
}

// ConfirmsJobs is a Webhook.Confirm of a kind of jobs. It warns of a change of a job that has ended, of more than how long the
// job stays: nothing comes of that. Ended is when a job ended, nil for not yet, and policy finds the policy of a spec. (IMG-1.8, ILP-4)
func ConfirmsJobs[T, Spec any](ended func(*T) *metav1.Time, spec func(*T) *Spec, policy func(*Spec) *v1alpha1.CompletionPolicy) func(context.Context, admission.Change[T]) *admissionv1.AdmissionResponse {
	return func(_ context.Context, c admission.Change[T]) *admissionv1.AdmissionResponse {
		response := admission.Allowed()
		if c.Old == nil || ended(c.Old) == nil {
			return response
		}
		before, after := *spec(c.Old), *spec(c.Object)
		policy(&before).TTLSecondsAfterFinished, policy(&after).TTLSecondsAfterFinished = nil, nil // of copies
		if !equality.Semantic.DeepEqual(before, after) {
			response.Warnings = []string{"spec: the job has ended, so that only a change of completionPolicy.ttlSecondsAfterFinished has an effect; create another job"}
		}
		return response
	}
}
