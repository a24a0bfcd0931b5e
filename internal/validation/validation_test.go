// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podwright/podwright/inplace"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/podtemplate"
	"github.com/podwright/podwright/internal/validation"
)

var spec = field.NewPath("spec")

func parse[T any](t *testing.T, text string) *T {
	t.Helper()
	out := new(T)
	if err := json.Unmarshal([]byte(text), out); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return out
}

// check compares the errors with what is wanted, to the letter.
func check(t *testing.T, want []string, errs field.ErrorList) {
	t.Helper()
	var got []string
	for _, err := range errs {
		got = append(got, err.Error())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
}

func TestSelector(t *testing.T) {
	for _, tt := range []struct {
		name, selector string
		want           []string
	}{
		{"that matches", `{"matchLabels":{"app":"demo"}}`, nil},
		{"none", `null`, []string{"spec.selector: Required value: it says by which labels the pods are found, and must match those of the template"}},
		{"empty", `{"matchLabels":{}}`, []string{`spec.selector: Invalid value: "{}": must not be empty: it would select every pod of the namespace`}},
		{"malformed", `{"matchExpressions":[{"key":"app","operator":"In"}]}`, []string{"spec.selector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'"}},
		{"that does not match", `{"matchLabels":{"app":"shop"}}`, []string{`spec.template.metadata.labels: Invalid value: "app=demo": must match spec.selector, which is "app=shop"`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			selector := *parse[*metav1.LabelSelector](t, tt.selector)
			check(t, tt.want, validation.Selector(selector, map[string]string{"app": "demo"}, spec))
		})
	}
}

func TestSelectorUnchanged(t *testing.T) {
	old := &metav1.LabelSelector{MatchLabels: map[string]string{"app": "demo"}}
	for _, tt := range []struct {
		name, selector string
		want           []string
	}{
		{"means the same", `{"matchLabels":{"app":"demo"},"matchExpressions":[]}`, nil},
		{"changed", `{"matchLabels":{"app":"shop"}}`, []string{`spec.selector: Invalid value: "app=shop": the selector is immutable and has to stay "app=demo": create a new CloneSet for other labels`}},
		{"removed", `null`, []string{`spec.selector: Invalid value: "<none>": the selector is immutable and has to stay "app=demo": create a new CloneSet for other labels`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			check(t, tt.want, validation.SelectorUnchanged(*parse[*metav1.LabelSelector](t, tt.selector), old, "CloneSet", spec))
		})
	}
}

func TestTemplates(t *testing.T) {
	const main = `"containers":[{"name":"main","image":"a"}]`
	for _, tt := range []struct {
		name, template, claims string
		want                   []string
	}{
		{"the least there can be", `{"spec":{` + main + `}}`, `[]`, nil},
		{"restartPolicy", `{"spec":{"restartPolicy":"Never",` + main + `}}`, `[]`, []string{`spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"`}},
		{"activeDeadlineSeconds", `{"spec":{"activeDeadlineSeconds":1,` + main + `}}`, `[]`, []string{"spec.template.spec.activeDeadlineSeconds: Forbidden: pods of a CloneSet run until they are deleted"}},
		{"no containers", `{}`, `[]`, []string{"spec.template.spec.containers: Required value: a pod has one container or more"}},
		{"no image", `{"spec":{"containers":[{"name":"main"}]}}`, `[]`, []string{"spec.template.spec.containers[0].image: Required value: it is what the container runs"}},
		{"a container twice", `{"spec":{"initContainers":[{"name":"main","image":"a"}],` + main + `}}`, `[]`, []string{`spec.template.spec.containers[0].name: Duplicate value: "main"`}},
		{"a volume that is not there", `{"spec":{"containers":[{"name":"main","image":"a","volumeMounts":[{"name":"data"}],"volumeDevices":[{"name":"disk"}]}]}}`, `[]`,
			[]string{`spec.template.spec.containers[0].volumeMounts[0].name: Not found: "data"`, `spec.template.spec.containers[0].volumeDevices[0].name: Not found: "disk"`}},
		{"a claim template is a volume", `{"spec":{"volumes":[{"name":"data"}],"containers":[{"name":"main","image":"a","volumeMounts":[{"name":"data"}]}]}}`, `[{"metadata":{"name":"data"}}]`, nil},
		{"claim templates without a name of their own", `{"spec":{` + main + `}}`, `[{},{"metadata":{"name":"data"}},{"metadata":{"name":"data"}}]`,
			[]string{"spec.volumeClaimTemplates[0].metadata.name: Required value", `spec.volumeClaimTemplates[2].metadata.name: Duplicate value: "data"`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			templates := podtemplate.Templates{Pod: parse[corev1.PodTemplateSpec](t, tt.template), Claims: *parse[[]corev1.PersistentVolumeClaim](t, tt.claims)}
			check(t, tt.want, validation.Templates(templates, "CloneSet", spec))
		})
	}
}

func TestInPlaceOnly(t *testing.T) {
	const old = `{"spec":{"nodeSelector":{"example.com/zone":"a"},"containers":[{"name":"main","image":"a:1"}]}}`
	const rest = "updateStrategy.type is InPlaceOnly; with InPlaceIfPossible the pods would be recreated"
	for _, tt := range []struct {
		name, template string
		want           []string
	}{
		{"image", `{"spec":{"nodeSelector":{"example.com/zone":"a"},"containers":[{"name":"main","image":"a:2"}]}}`, nil},
		{"CS-V2, STS-V2: environment", `{"spec":{"nodeSelector":{"example.com/zone":"a"},"containers":[{"name":"main","image":"a:1","env":[{"name":"A"}]}]}}`,
			[]string{"spec.template.spec.containers[0].env: Forbidden: of a running container only the image can be replaced: " + rest}},
		{"a key with a slash", `{"spec":{"nodeSelector":{"example.com/zone":"b"},"containers":[{"name":"main","image":"a:1"}]}}`,
			[]string{"spec.template.spec.nodeSelector[example.com/zone]: Forbidden: of a running pod only container images, labels, annotations and finalizers can be changed: " + rest}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			check(t, tt.want, validation.InPlaceOnly(parse[corev1.PodTemplateSpec](t, tt.template), parse[corev1.PodTemplateSpec](t, old), "updateStrategy.type", spec.Child("template"), inplace.CalculateOptions{}))
		})
	}
}

