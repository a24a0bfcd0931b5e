// SPDX-License-Identifier: Apache-2.0

package cloneset_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podwright/podwright/workloads/cloneset"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

const (
	goodSelector = `{"matchLabels":{"app":"demo"}}`
	goodTemplate = `{"metadata":{"labels":{"app":"demo"}},"spec":{"containers":[{"name":"main","image":"nginx:1.21"}]}}`
)

// demoSet is a valid CloneSet with some fields of its spec replaced: a list of
// key, JSON value, key, JSON value.
func demoSet(t testing.TB, fields ...string) *v1alpha1.CloneSet {
	t.Helper()
	keys := map[string]string{"selector": goodSelector, "template": goodTemplate}
	for i := 0; i < len(fields); i += 2 {
		keys[fields[i]] = fields[i+1]
	}
	var members []string
	for key, value := range keys {
		members = append(members, `"`+key+`":`+value)
	}
	return parseSet(t, `{"metadata":{"namespace":"shop","name":"demo","uid":"u1"},"spec":{`+strings.Join(members, ",")+`}}`)
}

// problems shows errors as "type path", the part that callers rely on.
func problems(errs field.ErrorList) []string {
	var out []string
	for _, err := range errs {
		out = append(out, fmt.Sprintf("%s %s", strings.TrimPrefix(string(err.Type), "FieldValue"), err.Field))
	}
	return out
}

