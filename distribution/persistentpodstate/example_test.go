// SPDX-License-Identifier: Apache-2.0

package persistentpodstate_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/distribution/persistentpodstate"
	"github.com/podwright/podwright/distribution/podstate"
	"github.com/podwright/podwright/distribution/v1alpha1"
)

// Keep PersistentPodStates of StatefulSets from a program of your own.
func ExampleNew() {
	config, err := rest.InClusterConfig()
	if err != nil {
		fmt.Println(err)
		return
	}
	distribution, err := client.NewForConfig(config)
	if err != nil {
		fmt.Println(err)
		return
	}
	controller, err := persistentpodstate.New(persistentpodstate.Options{
		Kubernetes: kubernetes.NewForConfigOrDie(config), Distribution: distribution,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := controller.Run(context.Background()); err != nil {
		fmt.Println(err)
	}
}

// What a PersistentPodState comes to once its pod is ready, and what its controller does.
func ExampleNewPlan() {
	fmt.Println(persistentpodstate.NewPlan(&persistentpodstate.Snapshot{
		State: &v1alpha1.PersistentPodState{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"},
			Spec: v1alpha1.PersistentPodStateSpec{
				TargetReference:            v1alpha1.TargetReference{APIVersion: "apps/v1", Kind: "StatefulSet", Name: "web"},
				RequiredPersistentTopology: &v1alpha1.NodeTopologyTerm{NodeTopologyKeys: []string{"kubernetes.io/hostname"}},
			},
			Status: v1alpha1.PersistentPodStateStatus{PodStates: map[string]v1alpha1.PodState{"web-3": {NodeName: "node-3"}}},
		},
		Workload: &podstate.Workload{Name: "web", Replicas: ptr.To(int32(1))},
		Pods: []*corev1.Pod{{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-0"}, Spec: corev1.PodSpec{NodeName: "node-1"},
			Status: corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}},
		}},
		Nodes: []*corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "node-1", Labels: map[string]string{"kubernetes.io/hostname": "node-1"}}}},
	}))
	// Output:
	// status: 1 pods, 0 lost
	// record web-0 on node-1
	// drop web-3
}
