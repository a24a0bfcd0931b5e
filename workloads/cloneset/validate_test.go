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

	"github.com/podwright/podwright/internal/testing/conformance"
	"github.com/podwright/podwright/workloads/cloneset"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

var validation = conformance.Validation[*v1alpha1.CloneSet]{
	New: func() *v1alpha1.CloneSet { return &v1alpha1.CloneSet{} }, InPlaceOnly: `{"type":"InPlaceOnly"}`,
	Create: cloneset.ValidateCreate, Update: cloneset.ValidateUpdate, Delete: cloneset.ValidateDelete,
}

func TestValidation(t *testing.T) { conformance.CheckValidation(t, validation) }

func TestValidateCreate(t *testing.T) {
	validation.CheckCreate(t, []conformance.Invalid{
		{"podsToDelete: several", nil, []string{"scaleStrategy", `{"podsToDelete":["a","b"]}`}, nil},
		{"podsToDelete: duplicate", nil, []string{"scaleStrategy", `{"podsToDelete":["a","b","a","a"]}`},
			[]string{"Duplicate spec.scaleStrategy.podsToDelete[2]", "Duplicate spec.scaleStrategy.podsToDelete[3]"}},
		{"scaleStrategy.disablePVCReuse", nil, []string{"scaleStrategy", `{"disablePVCReuse":true}`}, nil},

		{"type: ReCreate", nil, []string{"updateStrategy", `{"type":"ReCreate"}`}, nil},
		{"type: InPlaceIfPossible", nil, []string{"updateStrategy", `{"type":"InPlaceIfPossible"}`}, nil},
		{"type: InPlaceOnly", nil, []string{"updateStrategy", `{"type":"InPlaceOnly"}`}, nil},
		{"CS-37: type: OnDelete", nil, []string{"updateStrategy", `{"type":"OnDelete"}`}, nil},
		{"type: unknown", nil, []string{"updateStrategy", `{"type":"Recreate"}`}, []string{"NotSupported spec.updateStrategy.type"}},

		{"progressDeadlineSeconds", nil, []string{"progressDeadlineSeconds", `1`}, nil},
		{"progressDeadlineSeconds: none", nil, []string{"progressDeadlineSeconds", `2147483647`}, nil},
		{"CS-V5: progressDeadlineSeconds: 0", nil, []string{"progressDeadlineSeconds", `0`}, []string{"Invalid spec.progressDeadlineSeconds"}},
		{"CS-V5: progressDeadlineSeconds: negative", nil, []string{"progressDeadlineSeconds", `-1`, "minReadySeconds", `-5`}, []string{"Invalid spec.progressDeadlineSeconds"}},
		{"CS-V5: progressDeadlineSeconds: as minReadySeconds", nil, []string{"progressDeadlineSeconds", `30`, "minReadySeconds", `30`}, []string{"Invalid spec.progressDeadlineSeconds"}},
		{"CS-V5: progressDeadlineSeconds: more than minReadySeconds", nil, []string{"progressDeadlineSeconds", `31`, "minReadySeconds", `30`}, nil},

		{"partition: number", nil, []string{"updateStrategy", `{"partition":3}`}, nil},
		{"partition: more than replicas", nil, []string{"updateStrategy", `{"partition":300}`}, nil},
		{"partition: percentage", nil, []string{"updateStrategy", `{"partition":"50%"}`}, nil},
		{"partition: fraction of a percent", nil, []string{"updateStrategy", `{"partition":"12.5%"}`}, nil},
		{"CS-E17: partition of a string without %", nil, []string{"updateStrategy", `{"partition":"50"}`}, []string{"Invalid spec.updateStrategy.partition"}},
		{"partition: no number", nil, []string{"updateStrategy", `{"partition":"half"}`}, []string{"Invalid spec.updateStrategy.partition"}},
		{"partition: no number but %", nil, []string{"updateStrategy", `{"partition":"NaN%"}`}, []string{"Invalid spec.updateStrategy.partition"}},
		{"partition: negative", nil, []string{"updateStrategy", `{"partition":-1}`}, []string{"Invalid spec.updateStrategy.partition"}},
		{"partition: negative percentage", nil, []string{"updateStrategy", `{"partition":"-50%"}`}, []string{"Invalid spec.updateStrategy.partition"}},

		{"maxUnavailable: number", nil, []string{"updateStrategy", `{"maxUnavailable":1}`}, nil},
		{"maxUnavailable: percentage", nil, []string{"updateStrategy", `{"maxUnavailable":"1%"}`}, nil},
		{"CS-E17: maxUnavailable of a string without %", nil, []string{"updateStrategy", `{"maxUnavailable":"30"}`}, nil},
		{"maxUnavailable: fraction of a percent", nil, []string{"updateStrategy", `{"maxUnavailable":"12.5%"}`}, []string{"Invalid spec.updateStrategy.maxUnavailable"}},
		{"maxUnavailable: no number", nil, []string{"updateStrategy", `{"maxUnavailable":"some"}`}, []string{"Invalid spec.updateStrategy.maxUnavailable"}},
		{"maxSurge: number", nil, []string{"updateStrategy", `{"maxSurge":1}`}, nil},
		{"maxSurge: percentage", nil, []string{"updateStrategy", `{"maxSurge":"30%"}`}, nil},
		{"maxSurge: no number", nil, []string{"updateStrategy", `{"maxSurge":"some"}`}, []string{"Invalid spec.updateStrategy.maxSurge"}},
		{"maxSurge and maxUnavailable: no numbers", nil, []string{"updateStrategy", `{"maxSurge":"a","maxUnavailable":"b"}`},
			[]string{"Invalid spec.updateStrategy.maxSurge", "Invalid spec.updateStrategy.maxUnavailable"}},
		{"maxSurge and maxUnavailable: both 0", nil, []string{"updateStrategy", `{"maxSurge":0,"maxUnavailable":0}`}, []string{"Invalid spec.updateStrategy.maxUnavailable"}},
		{"maxSurge and maxUnavailable: both 0%", nil, []string{"updateStrategy", `{"maxSurge":"0%","maxUnavailable":"0%"}`}, []string{"Invalid spec.updateStrategy.maxUnavailable"}},
		{"maxUnavailable: 0 with surge by default", nil, []string{"updateStrategy", `{"maxUnavailable":0}`}, []string{"Invalid spec.updateStrategy.maxUnavailable"}},
		{"maxSurge: 0 with maxUnavailable by default", nil, []string{"updateStrategy", `{"maxSurge":0}`}, nil},
		{"maxUnavailable: 0 with surge rounded up", nil, []string{"updateStrategy", `{"maxUnavailable":0,"maxSurge":"1%"}`}, nil},
		{"maxSurge: InPlaceOnly", nil, []string{"updateStrategy", `{"type":"InPlaceOnly","maxSurge":1}`}, []string{"Invalid spec.updateStrategy.maxSurge"}},
		{"maxSurge: 0% with InPlaceOnly", nil, []string{"updateStrategy", `{"type":"InPlaceOnly","maxSurge":"0%"}`}, nil},
		{"paused", nil, []string{"updateStrategy", `{"paused":true}`}, nil},

		{"priorityStrategy: empty", nil, []string{"updateStrategy", `{"priorityStrategy":{}}`}, nil},
		{"priorityStrategy: weights", nil, []string{"updateStrategy", `{"priorityStrategy":{"weightPriority":[{"weight":0,"matchSelector":{"matchLabels":{"a":"b"}}},{"weight":100,"matchSelector":{"matchLabels":{"a":"c"}}}]}}`}, nil},
		{"priorityStrategy: weights out of range", nil, []string{"updateStrategy", `{"priorityStrategy":{"weightPriority":[{"weight":-1,"matchSelector":{"matchLabels":{"a":"b"}}},{"weight":101,"matchSelector":{"matchLabels":{"a":"c"}}}]}}`},
			[]string{"Invalid spec.updateStrategy.priorityStrategy.weightPriority[0].weight", "Invalid spec.updateStrategy.priorityStrategy.weightPriority[1].weight"}},
		{"priorityStrategy: empty selector", nil, []string{"updateStrategy", `{"priorityStrategy":{"weightPriority":[{"weight":1,"matchSelector":{}}]}}`},
			[]string{"Required spec.updateStrategy.priorityStrategy.weightPriority[0].matchSelector"}},
		{"priorityStrategy: invalid selector", nil, []string{"updateStrategy", `{"priorityStrategy":{"weightPriority":[{"weight":1,"matchSelector":{"matchExpressions":[{"key":"a","operator":"Like"}]}}]}}`},
			[]string{"Invalid spec.updateStrategy.priorityStrategy.weightPriority[0].matchSelector.matchExpressions[0].operator"}},
		{"priorityStrategy: order", nil, []string{"updateStrategy", `{"priorityStrategy":{"orderPriority":[{"orderedKey":"a"},{"orderedKey":"b"}]}}`}, nil},
		{"priorityStrategy: order without key", nil, []string{"updateStrategy", `{"priorityStrategy":{"orderPriority":[{"orderedKey":"a"},{"orderedKey":""}]}}`},
			[]string{"Required spec.updateStrategy.priorityStrategy.orderPriority[1].orderedKey"}},
		{"priorityStrategy: both", nil, []string{"updateStrategy", `{"priorityStrategy":{"orderPriority":[{"orderedKey":"a"}],"weightPriority":[{"weight":1,"matchSelector":{"matchLabels":{"a":"b"}}}]}}`},
			[]string{"Forbidden spec.updateStrategy.priorityStrategy"}},

		{"scatterStrategy: several values of a key", nil, []string{"updateStrategy", `{"scatterStrategy":[{"key":"a","value":"1"},{"key":"a","value":"2"},{"key":"b","value":""}]}`}, nil},
		{"scatterStrategy: no key", nil, []string{"updateStrategy", `{"scatterStrategy":[{"key":"","value":"1"}]}`}, []string{"Required spec.updateStrategy.scatterStrategy[0].key"}},
		{"scatterStrategy: duplicate", nil, []string{"updateStrategy", `{"scatterStrategy":[{"key":"a","value":"1"},{"key":"a","value":"1"}]}`}, []string{"Duplicate spec.updateStrategy.scatterStrategy[1]"}},

		{"inPlaceUpdateStrategy: not validated", nil, []string{"updateStrategy", `{"type":"InPlaceOnly","inPlaceUpdateStrategy":{"gracePeriodSeconds":-1}}`}, nil},
		{"minReadySeconds: not validated", nil, []string{"minReadySeconds", `-1`}, nil},
	})
}