func TestValidateCreate(t *testing.T) {
	for _, tt := range []struct {
		name, key, value string
		want             []string
	}{
		{"the least there can be", "replicas", `null`, nil},
		{"replicas: 0", "replicas", `0`, nil},
		{"replicas: negative", "replicas", `-1`, []string{"Invalid spec.replicas"}},

		{"selector: required", "selector", `null`, []string{"Required spec.selector"}},
		{"selector: empty", "selector", `{}`, []string{"Invalid spec.selector"}},
		{"selector: empty lists", "selector", `{"matchLabels":{},"matchExpressions":[]}`, []string{"Invalid spec.selector"}},
		{"selector: expressions that match", "selector", `{"matchExpressions":[{"key":"app","operator":"In","values":["demo","other"]}]}`, nil},
		{"selector: unknown operator", "selector", `{"matchExpressions":[{"key":"app","operator":"Like"}]}`, []string{"Invalid spec.selector.matchExpressions[0].operator"}},
		{"selector: In without values", "selector", `{"matchExpressions":[{"key":"app","operator":"In"}]}`, []string{"Required spec.selector.matchExpressions[0].values"}},
		{"selector: invalid value", "selector", `{"matchLabels":{"app":"not valid"}}`, []string{"Invalid spec.selector.matchLabels"}},
		{"selector: does not match the template", "selector", `{"matchLabels":{"app":"other"}}`, []string{"Invalid spec.template.metadata.labels"}},

		{"podsToDelete: several", "scaleStrategy", `{"podsToDelete":["a","b"]}`, nil},
		{"podsToDelete: duplicate", "scaleStrategy", `{"podsToDelete":["a","b","a","a"]}`,
			[]string{"Duplicate spec.scaleStrategy.podsToDelete[2]", "Duplicate spec.scaleStrategy.podsToDelete[3]"}},
		{"scaleStrategy.maxUnavailable: not validated", "scaleStrategy", `{"maxUnavailable":"many"}`, nil},
		{"scaleStrategy.disablePVCReuse", "scaleStrategy", `{"disablePVCReuse":true}`, nil},

		{"type: ReCreate", "updateStrategy", `{"type":"ReCreate"}`, nil},
		{"type: InPlaceIfPossible", "updateStrategy", `{"type":"InPlaceIfPossible"}`, nil},
		{"type: InPlaceOnly", "updateStrategy", `{"type":"InPlaceOnly"}`, nil},
		{"type: unknown", "updateStrategy", `{"type":"Recreate"}`, []string{"NotSupported spec.updateStrategy.type"}},

		{"partition: number", "updateStrategy", `{"partition":3}`, nil},
		{"partition: more than replicas", "updateStrategy", `{"partition":300}`, nil},
		{"partition: percentage", "updateStrategy", `{"partition":"50%"}`, nil},
		{"partition: fraction of a percent", "updateStrategy", `{"partition":"12.5%"}`, nil},
		{"CS-E17: partition of a string without %", "updateStrategy", `{"partition":"50"}`, []string{"Invalid spec.updateStrategy.partition"}},
		{"partition: no number", "updateStrategy", `{"partition":"half"}`, []string{"Invalid spec.updateStrategy.partition"}},
		{"partition: no number but %", "updateStrategy", `{"partition":"NaN%"}`, []string{"Invalid spec.updateStrategy.partition"}},
		{"partition: negative", "updateStrategy", `{"partition":-1}`, []string{"Invalid spec.updateStrategy.partition"}},
		{"partition: negative percentage", "updateStrategy", `{"partition":"-50%"}`, []string{"Invalid spec.updateStrategy.partition"}},

		{"maxUnavailable: number", "updateStrategy", `{"maxUnavailable":1}`, nil},
		{"maxUnavailable: percentage", "updateStrategy", `{"maxUnavailable":"1%"}`, nil},
		{"CS-E17: maxUnavailable of a string without %", "updateStrategy", `{"maxUnavailable":"30"}`, nil},
		{"maxUnavailable: fraction of a percent", "updateStrategy", `{"maxUnavailable":"12.5%"}`, []string{"Invalid spec.updateStrategy.maxUnavailable"}},
		{"maxUnavailable: no number", "updateStrategy", `{"maxUnavailable":"some"}`, []string{"Invalid spec.updateStrategy.maxUnavailable"}},
		{"maxSurge: number", "updateStrategy", `{"maxSurge":1}`, nil},
		{"maxSurge: percentage", "updateStrategy", `{"maxSurge":"30%"}`, nil},
		{"maxSurge: no number", "updateStrategy", `{"maxSurge":"some"}`, []string{"Invalid spec.updateStrategy.maxSurge"}},
		{"maxSurge and maxUnavailable: no numbers", "updateStrategy", `{"maxSurge":"a","maxUnavailable":"b"}`,
			[]string{"Invalid spec.updateStrategy.maxSurge", "Invalid spec.updateStrategy.maxUnavailable"}},
		{"maxSurge and maxUnavailable: both 0", "updateStrategy", `{"maxSurge":0,"maxUnavailable":0}`, []string{"Invalid spec.updateStrategy.maxUnavailable"}},
		{"maxSurge and maxUnavailable: both 0%", "updateStrategy", `{"maxSurge":"0%","maxUnavailable":"0%"}`, []string{"Invalid spec.updateStrategy.maxUnavailable"}},
		{"maxUnavailable: 0 with surge by default", "updateStrategy", `{"maxUnavailable":0}`, []string{"Invalid spec.updateStrategy.maxUnavailable"}},
		{"maxSurge: 0 with maxUnavailable by default", "updateStrategy", `{"maxSurge":0}`, nil},
		{"maxUnavailable: 0 with surge rounded up", "updateStrategy", `{"maxUnavailable":0,"maxSurge":"1%"}`, nil},
		{"maxSurge: InPlaceOnly", "updateStrategy", `{"type":"InPlaceOnly","maxSurge":1}`, []string{"Invalid spec.updateStrategy.maxSurge"}},
		{"maxSurge: 0% with InPlaceOnly", "updateStrategy", `{"type":"InPlaceOnly","maxSurge":"0%"}`, nil},
		{"paused", "updateStrategy", `{"paused":true}`, nil},

		{"priorityStrategy: empty", "updateStrategy", `{"priorityStrategy":{}}`, nil},
		{"priorityStrategy: weights", "updateStrategy", `{"priorityStrategy":{"weightPriority":[{"weight":0,"matchSelector":{"matchLabels":{"a":"b"}}},{"weight":100,"matchSelector":{"matchLabels":{"a":"c"}}}]}}`, nil},
		{"priorityStrategy: weights out of range", "updateStrategy", `{"priorityStrategy":{"weightPriority":[{"weight":-1,"matchSelector":{"matchLabels":{"a":"b"}}},{"weight":101,"matchSelector":{"matchLabels":{"a":"c"}}}]}}`,
			[]string{"Invalid spec.updateStrategy.priorityStrategy.weightPriority[0].weight", "Invalid spec.updateStrategy.priorityStrategy.weightPriority[1].weight"}},
		{"priorityStrategy: empty selector", "updateStrategy", `{"priorityStrategy":{"weightPriority":[{"weight":1,"matchSelector":{}}]}}`,
			[]string{"Required spec.updateStrategy.priorityStrategy.weightPriority[0].matchSelector"}},
		{"priorityStrategy: invalid selector", "updateStrategy", `{"priorityStrategy":{"weightPriority":[{"weight":1,"matchSelector":{"matchExpressions":[{"key":"a","operator":"Like"}]}}]}}`,
			[]string{"Invalid spec.updateStrategy.priorityStrategy.weightPriority[0].matchSelector.matchExpressions[0].operator"}},
		{"priorityStrategy: order", "updateStrategy", `{"priorityStrategy":{"orderPriority":[{"orderedKey":"a"},{"orderedKey":"b"}]}}`, nil},
		{"priorityStrategy: order without key", "updateStrategy", `{"priorityStrategy":{"orderPriority":[{"orderedKey":"a"},{"orderedKey":""}]}}`,
			[]string{"Required spec.updateStrategy.priorityStrategy.orderPriority[1].orderedKey"}},
		{"priorityStrategy: both", "updateStrategy", `{"priorityStrategy":{"orderPriority":[{"orderedKey":"a"}],"weightPriority":[{"weight":1,"matchSelector":{"matchLabels":{"a":"b"}}}]}}`,
			[]string{"Forbidden spec.updateStrategy.priorityStrategy"}},

		{"scatterStrategy: several values of a key", "updateStrategy", `{"scatterStrategy":[{"key":"a","value":"1"},{"key":"a","value":"2"},{"key":"b","value":""}]}`, nil},
		{"scatterStrategy: no key", "updateStrategy", `{"scatterStrategy":[{"key":"","value":"1"}]}`, []string{"Required spec.updateStrategy.scatterStrategy[0].key"}},
		{"scatterStrategy: duplicate", "updateStrategy", `{"scatterStrategy":[{"key":"a","value":"1"},{"key":"a","value":"1"}]}`, []string{"Duplicate spec.updateStrategy.scatterStrategy[1]"}},

		{"inPlaceUpdateStrategy: not validated", "updateStrategy", `{"type":"InPlaceOnly","inPlaceUpdateStrategy":{"gracePeriodSeconds":-1}}`, nil},
		{"revisionHistoryLimit: not validated", "revisionHistoryLimit", `-1`, nil},
		{"minReadySeconds: not validated", "minReadySeconds", `-1`, nil},
		{"lifecycle: not validated", "lifecycle", `{"preDelete":{"labelsHandler":{"not a key":"x"}}}`, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := cloneset.ValidateCreate(demoSet(t, tt.key, tt.value))
			if diff := cmp.Diff(tt.want, problems(got)); diff != "" {
				t.Errorf("ValidateCreate (-want +got):\n%s\n%v", diff, got.ToAggregate())
			}
		})
	}
}

