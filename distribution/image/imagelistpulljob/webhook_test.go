// SPDX-License-Identifier: Apache-2.0

package imagelistpulljob

import (
	"testing"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/testing/conformance"
)

// TestAdmission plays what the webhook says, in testdata/admission: see conformance.PlayAdmission. (ILP-1, ILP-2, ILP-4)
func TestAdmission(t *testing.T) {
	conformance.PlayAdmission(t, "testdata/admission", conformance.Admission{
		Kind: "ImageListPullJob", Resource: "imagelistpulljobs", Object: "{metadata: {namespace: shop, name: warm}, spec: {images: [a, b]}}",
		New: func(map[string][]string) conformance.Served { return &Webhook{} }})
}

func TestRolloutStatus(t *testing.T) {
	for _, test := range []struct {
		status v1alpha1.ImageListPullJobStatus
		want   rollout.Phase
	}{
		{v1alpha1.ImageListPullJobStatus{}, rollout.Unobserved},
		{v1alpha1.ImageListPullJobStatus{StartTime: at(0), Desired: 2, Completed: 1, Succeeded: 1}, rollout.InProgress},
		{v1alpha1.ImageListPullJobStatus{StartTime: at(0), CompletionTime: at(0), Desired: 2, Completed: 2, Succeeded: 2}, rollout.Complete},
		{v1alpha1.ImageListPullJobStatus{StartTime: at(0), CompletionTime: at(0), Desired: 2, Completed: 2, Succeeded: 1}, rollout.Failed},
	} {
		if got := RolloutStatus(&v1alpha1.ImageListPullJob{Status: test.status}); got.Phase != test.want {
			t.Errorf("%+v: %+v, want %s", test.status, got, test.want)
		}
	}
}
