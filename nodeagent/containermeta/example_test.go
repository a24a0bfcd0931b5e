// SPDX-License-Identifier: Apache-2.0

package containermeta_test

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/utils/ptr"

	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/nodeagent"
	"github.com/podwright/podwright/nodeagent/containermeta"
)

// A plan says what a reconcile would do about a pod, and why not more. This one is made
// in the middle of an in-place update, two seconds after the label has changed.
func ExampleNewPlan() {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "web-0", Labels: map[string]string{"version": "2"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps.kruise.io/v1alpha1", Kind: "CloneSet", Name: "web", Controller: ptr.To(true)}},
			Annotations: map[string]string{inplacev1alpha1.RuntimeContainersMetaAnnotation: `{"containers":[
				{"name":"main","containerID":"containerd://4fa6","restartCount":0,"hashes":{"plainHash":877854714,"extractedEnvFromMetadataHash":143497458}}]}`},
		},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx:1.0", Env: []corev1.EnvVar{{
			Name: "A", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.labels['version']"}},
		}}}}},
		Status: corev1.PodStatus{
			Conditions:        []corev1.PodCondition{{Type: inplacev1alpha1.InPlaceUpdateReady, Status: corev1.ConditionFalse}},
			ContainerStatuses: []corev1.ContainerStatus{{Name: "main", ContainerID: "containerd://4fa6"}},
		},
	}

	plan := containermeta.NewPlan(&containermeta.Snapshot{
		Pod: pod, Runtime: "containerd", Now: now,
		Containers: []*criv1.Container{{
			Id: "4fa6", State: criv1.ContainerState_CONTAINER_RUNNING,
			Labels: map[string]string{nodeagent.ContainerNameLabel: "main"},
		}},
		Attempts: map[string]containermeta.Attempt{"4fa6": {Last: now.Add(-2 * time.Second)}},
	})

	fmt.Println("to report:", plan.Report, "to stop now:", plan.Restarts)
	for _, waiting := range plan.Waiting {
		fmt.Printf("%s: %s\n", waiting.Name, waiting.Reason)
	}
	// Output:
	// to report: <nil> to stop now: []
	// main: it is restarted in 1s, since its environment comes from labels or annotations that have changed; 0 tries so far
}

// All that it takes to report the containers of a node.
func ExampleNew() {
	run := func(ctx context.Context, config *rest.Config, node string) error {
		kube, err := kubernetes.NewForConfig(config)
		if err != nil {
			return err
		}
		runtime, err := nodeagent.Dial(ctx, "unix:///run/containerd/containerd.sock")
		if err != nil {
			return err
		}
		defer runtime.Close()
		controller, err := containermeta.New(containermeta.Options{Kubernetes: kube, Runtime: runtime, Node: node})
		if err != nil {
			return err
		}
		return controller.Run(ctx)
	}
	_ = run
}
