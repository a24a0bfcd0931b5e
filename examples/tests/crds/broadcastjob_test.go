// SPDX-License-Identifier: Apache-2.0

package crds

import (
	"strings"
	"testing"
)

// broadcastJob is a BroadcastJob of a name as YAML, with these fields in its spec.
func broadcastJob(name, fields string) string {
	if fields != "" {
		fields += ", "
	}
	return "{apiVersion: apps.kruise.io/v1alpha1, kind: BroadcastJob, metadata: {name: " + name + "}, spec: {" + fields +
		"template: {spec: {restartPolicy: Never, containers: [{name: main, image: nginx}]}}}}"
}

// BJ-V2: what the API server refuses without a webhook.
func TestBroadcastJob(t *testing.T) {
	v := newValidator(t, "broadcastjobs.apps.kruise.io", "v1alpha1")
	const (
		name  = "<nil>: metadata.name must be at most 63 letters, digits and dashes: it is the value of a label and the beginning of the names of the pods"
		never = ": must be absent with the type Never, which does not end: remove it or use Always"
	)
	for _, test := range []struct{ title, name, fields, want string }{
		{"the least", "job", "", ""},
		{"everything", "job", "parallelism: 10%, paused: true, completionPolicy: {type: Always, activeDeadlineSeconds: 60, ttlSecondsAfterFinished: 0}, failurePolicy: {type: Continue, restartLimit: 3}", ""},
		{"other types", "job", "parallelism: some, completionPolicy: {type: Sometimes}, failurePolicy: {type: Hope}", ""},
		{"type Never", "job", "completionPolicy: {type: Never}", ""},
		{"type Never with a deadline", "job", "completionPolicy: {type: Never, activeDeadlineSeconds: 1}", "spec.completionPolicy.activeDeadlineSeconds" + never},
		{"type Never with a TTL", "job", "completionPolicy: {type: Never, ttlSecondsAfterFinished: 1}", "spec.completionPolicy.ttlSecondsAfterFinished" + never},
		{"a long name", strings.Repeat("a", 63), "", ""},
		{"too long a name", strings.Repeat("a", 64), "", name},
		{"a name with a dot", "a.b", "", name},
	} {
		t.Run(test.title, func(t *testing.T) {
			var want []string
			if test.want != "" {
				want = []string{test.want}
			}
			check(t, want, v.judge(t, broadcastJob(test.name, test.fields), ""))
		})
	}
	check(t, []string{"spec: a BroadcastJob needs a spec with a template"},
		v.judge(t, "{apiVersion: apps.kruise.io/v1alpha1, kind: BroadcastJob, metadata: {name: job}}", ""))
	check(t, nil, v.judge(t, broadcastJob("job", "paused: true"), broadcastJob("job", "completionPolicy: {type: Never}")))
}
