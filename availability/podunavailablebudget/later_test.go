// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/podwright/podwright"
)

func TestFeaturesOf(t *testing.T) {
	if diff := cmp.Diff(Features{}, FeaturesOf(podwright.Release14)); diff != "" {
		t.Errorf("release 1.4 (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(Features{AnnotatedTotal: true, InconsistentMayGo: true}, FeaturesOf(podwright.Release19)); diff != "" {
		t.Errorf("release 1.9 (-want +got):\n%s", diff)
	}
}

// A program that serves no webhook has none described, and one that does all of it. (PUB-36)
func TestDescribe(t *testing.T) {
	if a := Describe(Options{}, nil).Admission; a != nil {
		t.Errorf("without a webhook: %+v", a)
	}
	a := Describe(Options{}, &CachedWebhook{Webhook: Webhook{Updates: true}}).Admission
	if a == nil || len(a.Handlers) != 2 || len(a.Permissions) != 1 || a.Conditions[ValidatePodPath] == nil ||
		a.OnMatchChange == nil || a.Run == nil || a.Missing == nil {
		t.Errorf("with a webhook: %+v", a)
	}
}
