// SPDX-License-Identifier: Apache-2.0

package statefulset_test

import (
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/internal/testing/conformance"
	"github.com/podwright/podwright/internal/testing/conformance/verdicts"
	"github.com/podwright/podwright/workloads/statefulset"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// What is said of all workloads, in every version.
func TestValidation(t *testing.T) {
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			conformance.PlayWorkload(t, conformance.Admission{Kind: "StatefulSet", Resource: "statefulsets", Versions: []string{version},
				Object: specWith(version, `"replicas":1,"revisionHistoryLimit":10,"podManagementPolicy":"OrderedReady",
					"persistentVolumeClaimRetentionPolicy":{"whenDeleted":"Retain","whenScaled":"Retain"},"updateStrategy":{"type":"RollingUpdate",
					"rollingUpdate":{"partition":0,"maxUnavailable":1,"podUpdatePolicy":"ReCreate","minReadySeconds":0}}`),
				New: func(map[string][]string) conformance.Served { return &statefulset.Webhook{} }}, "rollingUpdate.podUpdatePolicy")
		})
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

// Every field of the spec, with the values that never do anything or do harm, and what admission says of them. (STS-V8)
func TestVerdicts(t *testing.T) {
	verdicts.Check(t, "testdata/verdicts.txt", verdicts.Subject[v1beta1.StatefulSet]{
		Valid: `
metadata: {namespace: shop, name: db}
spec:
  serviceName: db
  selector: {matchLabels: {app: db}}
  template: {metadata: {labels: {app: db}}, spec: {readinessGates: [{conditionType: InPlaceUpdateReady}], containers: [{name: main, image: postgres}]}}`,
		Create: statefulset.ValidateCreate, Update: statefulset.ValidateUpdate, Touch: `{"replicas":7}`,
	})
}
