// SPDX-License-Identifier: Apache-2.0

package statefulset_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podwright/podwright/workloads/statefulset"
	"github.com/podwright/podwright/workloads/v1beta1"
)

const (
	goodSelector = `{"matchLabels":{"app":"demo"}}`
	goodTemplate = `{"metadata":{"labels":{"app":"demo"}},"spec":{"containers":[{"name":"main","image":"nginx:1.21"}],"readinessGates":[{"conditionType":"InPlaceUpdateReady"}]}}`
)

// demoSet is a valid StatefulSet with some fields of its spec replaced: a list
// of key, JSON value, key, JSON value.
func demoSet(t testing.TB, fields ...string) *v1beta1.StatefulSet {
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
		{"replicas: mistyped", "replicas", `2000000000`, []string{"Invalid spec.replicas"}},
		{"replicas: negative", "replicas", `-1`, []string{"Invalid spec.replicas"}},

		{"selector: required", "selector", `null`, []string{"Required spec.selector"}},
		{"selector: empty", "selector", `{}`, []string{"Invalid spec.selector"}},
		{"selector: expressions that match", "selector", `{"matchExpressions":[{"key":"app","operator":"In","values":["demo","other"]}]}`, nil},
		{"selector: unknown operator", "selector", `{"matchExpressions":[{"key":"app","operator":"Like"}]}`, []string{"Invalid spec.selector.matchExpressions[0].operator"}},
		{"selector: does not match the template", "selector", `{"matchLabels":{"app":"other"}}`, []string{"Invalid spec.template.metadata.labels"}},

		{"template: restartPolicy other than Always", "template", strings.Replace(goodTemplate, `"containers"`, `"restartPolicy":"Never","containers"`, 1),
			[]string{"NotSupported spec.template.spec.restartPolicy"}},
		{"template: activeDeadlineSeconds", "template", strings.Replace(goodTemplate, `"containers"`, `"activeDeadlineSeconds":1,"containers"`, 1),
			[]string{"Forbidden spec.template.spec.activeDeadlineSeconds"}},
		{"template: volume that is not there", "template", strings.Replace(goodTemplate, `"image"`, `"volumeMounts":[{"name":"data"}],"image"`, 1),
			[]string{"NotFound spec.template.spec.containers[0].volumeMounts[0].name"}},
		{"template: a newer field passes", "template", strings.Replace(goodTemplate, `"containers"`, `"hostUsers":false,"containers"`, 1), nil},
		{"volumeClaimTemplates: no name", "volumeClaimTemplates", `[{}]`, []string{"Required spec.volumeClaimTemplates[0].metadata.name"}},

		{"serviceName: any", "serviceName", `"anything at all"`, nil},

		{"podManagementPolicy: empty is the default", "podManagementPolicy", `""`, nil},
		{"podManagementPolicy: OrderedReady", "podManagementPolicy", `"OrderedReady"`, nil},
		{"podManagementPolicy: Parallel", "podManagementPolicy", `"Parallel"`, nil},
		{"podManagementPolicy: unknown", "podManagementPolicy", `"parallel"`, []string{"NotSupported spec.podManagementPolicy"}},

		{"revisionHistoryLimit: not validated", "revisionHistoryLimit", `-1`, nil},
		{"lifecycle: not validated", "lifecycle", `{"preDelete":{"labelsHandler":{"not a key":"x"}}}`, nil},

		{"reserveOrdinals: some", "reserveOrdinals", `[0,7,3]`, nil},
		{"reserveOrdinals: none", "reserveOrdinals", `[]`, nil},
		{"reserveOrdinals: duplicates", "reserveOrdinals", `[3,1,3,3]`, []string{"Duplicate spec.reserveOrdinals[2]", "Duplicate spec.reserveOrdinals[3]"}},
		{"reserveOrdinals: negative", "reserveOrdinals", `[3,-1]`, []string{"Invalid spec.reserveOrdinals[1]"}},

		{"retention: both", "persistentVolumeClaimRetentionPolicy", `{"whenDeleted":"Delete","whenScaled":"Retain"}`, nil},
		{"retention: empty is the default", "persistentVolumeClaimRetentionPolicy", `{"whenDeleted":""}`, nil},
		{"retention: unknown", "persistentVolumeClaimRetentionPolicy", `{"whenDeleted":"Keep","whenScaled":"delete"}`,
			[]string{"NotSupported spec.persistentVolumeClaimRetentionPolicy.whenDeleted", "NotSupported spec.persistentVolumeClaimRetentionPolicy.whenScaled"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := statefulset.ValidateCreate(demoSet(t, tt.key, tt.value))
			if diff := cmp.Diff(tt.want, problems(got)); diff != "" {
				t.Errorf("ValidateCreate (-want +got):\n%s\n%v", diff, got.ToAggregate())
			}
		})
	}
}

