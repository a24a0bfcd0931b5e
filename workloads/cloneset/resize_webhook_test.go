// SPDX-License-Identifier: Apache-2.0

package cloneset_test

import (
	"slices"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/podwright/podwright/workloads/cloneset"
)

// IP-35: if pods are resized, InPlaceOnly lets cpu and memory change as well.
func TestWebhookAllowsResizes(t *testing.T) {
	sized := func(cpu string) string {
		set := specWith(`"updateStrategy":{"type":"InPlaceOnly"}`)
		return strings.Replace(set, `"containers":[{`, `"containers":[{"resources":{"requests":{`+cpu+`}},`, 1)
	}
	for _, test := range []struct {
		name     string
		webhook  cloneset.Webhook
		from, to string
		allowed  bool
	}{
		{"not by default", cloneset.Webhook{}, `"cpu":"1"`, `"cpu":"2"`, false},
		{"with the option", cloneset.Webhook{InPlaceResize: true}, `"cpu":"1"`, `"cpu":"2"`, true},
		{"not what is refused anyway", cloneset.Webhook{InPlaceResize: true}, `"cpu":"1","memory":"1Gi"`, `"cpu":"1"`, false},
		{"nothing changes", cloneset.Webhook{}, `"cpu":"1"`, `"cpu":"1"`, true},
	} {
		got := test.webhook.Validate(t.Context(), request(admissionv1.Update, sized(test.to), sized(test.from)))
		if got.Allowed != test.allowed {
			t.Errorf("%s: allowed %t, want %t: %v", test.name, got.Allowed, test.allowed, got.Result)
		}
	}
}

// IP-36: the right to resize pods is asked for if they are resized, and only then.
func TestRulesOfResizes(t *testing.T) {
	for _, on := range []bool{false, true} {
		rules := cloneset.Rules(cloneset.Options{Features: cloneset.Features{InPlaceResize: on}})
		if got := slices.ContainsFunc(rules, func(r rbacv1.PolicyRule) bool { return slices.Contains(r.Resources, "pods/resize") }); got != on {
			t.Errorf("InPlaceResize %t: rules %v", on, rules)
		}
	}
}