func TestValidateCreateWithoutReplicas(t *testing.T) {
	set := validation.Demo(t, "replicas", `0`, "updateStrategy", `{"maxSurge":0,"maxUnavailable":0}`)
	if errs := cloneset.ValidateCreate(set); len(errs) > 0 {
		t.Errorf("maxSurge and maxUnavailable: both 0 with 0 replicas: %v", errs)
	}
}

func TestValidateUpdate(t *testing.T) {
	validation.CheckUpdate(t, []conformance.Invalid{
		{"everything else is mutable", nil, []string{"replicas", `3`, "template", strings.Replace(conformance.Template("", "", ""), "1.21", "1.22", 1),
			"updateStrategy", `{"type":"InPlaceIfPossible","partition":1,"maxSurge":1}`,
			"volumeClaimTemplates", `[{"metadata":{"name":"data"}}]`, "minReadySeconds", `5`, "revisionHistoryLimit", `1`, "lifecycle", `{}`}, nil},
		{"CS-E6: the partition can be raised back", []string{"updateStrategy", `{"partition":0}`}, []string{"updateStrategy", `{"partition":5}`}, nil},
	})
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
			set := validation.Demo(t, "scaleStrategy", `{"podsToDelete":["mine","`+tt.added+`"]}`)
			for name, old := range map[string]*v1alpha1.CloneSet{"newly added": validation.Demo(t), "added to others": validation.Demo(t, "scaleStrategy", `{"podsToDelete":["mine"]}`), "new set": nil} {
				got, err := cloneset.ValidatePodsToDelete(t.Context(), set, old, demoPods)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tt.want, conformance.Problems(got)); diff != "" {
					t.Errorf("%s (-want +got):\n%s", name, diff)
				}
			}
			got, err := cloneset.ValidatePodsToDelete(t.Context(), set, set, demoPods)
			if len(got) > 0 || err != nil {
				t.Errorf("CS-E9: a name that stays in the list: %v, %v", got, err)
			}
		})
	}
	if _, err := cloneset.ValidatePodsToDelete(t.Context(), validation.Demo(t, "scaleStrategy", `{"podsToDelete":["broken"]}`), nil, demoPods); err == nil {
		t.Error("a lookup that fails: want its error, got none")
	}
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