func TestValidateCreateWithoutReplicas(t *testing.T) {
	set := demoSet(t, "replicas", `0`, "updateStrategy", `{"maxSurge":0,"maxUnavailable":0}`)
	if errs := cloneset.ValidateCreate(set); len(errs) > 0 {
		t.Errorf("maxSurge and maxUnavailable: both 0 with 0 replicas: %v", errs)
	}
}

func TestValidateUpdate(t *testing.T) {
	const inPlaceOnly = `{"type":"InPlaceOnly"}`
	template := func(meta, spec string) string {
		return `{"metadata":{"labels":{"app":"demo"}` + meta + `},"spec":{"containers":[{"name":"main","image":"nginx:1.21"` + spec + `}]}}`
	}
	newImage := strings.Replace(goodTemplate, "1.21", "1.22", 1)
	for _, tt := range []struct {
		name     string
		old, new []string
		want     []string
	}{
		{"selector: immutable", nil, []string{"selector", `{"matchExpressions":[{"key":"app","operator":"Exists"}]}`}, []string{"Invalid spec.selector"}},
		{"selector: removed", nil, []string{"selector", `null`}, []string{"Required spec.selector", "Invalid spec.selector"}},
		{"selector: means the same", nil, []string{"selector", `{"matchLabels":{"app":"demo"},"matchExpressions":[]}`, "replicas", `3`}, nil},
		{"everything else is mutable", nil, []string{"replicas", `3`, "template", newImage, "updateStrategy", `{"type":"InPlaceIfPossible","partition":1,"maxSurge":1}`,
			"volumeClaimTemplates", `[{"metadata":{"name":"data"}}]`, "minReadySeconds", `5`, "revisionHistoryLimit", `1`, "lifecycle", `{}`}, nil},
		{"CS-V4: an unchanged spec is not judged", []string{"replicas", `-1`}, []string{"replicas", `-1`}, nil},
		{"an unchanged template is not judged", []string{"template", template("", `,"volumeMounts":[{"name":"gone"}]`)},
			[]string{"template", template("", `,"volumeMounts":[{"name":"gone"}]`), "replicas", `3`}, nil},
		{"a changed template is judged", nil, []string{"template", template("", `,"volumeMounts":[{"name":"gone"}]`)},
			[]string{"NotFound spec.template.spec.containers[0].volumeMounts[0].name"}},
		{"removed claim templates are judged", []string{"volumeClaimTemplates", `[{"metadata":{"name":"data"}}]`, "template", template("", `,"volumeMounts":[{"name":"data"}]`)},
			[]string{"template", template("", `,"volumeMounts":[{"name":"data"}]`)}, []string{"NotFound spec.template.spec.containers[0].volumeMounts[0].name"}},
		{"replicas: negative", nil, []string{"replicas", `-1`}, []string{"Invalid spec.replicas"}},
		{"CS-E6: the partition can be raised back", []string{"updateStrategy", `{"partition":0}`}, []string{"updateStrategy", `{"partition":5}`}, nil},

		{"InPlaceOnly: image", nil, []string{"updateStrategy", inPlaceOnly, "template", newImage}, nil},
		{"InPlaceOnly: labels and annotations", nil, []string{"updateStrategy", inPlaceOnly, "template", template(`,"annotations":{"a":"b"}`, "")}, nil},
		{"CS-V2: InPlaceOnly: environment", nil, []string{"updateStrategy", inPlaceOnly, "template", template("", `,"env":[{"name":"A"}]`)},
			[]string{"Forbidden spec.template.spec.containers[0].env"}},
		{"InPlaceOnly: environment and image", nil, []string{"updateStrategy", inPlaceOnly, "template", strings.Replace(template("", `,"env":[{"name":"A"}]`), "1.21", "1.22", 1)},
			[]string{"Forbidden spec.template.spec.containers[0].env"}},
		{"InPlaceOnly: node selector", []string{"template", `{"metadata":{"labels":{"app":"demo"}},"spec":{"nodeSelector":{"example.com/zone":"a"},"containers":[{"name":"main","image":"nginx:1.21"}]}}`},
			[]string{"updateStrategy", inPlaceOnly, "template", `{"metadata":{"labels":{"app":"demo"}},"spec":{"nodeSelector":{"example.com/zone":"b"},"containers":[{"name":"main","image":"nginx:1.21"}]}}`},
			[]string{"Forbidden spec.template.spec.nodeSelector[example.com/zone]"}},
		{"InPlaceOnly: container added", nil, []string{"updateStrategy", inPlaceOnly, "template", strings.Replace(goodTemplate, `[{`, `[{"name":"side","image":"a"},{`, 1)},
			[]string{"Forbidden spec.template.spec.containers[0].name", "Forbidden spec.template.spec.containers[1]"}},
		{"InPlaceOnly: init container's image", []string{"template", strings.Replace(goodTemplate, `"containers"`, `"initContainers":[{"name":"init","image":"a:1"}],"containers"`, 1)},
			[]string{"updateStrategy", inPlaceOnly, "template", strings.Replace(goodTemplate, `"containers"`, `"initContainers":[{"name":"init","image":"a:2"}],"containers"`, 1)},
			[]string{"Forbidden spec.template.spec.initContainers[0].image"}},
		{"InPlaceOnly: the type that is left does not count", []string{"updateStrategy", inPlaceOnly}, []string{"updateStrategy", `{"type":"ReCreate"}`, "template", template("", `,"env":[{"name":"A"}]`)}, nil},
		{"InPlaceOnly: an unchanged template", nil, []string{"updateStrategy", inPlaceOnly, "replicas", `2`}, nil},
		{"CS-E14: InPlaceOnly: claim templates", nil, []string{"updateStrategy", inPlaceOnly, "volumeClaimTemplates", `[{"metadata":{"name":"data"}}]`}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := cloneset.ValidateUpdate(demoSet(t, tt.new...), demoSet(t, tt.old...))
			if diff := cmp.Diff(tt.want, problems(got)); diff != "" {
				t.Errorf("ValidateUpdate (-want +got):\n%s\n%v", diff, got.ToAggregate())
			}
		})
	}
}