func TestValidateUpdate(t *testing.T) {
	const inPlaceOnly = `{"rollingUpdate":{"podUpdatePolicy":"InPlaceOnly"}}`
	ungated := strings.Replace(goodTemplate, `"InPlaceUpdateReady"`, `"other"`, 1)
	with := func(what, by string) string { return strings.Replace(goodTemplate, what, by, 1) }
	mount := with(`"image"`, `"volumeMounts":[{"name":"data"}],"image"`)
	for _, tt := range []struct {
		name     string
		old, new []string
		want     []string
	}{
		{"selector: immutable", nil, []string{"selector", `{"matchExpressions":[{"key":"app","operator":"Exists"}]}`}, []string{"Invalid spec.selector"}},
		{"selector: means the same", nil, []string{"selector", `{"matchLabels":{"app":"demo"},"matchExpressions":[]}`, "replicas", `3`}, nil},
		{"serviceName: immutable", []string{"serviceName", `"a"`}, []string{"serviceName", `"b"`}, []string{"Invalid spec.serviceName"}},
		{"serviceName: not set later", nil, []string{"serviceName", `"b"`}, []string{"Invalid spec.serviceName"}},
		{"serviceName: not removed", []string{"serviceName", `"a"`}, nil, []string{"Invalid spec.serviceName"}},
		{"podManagementPolicy: immutable", nil, []string{"podManagementPolicy", `"Parallel"`}, []string{"Invalid spec.podManagementPolicy"}},
		{"podManagementPolicy: the default is written out", nil, []string{"podManagementPolicy", `"OrderedReady"`}, nil},
		{"podManagementPolicy: the default is left out", []string{"podManagementPolicy", `"OrderedReady"`}, nil, nil},
		{"podManagementPolicy: unknown", nil, []string{"podManagementPolicy", `"Random"`}, []string{"NotSupported spec.podManagementPolicy", "Invalid spec.podManagementPolicy"}},

		{"an unchanged spec is not judged", []string{"replicas", `-1`}, []string{"replicas", `-1`}, nil},
		{"an unchanged template is not judged", []string{"template", mount}, []string{"template", mount, "replicas", `3`}, nil},
		{"a changed template is judged", nil, []string{"template", mount}, []string{"NotFound spec.template.spec.containers[0].volumeMounts[0].name"}},
		{"removed claim templates are judged", []string{"volumeClaimTemplates", `[{"metadata":{"name":"data"}}]`, "template", mount}, []string{"template", mount},
			[]string{"NotFound spec.template.spec.containers[0].volumeMounts[0].name"}},
		{"replicas: negative", nil, []string{"replicas", `-1`}, []string{"Invalid spec.replicas"}},
		{"STS-E19: claim templates change", []string{"volumeClaimTemplates", `[{"metadata":{"name":"data"}}]`}, []string{"volumeClaimTemplates", `[{"metadata":{"name":"logs"}}]`}, nil},

		{"STS-E4: the gate comes with InPlaceIfPossible", []string{"template", ungated}, []string{"updateStrategy", `{"rollingUpdate":{"podUpdatePolicy":"InPlaceIfPossible"}}`}, nil},
		{"STS-E4: the gate cannot come with InPlaceOnly", []string{"template", ungated}, []string{"updateStrategy", inPlaceOnly}, []string{"Forbidden spec.template.spec.readinessGates[0].conditionType"}},
		{"STS-E3: the gate goes, InPlaceIfPossible stays", []string{"updateStrategy", `{"rollingUpdate":{"podUpdatePolicy":"InPlaceIfPossible"}}`},
			[]string{"updateStrategy", `{"rollingUpdate":{"podUpdatePolicy":"InPlaceIfPossible"}}`, "template", ungated}, []string{"Invalid spec.updateStrategy.rollingUpdate.podUpdatePolicy"}},

		{"InPlaceOnly: image", nil, []string{"updateStrategy", inPlaceOnly, "template", with("1.21", "1.22")}, nil},
		{"InPlaceOnly: labels and annotations", nil, []string{"updateStrategy", inPlaceOnly, "template", with(`"labels"`, `"annotations":{"a":"b"},"labels"`)}, nil},
		{"InPlaceOnly: imagePullPolicy, which OpenKruise lets pass", []string{"template", with(`"image"`, `"imagePullPolicy":"Always","image"`)},
			[]string{"updateStrategy", inPlaceOnly, "template", with(`"image"`, `"imagePullPolicy":"Never","image"`)}, []string{"Forbidden spec.template.spec.containers[0].imagePullPolicy"}},
		{"InPlaceOnly: environment and image", nil, []string{"updateStrategy", inPlaceOnly, "template", with(`"nginx:1.21"`, `"nginx:1.22","env":[{"name":"A"}]`)},
			[]string{"Forbidden spec.template.spec.containers[0].env"}},
		{"InPlaceOnly: init container's image", []string{"template", with(`"containers"`, `"initContainers":[{"name":"init","image":"a:1"}],"containers"`)},
			[]string{"updateStrategy", inPlaceOnly, "template", with(`"containers"`, `"initContainers":[{"name":"init","image":"a:2"}],"containers"`)},
			[]string{"Forbidden spec.template.spec.initContainers[0].image"}},
		{"InPlaceOnly: the policy that is left does not count", []string{"updateStrategy", inPlaceOnly}, []string{"template", with(`"image"`, `"env":[{"name":"A"}],"image"`)}, nil},
		{"InPlaceOnly: an unchanged template", nil, []string{"updateStrategy", inPlaceOnly, "replicas", `2`}, nil},
		{"InPlaceOnly: claim templates", nil, []string{"updateStrategy", inPlaceOnly, "volumeClaimTemplates", `[{"metadata":{"name":"data"}}]`}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := statefulset.ValidateUpdate(demoSet(t, tt.new...), demoSet(t, tt.old...))
			if diff := cmp.Diff(tt.want, problems(got)); diff != "" {
				t.Errorf("ValidateUpdate (-want +got):\n%s\n%v", diff, got.ToAggregate())
			}
		})
	}
}

