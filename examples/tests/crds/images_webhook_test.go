// SPDX-License-Identifier: Apache-2.0

package crds

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/distribution/image/imagepulljob"
	"github.com/podwright/podwright/distribution/image/nodeimage"
	"github.com/podwright/podwright/distribution/v1alpha1"
)

// read decodes an object as a webhook does.
func read[T any](t *testing.T, text string) *T {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	object := new(T)
	if err := json.Unmarshal(data, object); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return object
}

// pullJob is an ImagePullJob with the lines in its spec.
func pullJob(lines string) string {
	return "apiVersion: apps.kruise.io/v1alpha1\nkind: ImagePullJob\nmetadata: {name: pull, namespace: default}\nspec:\n  " +
		strings.ReplaceAll(lines, "\n", "\n  ")
}

// The rules of the definition and the webhook refuse the same. So a user without the webhook is as
// safe as one with it.
func TestImagePullJobRulesAndWebhookAgree(t *testing.T) {
	v := newValidator(t, "imagepulljobs.apps.kruise.io", "v1alpha1")
	const image, policy = "image: nginx", "completionPolicy: {}"
	specs := []string{
		image + "\n" + policy, "image: ''\n" + policy, "image: registry:5000/a/b:c\n" + policy,
		image + "\ncompletionPolicy: {type: ''}", image + "\ncompletionPolicy: {type: Always, activeDeadlineSeconds: 1, ttlSecondsAfterFinished: 1}",
		image + "\ncompletionPolicy: {type: Never}", image + "\ncompletionPolicy: {type: Sometimes}",
		image + "\ncompletionPolicy: {type: Never, activeDeadlineSeconds: 1}", image + "\ncompletionPolicy: {type: Never, ttlSecondsAfterFinished: 1}",
	}
	for _, lines := range []string{
		"parallelism: 0", "parallelism: 10%", "pullPolicy: {timeoutSeconds: 1, backoffLimit: -1}", "pullSecrets: [a]",
		"selector: {}", "selector: {names: []}", "selector: {names: [a, b]}", "selector: {matchLabels: {a: b}}",
		"selector: {names: [a], matchLabels: {a: b}}", "selector: {names: [a], matchLabels: {}}", "selector: {names: [a], matchExpressions: []}",
		"selector: {names: [a], matchExpressions: [{key: a, operator: Exists}]}",
		"selector: {matchExpressions: [{key: a, operator: Like}]}", "selector: {matchExpressions: [{key: a, operator: In}]}",
		"selector: {matchExpressions: [{key: a, operator: Exists, values: [b]}]}", "selector: {matchExpressions: [{key: a, operator: NotIn, values: [b]}]}",
		"podSelector: {}", "podSelector: {matchLabels: {a: b}}", "podSelector: {matchExpressions: [{key: a, operator: Like}]}",
		"podSelector: {}\nselector: {}", "podSelector: {matchExpressions: [{key: a, operator: In, values: []}]}",
		"sandboxConfig: {labels: {a: b}}",
	} {
		specs = append(specs, image+"\n"+policy+"\n"+lines)
	}
	for _, to := range specs {
		object := pullJob(to)
		rules, errs := v.judge(t, object, ""), imagepulljob.ValidateCreate(read[v1alpha1.ImagePullJob](t, object))
		agree(t, object, rules, errs)
		from := pullJob("image: nginx:0\ncompletionPolicy: {}")
		errs = imagepulljob.ValidateUpdate(read[v1alpha1.ImagePullJob](t, object), read[v1alpha1.ImagePullJob](t, from))
		agree(t, object, v.judge(t, object, from), errs)
	}
}

func agree(t *testing.T, object string, rules []string, errs field.ErrorList) {
	t.Helper()
	if (len(rules) == 0) != (len(errs) == 0) {
		t.Errorf("%s\nrules: %q\nwebhook: %v", object, rules, errs)
	}
}

