// SPDX-License-Identifier: Apache-2.0

package crds

import (
	"fmt"
	"strings"
	"testing"
)

// imagePullJob is an ImagePullJob as YAML with these lines in its spec, besides
// image and completionPolicy if the lines do not give those themselves.
func imagePullJob(lines string) string {
	for _, field := range []string{"image: nginx", "completionPolicy: {}"} {
		if name, _, _ := strings.Cut(field, ":"); !strings.Contains(lines, name+":") {
			lines += "\n" + field
		}
	}
	return "apiVersion: apps.kruise.io/v1alpha1\nkind: ImagePullJob\nmetadata: {name: pull}\nspec:\n  " +
		strings.ReplaceAll(strings.TrimSpace(lines), "\n", "\n  ")
}

func TestImagePullJob(t *testing.T) {
	v := newValidator(t, "imagepulljobs.apps.kruise.io", "v1alpha1")
	const (
		names     = "spec.selector.names: must be absent if matchLabels or matchExpressions are given: select nodes by name or by label"
		nodeRules = "spec.selector.matchExpressions: every operator must be In or NotIn with values, or Exists or DoesNotExist without values"
		podRules  = "spec.podSelector.matchExpressions: every operator must be In or NotIn with values, or Exists or DoesNotExist without values"
		never     = ": must be absent with the type Never, which does not end: remove it or use Always"
	)
	for _, test := range []struct {
		name, spec, want string // no want: accepted
	}{
		{"the least", "", ""},
		{"everything", "pullSecrets: [a]\nparallelism: 10%\npullPolicy: {timeoutSeconds: 300, backoffLimit: 1}\ncompletionPolicy: {type: Always, activeDeadlineSeconds: 60, ttlSecondsAfterFinished: 0}\nsandboxConfig: {annotations: {a: b}}", ""},

		{"IMG-1.1: selector by name", "selector: {names: [node-1]}", ""},
		{"IMG-1.1: selector by label", "selector: {matchLabels: {a: b}, matchExpressions: [{key: a, operator: In, values: [b]}]}", ""},
		{"IMG-1.1: selector empty", "selector: {}", ""},
		{"IMG-1.1: names and nothing else", "selector: {names: [node-1], matchLabels: {}, matchExpressions: []}", ""},
		{"IMG-1.1: names and matchLabels", "selector: {names: [node-1], matchLabels: {a: b}}", names},
		{"IMG-1.1: names and matchExpressions", "selector: {names: [node-1], matchExpressions: [{key: a, operator: Exists}]}", names},
		{"IMG-1.1: selector with an unknown operator", "selector: {matchExpressions: [{key: a, operator: Is}]}", nodeRules},
		{"IMG-1.1: selector without values", "selector: {matchExpressions: [{key: a, operator: In}]}", nodeRules},

		{"IMG-1.1: podSelector", "podSelector: {matchLabels: {a: b}, matchExpressions: [{key: a, operator: DoesNotExist}]}", ""},
		{"IMG-1.1: podSelector with too many values", "podSelector: {matchExpressions: [{key: a, operator: Exists, values: [b]}]}", podRules},
		{"IMG-1.1: selector and podSelector", "selector: {}\npodSelector: {matchLabels: {a: b}}", "spec.podSelector: must be absent if selector is given: keep one of the two"},

		{"IMG-1.1: image empty", "image: ''", "spec.image: must name an image"},

		{"IMG-1.1: type Never", "completionPolicy: {type: Never}", ""},
		{"IMG-1.1: type empty is the default", "completionPolicy: {type: '', ttlSecondsAfterFinished: 1}", ""},
		{"IMG-1.1: type unknown", "completionPolicy: {type: Sometimes}", "spec.completionPolicy.type: must be Always or Never, is Sometimes"},
		{"IMG-1.1: type Never with a deadline", "completionPolicy: {type: Never, activeDeadlineSeconds: 1}", "spec.completionPolicy.activeDeadlineSeconds" + never},
		{"IMG-1.1: type Never with a TTL", "completionPolicy: {type: Never, ttlSecondsAfterFinished: 1}", "spec.completionPolicy.ttlSecondsAfterFinished" + never},
	} {
		t.Run(test.name, func(t *testing.T) {
			var want []string
			if test.want != "" {
				want = []string{test.want}
			}
			check(t, want, v.judge(t, imagePullJob(test.spec), ""))
		})
	}
}

func TestImagePullJobWithoutSpec(t *testing.T) {
	v := newValidator(t, "imagepulljobs.apps.kruise.io", "v1alpha1")
	check(t, []string{"spec: an ImagePullJob needs a spec with image and completionPolicy"},
		v.judge(t, "{apiVersion: apps.kruise.io/v1alpha1, kind: ImagePullJob, metadata: {name: pull}}", ""))
}

// IMG-1.1: the spec can be changed, the image included.
func TestImagePullJobIsMutable(t *testing.T) {
	v := newValidator(t, "imagepulljobs.apps.kruise.io", "v1alpha1")
	check(t, nil, v.judge(t, imagePullJob("image: nginx:2\nselector: {names: [node-1]}"), imagePullJob("image: nginx:1")))
}

// An object as large as the API server takes must not run into the limit on
// what the evaluation of rules may cost.
func TestImagePullJobOfGreatSizeIsAffordable(t *testing.T) {
	v := newValidator(t, "imagepulljobs.apps.kruise.io", "v1alpha1")
	var spec strings.Builder
	spec.WriteString("selector:\n  matchExpressions:\n")
	for i := range 10_000 {
		fmt.Fprintf(&spec, "  - {key: app, operator: NotIn, values: [v%d]}\n", i)
	}
	object := imagePullJob(spec.String())
	check(t, nil, v.judge(t, object, object))
}
