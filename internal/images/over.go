// SPDX-License-Identifier: Apache-2.0

package images

import (
	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/admission"
)

// ConfirmChange answers a change of a job that nothing is wrong with: of one spec to another, of a job that ended then, nil for not yet. It
// warns of more than how long the job stays, if it has ended: nothing comes of that. Policy finds the policy of a spec. (IMG-1.8, ILP-4)
func ConfirmChange[Spec any](ended *metav1.Time, before, after Spec, policy func(*Spec) *v1alpha1.CompletionPolicy) *admissionv1.AdmissionResponse {
	response := admission.Allowed()
	policy(&before).TTLSecondsAfterFinished, policy(&after).TTLSecondsAfterFinished = nil, nil // of copies
	if ended != nil && !equality.Semantic.DeepEqual(before, after) {
		response.Warnings = []string{"spec: the job has ended, so that only a change of completionPolicy.ttlSecondsAfterFinished has an effect; create another job"}
	}
	return response
}
