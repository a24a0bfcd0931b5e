// SPDX-License-Identifier: Apache-2.0

package nodeimage

import (
	"fmt"
	"testing"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/testing/conformance"
)

// TestAdmission plays what the webhook says at noon, in testdata/admission: see conformance.PlayAdmission. (IMG-2.2)
func TestAdmission(t *testing.T) {
	conformance.PlayAdmission(t, "testdata/admission", conformance.Admission{
		Kind: "NodeImage", Resource: "nodeimages", Object: "{metadata: {name: n1}, spec: {}}",
		New: func(map[string][]string) conformance.Served {
			return &Webhook{clock: clocktesting.NewFakePassiveClock(noon)}
		}})
}

// IMG-2.2: a NodeImage has at most 256 images.
func TestValidateCountsImages(t *testing.T) {
	n := nodeImage()
	n.Spec.Images = map[string]v1alpha1.ImageSpec{}
	for i := range 257 {
		if errs := ValidateCreate(n); len(errs) > 0 {
			t.Fatalf("with %d images: %v", i, errs)
		}
		n.Spec.Images[fmt.Sprint("image", i)] = v1alpha1.ImageSpec{}
	}
	if errs := ValidateCreate(n); len(errs) != 1 || errs[0].Field != "spec.images" {
		t.Errorf("with 257 images: %v", errs)
	}
	if errs := ValidateUpdate(n.DeepCopy(), n); len(errs) > 0 {
		t.Errorf("a spec that stays the same is refused: %v", errs)
	}
}
