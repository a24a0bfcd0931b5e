// SPDX-License-Identifier: Apache-2.0

package cloneset_test

import (
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"

	"github.com/podwright/podwright/workloads/cloneset"
)

// With PercentSigns a string that is no percentage is refused, if it is new. (CS-V11)
func TestWebhookRefusesNumberStrings(t *testing.T) {
	strategy := func(fields string) string { return specWith(`"updateStrategy":{` + fields + `}`) }
	later := cloneset.Webhook{PercentSigns: true}
	for _, tt := range []struct {
		name     string
		webhook  cloneset.Webhook
		from, to string // no from: a creation
		want     string // empty: allowed
	}{
		{"CS-E17: without the option", cloneset.Webhook{}, "", `"maxUnavailable":"30"`, ""},
		{"maxUnavailable", later, "", `"maxUnavailable":"30"`, `spec.updateStrategy.maxUnavailable: Invalid value: "30": a string must be a percentage: want the number 30, or "30%"`},
		{"maxSurge", later, "", `"maxSurge":"1"`, `spec.updateStrategy.maxSurge: Invalid value: "1": a string must be a percentage: want the number 1, or "1%"`},
		{"a percentage", later, "", `"maxUnavailable":"30%","maxSurge":"10%"`, ""},
		{"a number", later, "", `"maxUnavailable":3,"maxSurge":1`, ""},
		{"a fraction, which would be read as 0", later, "", `"maxUnavailable":"12.5%"`, "spec.updateStrategy.maxUnavailable: Invalid value: \"12.5%\": must be a number"},
		{"it comes with an update", later, `"maxUnavailable":"30%"`, `"maxUnavailable":"30"`, "spec.updateStrategy.maxUnavailable"},
		{"it is stored, and something else changes", later, `"maxUnavailable":"30"`, `"maxUnavailable":"30","paused":true`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := request(admissionv1.Create, strategy(tt.to), "")
			if tt.from != "" {
				r = request(admissionv1.Update, strategy(tt.to), strategy(tt.from))
			}
			got := tt.webhook.Validate(t.Context(), r)
			switch {
			case got.Allowed != (tt.want == ""):
				t.Errorf("allowed %t: %v", got.Allowed, got.Result)
			case !got.Allowed && (got.Result.Code != 422 || !strings.Contains(got.Result.Message, tt.want)):
				t.Errorf("code %d, message %s, want %s", got.Result.Code, got.Result.Message, tt.want)
			}
		})
	}
}
