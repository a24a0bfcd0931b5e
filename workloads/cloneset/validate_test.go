// SPDX-License-Identifier: Apache-2.0

package cloneset_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/podwright/podwright/internal/testing/conformance"
	"github.com/podwright/podwright/internal/testing/conformance/verdicts"
	"github.com/podwright/podwright/workloads/cloneset"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// What is said of all workloads: CS-19, CS-E14, CS-V1 to CS-V4.
func TestValidation(t *testing.T) {
	conformance.PlayWorkload(t, conformance.Admission{Kind: "CloneSet", Resource: "clonesets",
		Object: specWith(`"replicas":1,"revisionHistoryLimit":10,"updateStrategy":{"type":"ReCreate","partition":0,"maxUnavailable":"20%","maxSurge":0}`),
		New:    func(map[string][]string) conformance.Served { return &cloneset.Webhook{} }}, "type")
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

// A manifest can be checked in a unit test, before it is applied.
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

// Every field of the spec, with the values that never do anything or do harm, and what admission says of them. (CS-V10)
func TestVerdicts(t *testing.T) {
	const valid = `
metadata: {namespace: shop, name: web}
spec:
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: main, image: nginx}]}}`
	verdicts.Check(t, "testdata/verdicts.txt", verdicts.Subject[v1alpha1.CloneSet]{Valid: valid, Create: cloneset.ValidateCreate, Update: cloneset.ValidateUpdate, Touch: `{"minReadySeconds":7}`})
}
