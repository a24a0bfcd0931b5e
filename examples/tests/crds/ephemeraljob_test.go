// SPDX-License-Identifier: Apache-2.0

package crds

import "testing"

// EJ-V1, EJ-V2: what the API server accepts, which has no webhook to ask: all that it accepted before.
func TestEphemeralJob(t *testing.T) {
	v := newValidator(t, "ephemeraljobs.apps.kruise.io", "v1alpha1")
	job := func(spec string) string {
		return "{apiVersion: apps.kruise.io/v1alpha1, kind: EphemeralJob, metadata: {name: debug}, spec: {" + spec + "}}"
	}
	const containers = "selector: {matchLabels: {app: web}}, template: {ephemeralContainers: [{name: debug, image: busybox, somethingNew: 1}]}"
	for _, test := range []struct{ title, spec, want string }{
		{"the least", containers, ""},
		{"everything", containers + ", replicas: 3, parallelism: 2, paused: true, activeDeadlineSeconds: 60, ttlSecondsAfterFinished: 0", ""},
		{"less than nothing", containers + ", replicas: -1, parallelism: -1, activeDeadlineSeconds: -1, ttlSecondsAfterFinished: -1", ""},
		{"the empty selector, and no containers", "selector: {}, template: {ephemeralContainers: []}", ""},
		{"an operator that there is not", "selector: {matchExpressions: [{key: a, operator: Like}]}, template: {ephemeralContainers: []}", ""},
		{"no list of containers", "selector: {}, template: {ephemeralContainers: some}", ""},
		{"no selector", "template: {ephemeralContainers: []}", "spec.selector: "},
		{"no template", "selector: {}", "spec.template: "},
		{"no containers", "selector: {}, template: {}", "spec.template.ephemeralContainers: "},
	} {
		t.Run(test.title, func(t *testing.T) {
			var want []string
			if test.want != "" {
				want = []string{test.want}
			}
			check(t, want, v.judge(t, job(test.spec), ""))
		})
	}
	check(t, nil, v.judge(t, "{apiVersion: apps.kruise.io/v1alpha1, kind: EphemeralJob, metadata: {name: debug}}", ""))
	check(t, nil, v.judge(t, job("selector: {}, template: {ephemeralContainers: []}, replicas: 5"), job(containers)))
}
