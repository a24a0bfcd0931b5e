// SPDX-License-Identifier: Apache-2.0

package cloneset_test

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/cloneset"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// Twenty lines add CloneSets to a program that has a *rest.Config.
func ExampleNew() {
	run := func(ctx context.Context, config *rest.Config) error {
		config = rest.CopyConfig(config)
		config.QPS = -1 // the API server shares itself out fairly
		workloads, err := client.NewForConfig(config)
		if err != nil {
			return err
		}
		config.ContentType = "application/vnd.kubernetes.protobuf"
		kube, err := kubernetes.NewForConfig(config)
		if err != nil {
			return err
		}
		controller, err := cloneset.New(cloneset.Options{Kubernetes: kube, Workloads: workloads})
		if err != nil {
			return err
		}
		return controller.Run(ctx) // until ctx is done
	}
	_ = run
}

// A plan says what happens next, and why the rest waits, without any cluster.
func ExampleNewPlan() {
	replicas, partition, unavailable := int32(4), intstr.FromString("25%"), intstr.FromInt32(2)
	set := &v1alpha1.CloneSet{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default", UID: "1"},
		Spec: v1alpha1.CloneSetSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx:1.27"}}},
			},
			UpdateStrategy: v1alpha1.CloneSetUpdateStrategy{
				Type:           v1alpha1.InPlaceIfPossibleCloneSetUpdateStrategyType,
				Partition:      &partition,
				MaxUnavailable: &unavailable,
			},
		},
	}
	snapshot := &cloneset.Snapshot{Set: set, Now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}

	plan := cloneset.NewPlan(snapshot)
	fmt.Println("no pods yet: create", len(plan.Create), "at", plan.Revisions.Update.Name)

	// The four pods run, and the image changes.
	snapshot.Revisions = append(snapshot.Revisions, plan.Revisions.Create)
	set.Status = *plan.Status
	for i, created := range plan.Create {
		pod := created.Pod
		pod.Name = fmt.Sprintf("web-%d", i+1)
		pod.Labels["lifecycle.apps.kruise.io/state"] = "Normal"
		pod.Status.Phase = corev1.PodRunning
		for _, t := range []corev1.PodConditionType{"InPlaceUpdateReady", "KruisePodReady", corev1.PodReady} {
			pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: t, Status: corev1.ConditionTrue})
		}
		snapshot.Pods = append(snapshot.Pods, pod)
	}
	set.Spec.Template.Spec.Containers[0].Image = "nginx:1.28"

	plan = cloneset.NewPlan(snapshot)
	for _, patch := range plan.Patch {
		fmt.Println(patch.Pod.Name, patch.Kind, patch.Patch.Images)
	}
	fmt.Println(plan)
	// Output:
	// no pods yet: create 4 at web-6ccb45c46b
	// web-1 UpdateInPlace map[main:nginx:1.28]
	// web-2 UpdateInPlace map[main:nginx:1.28]
	// current revision web-6ccb45c46b, update revision web-6584df684c
	// create revision web-6584df684c (2)
	// patch pod web-1 (UpdateInPlace)
	// patch pod web-2 (UpdateInPlace)
	// wait web-3: maxUnavailable 2: 2 pods are updated now
	// wait web-4: partition 1: 1 pod stays at the old revision
	// write the status: 4 replicas, 4 ready, 4 available, 0 updated
}

// A Reconciler on the caches of another framework, which calls Reconcile, and is
// asked what would happen to a live CloneSet if partition were 50 %.
func ExampleNewReconciler() {
	whatIf := func(kube kubernetes.Interface, workloads client.Interface, reader podwright.Reader, key types.NamespacedName) (*cloneset.Plan, error) {
		r, err := cloneset.NewReconciler(cloneset.Options{
			ControllerOptions: podwright.ControllerOptions{Reader: reader}, Kubernetes: kube, Workloads: workloads})
		if err != nil {
			return nil, err
		}
		snapshot, err := r.Snapshot(context.Background(), key)
		if snapshot == nil || err != nil {
			return nil, err
		}
		set := snapshot.Set.DeepCopy() // what is in the snapshot is shared with the caches
		partition := intstr.FromString("50%")
		set.Spec.UpdateStrategy.Partition = &partition
		snapshot.Set = set
		return cloneset.NewPlan(snapshot), nil
	}
	_ = whatIf
}

func ExampleDefault() {
	set := &v1alpha1.CloneSet{}
	set.Spec.UpdateStrategy.Type = v1alpha1.InPlaceIfPossibleCloneSetUpdateStrategyType
	cloneset.Default(set, nil, cloneset.DefaultOptions{})
	fmt.Println(*set.Spec.Replicas, set.Spec.UpdateStrategy.MaxUnavailable, set.Spec.Template.Spec.RestartPolicy)
	// Output: 1 20% Always
}

// What a role for the controller has to allow, by the options that it runs with.
func ExampleRules() {
	for _, rule := range cloneset.Rules(cloneset.Options{NoNodes: true, Features: cloneset.Features{InPlaceResize: true}}) {
		fmt.Println(rule.APIGroups[0], rule.Resources[0], rule.Verbs)
	}
	// Output:
	// apps.kruise.io clonesets [list watch patch]
	// apps.kruise.io clonesets/status [patch]
	// apps.kruise.io clonesets/finalizers [update]
	//  pods [get list watch create patch delete]
	//  pods/status [patch]
	//  persistentvolumeclaims [get list watch create patch delete]
	// apps controllerrevisions [get list watch create patch delete]
	//  pods/resize [patch]
}