// What the rules cannot say, or must not cost, is the webhook's alone.
func TestImagePullJobRulesThatOnlyTheWebhookHas(t *testing.T) {
	v := newValidator(t, "imagepulljobs.apps.kruise.io", "v1alpha1")
	for name, test := range map[string]struct{ spec, want string }{
		"a malformed image":   {"image: Nginx\ncompletionPolicy: {}", "spec.image"},
		"a name twice":        {"image: nginx\ncompletionPolicy: {}\nselector: {names: [a, b, a]}", "spec.selector.names[2]"},
		"a malformed label":   {"image: nginx\ncompletionPolicy: {}\nselector: {matchLabels: {'a b': c}}", "spec.selector.matchLabels"},
		"a malformed key":     {"image: nginx\ncompletionPolicy: {}\npodSelector: {matchExpressions: [{key: 'a b', operator: Exists}]}", "spec.podSelector.matchExpressions[0].key"},
		"a malformed value":   {"image: nginx\ncompletionPolicy: {}\npodSelector: {matchLabels: {a: 'b c'}}", "spec.podSelector.matchLabels"},
		"no key to select by": {"image: nginx\ncompletionPolicy: {}\nselector: {matchExpressions: [{key: '', operator: Exists}]}", "spec.selector.matchExpressions[0].key"},
	} {
		t.Run(name, func(t *testing.T) {
			object := pullJob(test.spec)
			check(t, nil, v.judge(t, object, ""))
			var got []string
			for _, err := range imagepulljob.ValidateCreate(read[v1alpha1.ImagePullJob](t, object)) {
				got = append(got, err.Field)
			}
			if len(got) == 0 || got[0] != test.want {
				t.Errorf("the webhook refuses %v, want %s", got, test.want)
			}
		})
	}
}

// nodeImageOf is a NodeImage with the images in JSON.
func nodeImageOf(images string) string {
	return `{"apiVersion":"apps.kruise.io/v1alpha1","kind":"NodeImage","metadata":{"name":"n"},"spec":{"images":` + images + `}}`
}

func goodImages(n int) string {
	images := make([]string, n)
	for i := range images {
		images[i] = fmt.Sprintf(`"image%d":{"tags":[%s]}`, i, goodTask)
	}
	return "{" + strings.Join(images, ",") + "}"
}

const goodTask = `{"tag":"1","createdAt":"2024-01-01T00:00:00Z","pullPolicy":{"ttlSecondsAfterFinished":1}}`

func TestNodeImageRulesAndWebhookAgree(t *testing.T) {
	v := newValidator(t, "nodeimages.apps.kruise.io", "v1alpha1")
	for _, images := range []string{
		`{}`, `{"a":{"tags":[]}}`, `{"a":{"tags":[` + goodTask + `]}}`, `{"":{"tags":[` + goodTask + `]}}`,
		`{"a":{"tags":[` + strings.Replace(goodTask, `"tag"`, `"version":0,"tag"`, 1) + `]}}`,
		goodImages(256), goodImages(257),
	} {
		object := nodeImageOf(images)
		agree(t, object, v.judge(t, object, ""), nodeimage.ValidateCreate(read[v1alpha1.NodeImage](t, object)))
	}
}

func TestNodeImageRulesThatOnlyTheWebhookHas(t *testing.T) {
	v := newValidator(t, "nodeimages.apps.kruise.io", "v1alpha1")
	for name, test := range map[string]struct{ tags, want string }{
		"an empty tag":          {strings.Replace(goodTask, `"1"`, `""`, 1), "spec.images[a].tags[0].tag"},
		"a version below 0":     {strings.Replace(goodTask, `"tag"`, `"version":-1,"tag"`, 1), "spec.images[a].tags[0].version"},
		"a tag twice":           {goodTask + "," + goodTask, "spec.images[a].tags[1].tag"},
		"no createdAt":          {`{"tag":"1","pullPolicy":{"ttlSecondsAfterFinished":1}}`, "spec.images[a].tags[0].createdAt"},
		"no policy":             {`{"tag":"1","createdAt":"2024-01-01T00:00:00Z"}`, "spec.images[a].tags[0].pullPolicy"},
		"no TTL":                {`{"tag":"1","createdAt":"2024-01-01T00:00:00Z","pullPolicy":{}}`, "spec.images[a].tags[0].pullPolicy.ttlSecondsAfterFinished"},
		"one without after one": {goodTask + `,{"tag":"2","createdAt":"2024-01-01T00:00:00Z","pullPolicy":{}}`, "spec.images[a].tags[1].pullPolicy.ttlSecondsAfterFinished"},
	} {
		t.Run(name, func(t *testing.T) {
			object := nodeImageOf(`{"a":{"tags":[` + test.tags + `]}}`)
			check(t, nil, v.judge(t, object, ""))
			var got []string
			for _, err := range nodeimage.ValidateCreate(read[v1alpha1.NodeImage](t, object)) {
				got = append(got, err.Field)
			}
			check(t, []string{test.want}, got)
		})
	}
}
