// SPDX-License-Identifier: Apache-2.0

package app

import (
	"slices"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PF-5.5: with the gate, kube-system is left out of what is asked about objects of Kubernetes, and of nothing else.
func TestWebhooksExemptKubeSystem(t *testing.T) {
	for flag, want := range map[string]bool{"--release=1.4": false, "--release=1.9": true, "--feature-gates=WebhooksExemptKubeSystem=true": true} {
		m := newManager(t, nowhere, flag)
		serve(t, m)
		mutating, validating := m.served.Webhooks()
		asked := 0
		judge := func(name string, rules []admissionv1.RuleWithOperations, selector *metav1.LabelSelector) {
			asked++
			exempt := selector != nil && slices.ContainsFunc(selector.MatchExpressions, func(r metav1.LabelSelectorRequirement) bool {
				return r.Key == corev1.LabelMetadataName && r.Operator == metav1.LabelSelectorOpNotIn && slices.Equal(r.Values, []string{"kube-system"})
			})
			own := strings.HasSuffix(rules[0].APIGroups[0], ".kruise.io")
			if exempt != (want && !own) {
				t.Errorf("PF-5.5: %s: %s leaves kube-system out: %t", flag, name, exempt)
			}
		}
		for _, w := range mutating {
			judge(w.Name, w.Rules, w.NamespaceSelector)
		}
		for _, w := range validating {
			judge(w.Name, w.Rules, w.NamespaceSelector)
		}
		if asked < 20 {
			t.Errorf("%s: %d webhooks", flag, asked)
		}
	}
}
