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

	"github.com/podwright/podwright/internal/testing/conformance"
	"github.com/podwright/podwright/workloads/statefulset"
	"github.com/podwright/podwright/workloads/v1beta1"
)

var validation = conformance.Validation[*v1beta1.StatefulSet]{
	New: func() *v1beta1.StatefulSet { return &v1beta1.StatefulSet{} }, InPlaceOnly: `{"rollingUpdate":{"podUpdatePolicy":"InPlaceOnly"}}`,
	Create: statefulset.ValidateCreate, Update: statefulset.ValidateUpdate, Delete: statefulset.ValidateDelete,
}

func TestValidation(t *testing.T) { conformance.CheckValidation(t, validation) }

func TestValidateCreate(t *testing.T) {
	validation.CheckCreate(t, []conformance.Invalid{
		{"podManagementPolicy: empty is the default", nil, []string{"podManagementPolicy", `""`}, nil},
		{"reserveOrdinals: some", nil, []string{"reserveOrdinals", `[0,7,3]`}, nil},
		{"reserveOrdinals: duplicates", nil, []string{"reserveOrdinals", `[3,1,3,3]`}, []string{"Duplicate spec.reserveOrdinals[2]", "Duplicate spec.reserveOrdinals[3]"}},
		{"retention: both", nil, []string{"persistentVolumeClaimRetentionPolicy", `{"whenDeleted":"Delete","whenScaled":"Retain"}`}, nil},
		{"retention: empty is the default", nil, []string{"persistentVolumeClaimRetentionPolicy", `{"whenDeleted":""}`}, nil},
		{"retention: unknown", nil, []string{"persistentVolumeClaimRetentionPolicy", `{"whenDeleted":"Keep","whenScaled":"delete"}`},
			[]string{"NotSupported spec.persistentVolumeClaimRetentionPolicy.whenDeleted", "NotSupported spec.persistentVolumeClaimRetentionPolicy.whenScaled"}},
		{"scaleStrategy: a percentage in order", nil, []string{"podManagementPolicy", `""`, "scaleStrategy", `{"maxUnavailable":"100%"}`}, []string{"Invalid spec.scaleStrategy.maxUnavailable"}},
		{"updateStrategy.type: empty is the default", nil, []string{"updateStrategy", `{"type":""}`}, nil},
		{"updateStrategy.type: unknown", nil, []string{"updateStrategy", `{"type":"InPlace","rollingUpdate":{"partition":-1}}`},
			[]string{"NotSupported spec.updateStrategy.type", "Invalid spec.updateStrategy.rollingUpdate.partition"}},
	})
}