func TestValidateDelete(t *testing.T) {
	const always, cascading = "forbidden by ResourcesProtectionDeletion for policy.kruise.io/delete-protection=Always",
		"forbidden by ResourcesProtectionDeletion for policy.kruise.io/delete-protection=Cascading and replicas 3>0"
	for _, tt := range []struct {
		name, label, replicas string
		deleting              bool
		want                  string
	}{
		{name: "not protected", replicas: `3`},
		{name: "CS-V3, DP-5: Always", label: "Always", replicas: `0`, want: always},
		{name: "DP-5: Cascading", label: "Cascading", replicas: `3`, want: cascading},
		{name: "DP-E8: Cascading without replicas", label: "Cascading", replicas: `0`},
		{name: "DP-8: Cascading with replicas nil", label: "Cascading", replicas: `null`},
		{name: "DP-E4: lower case", label: "always", replicas: `3`},
		{name: "another value", label: "true", replicas: `3`},
		{name: "DP-4, DP-E6: being deleted", label: "Always", replicas: `3`, deleting: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			set := demoSet(t, "replicas", tt.replicas)
			if tt.label != "" {
				set.Labels = map[string]string{"policy.kruise.io/delete-protection": tt.label}
			}
			if tt.deleting {
				set.DeletionTimestamp = &metav1.Time{}
			}
			got := ""
			if err := cloneset.ValidateDelete(set); err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// demoPods looks up pods of the set demo: mine, terminating, orphan, foreign, and broken fails.
func demoPods(_ context.Context, namespace, name string) (*corev1.Pod, error) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, OwnerReferences: []metav1.OwnerReference{
		{Kind: "CloneSet", Name: "demo", UID: "u1", Controller: new(true)}}}}
	switch name {
	case "mine", "mine-too":
	case "terminating":
		pod.DeletionTimestamp = &metav1.Time{}
	case "orphan":
		pod.OwnerReferences = nil
	case "foreign":
		pod.OwnerReferences[0].UID = "u2"
	case "broken":
		return nil, errors.New("no connection")
	case "nil":
		return nil, nil
	default:
		return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "pods"}, name)
	}
	return pod, nil
}