// Every field of the spec either stands in the list of the mutable ones, or its
// change is refused with its own name, a field that is added later too.
func TestMutableOnUpdate(t *testing.T) {
	mutable := map[string]string{
		"replicas": `3`, "template": strings.Replace(goodTemplate, "1.21", "1.22", 1), "updateStrategy": `{"type":"OnDelete"}`, "scaleStrategy": `{"maxUnavailable":1}`,
		"reserveOrdinals": `[1]`, "lifecycle": `{}`, "revisionHistoryLimit": `1`, "persistentVolumeClaimRetentionPolicy": `{"whenScaled":"Delete"}`,
		"volumeClaimTemplates": `[{"metadata":{"name":"data"}}]`,
	}
	immutable := map[string]string{"selector": `{"matchExpressions":[{"key":"app","operator":"Exists"}]}`, "serviceName": `"other"`, "podManagementPolicy": `"Parallel"`}
	spec := reflect.TypeFor[v1beta1.StatefulSetSpec]()
	for i := range spec.NumField() {
		name, _, _ := strings.Cut(spec.Field(i).Tag.Get("json"), ",")
		value, want := mutable[name], []string(nil)
		if value == "" {
			value, want = immutable[name], []string{"Invalid spec." + name}
		}
		if value == "" {
			t.Errorf("spec.%s is in neither list", name)
			continue
		}
		if diff := cmp.Diff(want, problems(statefulset.ValidateUpdate(demoSet(t, name, value), demoSet(t)))); diff != "" {
			t.Errorf("change of spec.%s (-want +got):\n%s", name, diff)
		}
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
		{name: "delete protection: Always", label: "Always", replicas: `0`, want: always},
		{name: "delete protection: Cascading", label: "Cascading", replicas: `3`, want: cascading},
		{name: "delete protection: Cascading without replicas", label: "Cascading", replicas: `0`},
		{name: "delete protection: another value", label: "always", replicas: `3`},
		{name: "delete protection: being deleted", label: "Always", replicas: `3`, deleting: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			set := demoSet(t, "replicas", tt.replicas)
			set.Labels = map[string]string{"policy.kruise.io/delete-protection": tt.label}
			if tt.deleting {
				set.DeletionTimestamp = &metav1.Time{}
			}
			got := ""
			if err := statefulset.ValidateDelete(set); err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// A manifest can be checked in a unit test, before anybody applies it.
func ExampleValidateCreate() {
	labels := map[string]string{"app": "shop"}
	set := &v1beta1.StatefulSet{Spec: v1beta1.StatefulSetSpec{
		Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "shop:v1"}}},
		},
		UpdateStrategy: v1beta1.StatefulSetUpdateStrategy{RollingUpdate: &v1beta1.RollingUpdateStatefulSetStrategy{
			MaxUnavailable:  new(intstr.FromString("10%")),
			PodUpdatePolicy: v1beta1.InPlaceIfPossiblePodUpdateStrategyType,
		}},
	}}
	for _, err := range statefulset.ValidateCreate(set) {
		fmt.Println(err)
	}
	// Output:
	// spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: "10%": must be the number 1 unless podManagementPolicy is Parallel: pods in order are unavailable one at a time
	// spec.updateStrategy.rollingUpdate.podUpdatePolicy: Invalid value: "InPlaceIfPossible": needs the readiness gate InPlaceUpdateReady, which keeps a pod out of service while it changes: add it to spec.template.spec.readinessGates
}

// What identifies the pods stays as long as the set does.
func ExampleValidateUpdate() {
	old := &v1beta1.StatefulSet{Spec: v1beta1.StatefulSetSpec{
		Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "shop"}},
		Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "shop"}},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "shop:v1"}}},
		},
		ServiceName: "shop",
	}}
	set := old.DeepCopy()
	set.Spec.Template.Spec.Containers[0].Image = "shop:v2"
	set.Spec.ReserveOrdinals = []int{1}
	fmt.Println("image and ordinals:", statefulset.ValidateUpdate(set, old).ToAggregate())

	set.Spec.ServiceName = "shops"
	set.Spec.PodManagementPolicy = appsv1.ParallelPodManagement
	for _, err := range statefulset.ValidateUpdate(set, old) {
		fmt.Println(err)
	}
	// Output:
	// image and ordinals: <nil>
	// spec.serviceName: Invalid value: "shops": the service name is immutable and has to stay "shop": create a new StatefulSet for another service
	// spec.podManagementPolicy: Invalid value: "Parallel": the policy is immutable and has to stay "OrderedReady": create a new StatefulSet for another policy
}
