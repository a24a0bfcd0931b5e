// SPDX-License-Identifier: Apache-2.0

package statefulset_test

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
	"github.com/podwright/podwright/workloads/statefulset"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// Twenty lines add StatefulSets to a program that has a *rest.Config.
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
		controller, err := statefulset.New(statefulset.Options{Kubernetes: kube, Workloads: workloads})
		if err != nil {
			return err
		}
		return controller.Run(ctx) // until ctx is done
	}
	_ = run
}

// A plan says what happens next, and why the rest waits, without any cluster.
func ExampleNewPlan() {
	replicas, partition, unavailable := int32(4), int32(1), intstr.FromInt32(2)
	set := &v1beta1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: "db", Namespace: "default", UID: "1"},
		Spec: v1beta1.StatefulSetSpec{
			Replicas:            &replicas,
			ServiceName:         "db",
			PodManagementPolicy: "Parallel",
			Selector:            &metav1.LabelSelector{MatchLabels: map[string]string{"app": "db"}},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "db"}},
				Spec: corev1.PodSpec{
					Containers:     []corev1.Container{{Name: "main", Image: "postgres:17"}},
					ReadinessGates: []corev1.PodReadinessGate{{ConditionType: "InPlaceUpdateReady"}},
				},
			},
			UpdateStrategy: v1beta1.StatefulSetUpdateStrategy{RollingUpdate: &v1beta1.RollingUpdateStatefulSetStrategy{
				PodUpdatePolicy: v1beta1.InPlaceIfPossiblePodUpdateStrategyType,
				Partition:       &partition,
				MaxUnavailable:  &unavailable,
			}},
		},
	}
	snapshot := &statefulset.Snapshot{Set: set, Now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}

	plan := statefulset.NewPlan(snapshot)
	for _, create := range plan.Create {
		fmt.Println("create", create.Pod.Name, "at", plan.Revisions.Update.Name)
	}

	// The four pods run, and the image changes.
	snapshot.Revisions = append(snapshot.Revisions, plan.Revisions.Create)
	set.Status = *plan.Status
	for _, created := range plan.Create {
		pod := created.Pod
		pod.Status.Phase = corev1.PodRunning
		for _, t := range []corev1.PodConditionType{"InPlaceUpdateReady", "KruisePodReady", corev1.PodReady} {
			pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: t, Status: corev1.ConditionTrue})
		}
		snapshot.Pods = append(snapshot.Pods, pod)
	}
	set.Spec.Template.Spec.Containers[0].Image = "postgres:18"

	fmt.Println(statefulset.NewPlan(snapshot))
	// Output:
	// create db-0 at db-8c6b8774
	// create db-1 at db-8c6b8774
	// create db-2 at db-8c6b8774
	// create db-3 at db-8c6b8774
	// current revision db-8c6b8774, update revision db-69df475667
	// create revision db-69df475667 (2)
	// patch pod db-2 (UpdateInPlace)
	// patch pod db-3 (UpdateInPlace)
	// wait db-0: partition 1: pods with a lower ordinal stay at their revision
	// wait db-1: maxUnavailable 2: as many pods before this one are not available
	// write the status: 4 replicas, 4 ready, 4 available, 0 updated
}

// Where do the pods go when an ordinal is reserved? The pod of that ordinal is
// deleted, and one of the next ordinal is created in its stead.
func ExampleNewPlan_reserveOrdinals() {
	replicas := int32(3)
	set := &v1beta1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: "db", Namespace: "default", UID: "1"},
		Spec: v1beta1.StatefulSetSpec{
			Replicas:            &replicas,
			ReserveOrdinals:     []int{1},
			PodManagementPolicy: "Parallel",
			Selector:            &metav1.LabelSelector{MatchLabels: map[string]string{"app": "db"}},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "db"}},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "postgres:17"}}},
			},
		},
	}
	for _, create := range statefulset.NewPlan(&statefulset.Snapshot{Set: set, Now: time.Now()}).Create {
		fmt.Println(create.Pod.Name)
	}
	// Output:
	// db-0
	// db-2
	// db-3
}

// A Reconciler on the caches of another framework, which calls Reconcile, and is
// asked what would happen to a live StatefulSet if partition were 2.
func ExampleNewReconciler() {
	whatIf := func(kube kubernetes.Interface, workloads client.Interface, reader podwright.Reader, key types.NamespacedName) (*statefulset.Plan, error) {
		r, err := statefulset.NewReconciler(statefulset.Options{
			ControllerOptions: podwright.ControllerOptions{Reader: reader}, Kubernetes: kube, Workloads: workloads})
		if err != nil {
			return nil, err
		}
		snapshot, err := r.Snapshot(context.Background(), key)
		if snapshot == nil || err != nil {
			return nil, err
		}
		set := snapshot.Set.DeepCopy() // what is in the snapshot is shared with the caches
		partition := int32(2)
		set.Spec.UpdateStrategy.RollingUpdate = &v1beta1.RollingUpdateStatefulSetStrategy{Partition: &partition}
		snapshot.Set = set
		return statefulset.NewPlan(snapshot), nil
	}
	_ = whatIf
}

func ExampleDefault() {
	set := &v1beta1.StatefulSet{}
	statefulset.Default(set, nil, statefulset.DefaultOptions{})
	fmt.Println(*set.Spec.Replicas, set.Spec.PodManagementPolicy, set.Spec.UpdateStrategy.RollingUpdate.MaxUnavailable, set.Spec.PersistentVolumeClaimRetentionPolicy.WhenDeleted)
	// Output: 1 OrderedReady 1 Retain
}