func TestValidatePodsToDelete(t *testing.T) {
	invalid := []string{"Invalid spec.scaleStrategy.podsToDelete[1]"}
	for _, tt := range []struct {
		name, added string
		want        []string
	}{
		{"a pod of this set", "mine-too", nil},
		{"CS-E9: no such pod", "gone", invalid},
		{"no such pod, said without an error", "nil", invalid},
		{"a pod that is being deleted", "terminating", invalid},
		{"a pod without controller", "orphan", invalid},
		{"a pod of another set", "foreign", invalid},
	} {
		t.Run(tt.name, func(t *testing.T) {
			set := demoSet(t, "scaleStrategy", `{"podsToDelete":["mine","`+tt.added+`"]}`)
			for name, old := range map[string]*v1alpha1.CloneSet{"newly added": demoSet(t), "added to others": demoSet(t, "scaleStrategy", `{"podsToDelete":["mine"]}`), "new set": nil} {
				got, err := cloneset.ValidatePodsToDelete(t.Context(), set, old, demoPods)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tt.want, problems(got)); diff != "" {
					t.Errorf("%s (-want +got):\n%s", name, diff)
				}
			}
			got, err := cloneset.ValidatePodsToDelete(t.Context(), set, set, demoPods)
			if len(got) > 0 || err != nil {
				t.Errorf("CS-E9: a name that stays in the list: %v, %v", got, err)
			}
		})
	}
	if _, err := cloneset.ValidatePodsToDelete(t.Context(), demoSet(t, "scaleStrategy", `{"podsToDelete":["broken"]}`), nil, demoPods); err == nil {
		t.Error("a lookup that fails: want its error, got none")
	}
}

// A manifest can be checked in a unit test, before anybody applies it.
func ExampleValidateCreate() {
	set := &v1alpha1.CloneSet{Spec: v1alpha1.CloneSetSpec{
		Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "shop"}},
		Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "shops"}},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main"}}},
		},
	}}
	for _, err := range cloneset.ValidateCreate(set) {
		fmt.Println(err)
	}
	// Output:
	// spec.template.metadata.labels: Invalid value: "app=shops": must match spec.selector, which is "app=shop"
	// spec.template.spec.containers[0].image: Required value: it is what the container runs
}

// A set that only updates in place refuses what running pods cannot take.
func ExampleValidateUpdate() {
	old := &v1alpha1.CloneSet{Spec: v1alpha1.CloneSetSpec{
		Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "shop"}},
		Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "shop"}},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "shop:v1"}}},
		},
		UpdateStrategy: v1alpha1.CloneSetUpdateStrategy{Type: v1alpha1.InPlaceOnlyCloneSetUpdateStrategyType},
	}}
	set := old.DeepCopy()
	set.Spec.Template.Spec.Containers[0].Image = "shop:v2"
	fmt.Println("image:", cloneset.ValidateUpdate(set, old).ToAggregate())

	set.Spec.Template.Spec.HostNetwork = true
	for _, err := range cloneset.ValidateUpdate(set, old) {
		fmt.Println("network:", err.Field, err.Type)
	}
	// Output:
	// image: <nil>
	// network: spec.template.spec.hostNetwork Forbidden
}