// What verdicts does not show of rollingUpdate.
func TestValidateRollingUpdate(t *testing.T) {
	const ordered, parallel, rolling = `"OrderedReady"`, `"Parallel"`, "spec.updateStrategy.rollingUpdate"
	const maxUnavailable, policy = "Invalid " + rolling + ".maxUnavailable", "Invalid " + rolling + ".podUpdatePolicy"
	gates := func(gates string) string {
		return strings.Replace(conformance.Template("", "", ""), `[{"conditionType":"InPlaceUpdateReady"}]`, gates, 1)
	}
	for _, tt := range []struct{ name, policy, gates, rollingUpdate, want string }{
		{"STS-E1: maxUnavailable 10% in order", ordered, `[]`, `{"maxUnavailable":"10%"}`, maxUnavailable},
		{"STS-E1: maxUnavailable 2 in order, which is the default", `""`, `[]`, `{"maxUnavailable":2}`, maxUnavailable},
		{"STS-E1: exactly the number 1 in order", ordered, `[]`, `{"maxUnavailable":"1"}`, maxUnavailable},
		{"STS-E2: maxUnavailable 0 in order", ordered, `[]`, `{"maxUnavailable":0}`, maxUnavailable},
		{"maxUnavailable: a string without %", parallel, `[]`, `{"maxUnavailable":"30"}`, ""},
		{"maxUnavailable: the least percentage", parallel, `[]`, `{"maxUnavailable":"1%"}`, ""},
		{"maxUnavailable: a negative percentage", parallel, `[]`, `{"maxUnavailable":"-1%"}`, maxUnavailable},
		{"maxUnavailable: a fraction of a percent", parallel, `[]`, `{"maxUnavailable":"12.5%"}`, maxUnavailable},
		{"inPlaceUpdateStrategy: not validated", ordered, `[]`, `{"inPlaceUpdateStrategy":{"gracePeriodSeconds":-1}}`, ""},
		{"unorderedUpdate: in parallel", parallel, `[]`, `{"unorderedUpdate":{}}`, ""},
		{"unorderedUpdate: in order, which is the default", `""`, `[]`, `{"unorderedUpdate":{}}`, "Forbidden " + rolling + ".unorderedUpdate"},
		{"minReadySeconds: 300", ordered, `[]`, `{"minReadySeconds":300}`, ""},
		{"STS-E5: several problems", ordered, `[]`, `{"partition":-1,"minReadySeconds":301}`, "Invalid " + rolling + ".partition, Invalid " + rolling + ".minReadySeconds"},
		{"ReCreate needs no gate", ordered, `[]`, `{"podUpdatePolicy":"ReCreate"}`, ""},
		{"STS-E3: InPlaceIfPossible without the gate", ordered, `[]`, `{"podUpdatePolicy":"InPlaceIfPossible"}`, policy},
		{"STS-E3: InPlaceOnly without the gate", ordered, `null`, `{"podUpdatePolicy":"InPlaceOnly"}`, policy},
		{"STS-E3: another gate", ordered, `[{"conditionType":"Other"}]`, `{"podUpdatePolicy":"InPlaceIfPossible"}`, policy},
		{"the gate among others", ordered, `[{"conditionType":"Other"},{"conditionType":"InPlaceUpdateReady"}]`, `{"podUpdatePolicy":"InPlaceIfPossible"}`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			set := validation.Demo(t, "podManagementPolicy", tt.policy, "template", gates(tt.gates), "updateStrategy", `{"rollingUpdate":`+tt.rollingUpdate+`}`)
			if got := strings.Join(conformance.Problems(statefulset.ValidateCreate(set)), ", "); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

func TestValidateUpdate(t *testing.T) {
	ungated := strings.Replace(conformance.Template("", "", ""), `"InPlaceUpdateReady"`, `"other"`, 1)
	validation.CheckUpdate(t, []conformance.Invalid{
		{"serviceName: immutable", []string{"serviceName", `"a"`}, []string{"serviceName", `"b"`}, []string{"Invalid spec.serviceName"}},
		{"serviceName: not set later", nil, []string{"serviceName", `"b"`}, []string{"Invalid spec.serviceName"}},
		{"serviceName: not removed", []string{"serviceName", `"a"`}, nil, []string{"Invalid spec.serviceName"}},
		{"podManagementPolicy: immutable", nil, []string{"podManagementPolicy", `"Parallel"`}, []string{"Invalid spec.podManagementPolicy"}},
		{"podManagementPolicy: the default is written out", nil, []string{"podManagementPolicy", `"OrderedReady"`}, nil},
		{"podManagementPolicy: the default is left out", []string{"podManagementPolicy", `"OrderedReady"`}, nil, nil},
		{"podManagementPolicy: unknown", nil, []string{"podManagementPolicy", `"Random"`}, []string{"NotSupported spec.podManagementPolicy", "Invalid spec.podManagementPolicy"}},
		{"STS-E19: claim templates change", []string{"volumeClaimTemplates", `[{"metadata":{"name":"data"}}]`}, []string{"volumeClaimTemplates", `[{"metadata":{"name":"logs"}}]`}, nil},
		{"STS-E4: the gate comes with InPlaceIfPossible", []string{"template", ungated}, []string{"updateStrategy", `{"rollingUpdate":{"podUpdatePolicy":"InPlaceIfPossible"}}`}, nil},
		{"STS-E4: the gate cannot come with InPlaceOnly", []string{"template", ungated}, []string{"updateStrategy", validation.InPlaceOnly}, []string{"Forbidden spec.template.spec.readinessGates[0].conditionType"}},
		{"STS-E3: the gate goes, InPlaceIfPossible stays", []string{"updateStrategy", `{"rollingUpdate":{"podUpdatePolicy":"InPlaceIfPossible"}}`},
			[]string{"updateStrategy", `{"rollingUpdate":{"podUpdatePolicy":"InPlaceIfPossible"}}`, "template", ungated}, []string{"Invalid spec.updateStrategy.rollingUpdate.podUpdatePolicy"}},
	})
}

// A field of the spec stands in the list of the mutable ones, or its change is refused with its own name. That holds for a field
// that is added later, too.
func TestMutableOnUpdate(t *testing.T) {
	mutable := map[string]string{
		"replicas": `3`, "template": strings.Replace(conformance.Template("", "", ""), "1.21", "1.22", 1), "updateStrategy": `{"type":"OnDelete"}`, "scaleStrategy": `{"maxUnavailable":1}`,
		"reserveOrdinals": `[1]`, "lifecycle": `{}`, "revisionHistoryLimit": `1`, "persistentVolumeClaimRetentionPolicy": `{"whenScaled":"Delete"}`,
		"volumeClaimTemplates": `[{"metadata":{"name":"data"}}]`, "ordinals": `{"start":2}`, "volumeClaimUpdateStrategy": `{"type":"OnPodRollingUpdate"}`,
	}
	immutable := map[string]string{"selector": `{"matchExpressions":[{"key":"app","operator":"Exists"}]}`, "serviceName": `"other"`, "podManagementPolicy": `"Parallel"`}
	spec := reflect.TypeFor[v1beta1.StatefulSetSpec]()
	for i := range spec.NumField() {
		name, _, _ := strings.Cut(spec.Field(i).Tag.Get("json"), ",")
		if name == "-" {
			continue // ReserveOrdinals are a part of reserveOrdinals
		}
		value, want := mutable[name], []string(nil)
		if value == "" {
			value, want = immutable[name], []string{"Invalid spec." + name}
		}
		if value == "" {
			t.Errorf("spec.%s is in neither list", name)
			continue
		}
		if diff := cmp.Diff(want, conformance.Problems(statefulset.ValidateUpdate(validation.Demo(t, name, value), validation.Demo(t)))); diff != "" {
			t.Errorf("change of spec.%s (-want +got):\n%s", name, diff)
		}
	}
}

// A manifest can be checked in a unit test, before it is applied.
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