func TestPriority(t *testing.T) {
	for _, tt := range []struct {
		name, strategy string
		want           []string
	}{
		{"none", `null`, nil},
		{"weights", `{"weightPriority":[{"weight":0,"matchSelector":{"matchLabels":{"a":"b"}}},{"weight":100,"matchSelector":{"matchLabels":{"a":"b"}}}]}`, nil},
		{"a weight out of range", `{"weightPriority":[{"weight":101,"matchSelector":{"matchLabels":{"a":"b"}}}]}`, []string{"p.weightPriority[0].weight: Invalid value: 101: must be between 0 and 100"}},
		{"an empty selector", `{"weightPriority":[{"weight":1,"matchSelector":{}}]}`, []string{"p.weightPriority[0].matchSelector: Required value: it says which pods get the weight, an empty one would be all of them"}},
		{"a malformed selector", `{"weightPriority":[{"weight":1,"matchSelector":{"matchExpressions":[{"key":"a","operator":"Like"}]}}]}`,
			[]string{`p.weightPriority[0].matchSelector.matchExpressions[0].operator: Invalid value: "Like": not a valid selector operator`}},
		{"no key", `{"orderPriority":[{"orderedKey":"a"},{"orderedKey":""}]}`, []string{"p.orderPriority[1].orderedKey: Required value: it is the label key that pods are ordered by"}},
		{"both", `{"orderPriority":[{"orderedKey":"a"}],"weightPriority":[{"weight":1,"matchSelector":{"matchLabels":{"a":"b"}}}]}`,
			[]string{"p: Forbidden: weightPriority and orderPriority are both set, at most one of them can be"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			check(t, tt.want, validation.Priority(*parse[*inplacev1alpha1.UpdatePriorityStrategy](t, tt.strategy), field.NewPath("p")))
		})
	}
}

func TestEnum(t *testing.T) {
	policies := []corev1.PullPolicy{corev1.PullAlways, corev1.PullNever}
	for word, want := range map[corev1.PullPolicy][]string{
		"": nil, "Always": nil, "Never": nil,
		"always": {`p: Unsupported value: "always": supported values: "Always", "Never"`},
	} {
		check(t, want, validation.Enum(word, field.NewPath("p"), policies...))
	}
}
