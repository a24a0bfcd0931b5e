// SPDX-License-Identifier: Apache-2.0

package daemonset_test

import (
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"

	"github.com/podwright/podwright/workloads/daemonset"
)

// The selector may change, but not with FixedSelector. (DS-V2, DS-V9)
func TestWebhookFixedSelector(t *testing.T) {
	old := specWith("")
	changed := strings.ReplaceAll(old, `"app":"demo"`, `"app":"other"`)
	if changed == old {
		t.Fatal("the selector is not changed")
	}
	for _, tt := range []struct {
		name    string
		webhook daemonset.Webhook
		object  string
		allowed bool
	}{
		{"DS-V2: it may change", daemonset.Webhook{}, changed, true},
		{"DS-V9: it may not", daemonset.Webhook{FixedSelector: true}, changed, false},
		{"DS-V9: other fields may", daemonset.Webhook{FixedSelector: true}, specWith(`"minReadySeconds":3`), true},
	} {
		got := tt.webhook.Validate(t.Context(), request(admissionv1.Update, tt.object, old))
		if got.Allowed != tt.allowed {
			t.Errorf("%s: allowed %t: %v", tt.name, got.Allowed, got.Result)
		}
		if !tt.allowed && (got.Result.Code != 422 || !strings.Contains(got.Result.Message, "spec.selector")) {
			t.Errorf("%s: %v", tt.name, got.Result)
		}
		if create := tt.webhook.Validate(t.Context(), request(admissionv1.Create, tt.object, "")); !create.Allowed {
			t.Errorf("%s: its creation is refused: %v", tt.name, create.Result)
		}
	}
}
