// SPDX-License-Identifier: Apache-2.0

package podstate_test

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/distribution/podstate"
	"github.com/podwright/podwright/distribution/v1alpha1"
)

const (
	host = "kubernetes.io/hostname"
	zone = "topology.kubernetes.io/zone"
)

var start = time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)

// newState is a PersistentPodState of the StatefulSet web.
func newState(changes ...func(*v1alpha1.PersistentPodState)) *v1alpha1.PersistentPodState {
	s := &v1alpha1.PersistentPodState{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", Generation: 3},
		Spec: v1alpha1.PersistentPodStateSpec{
			TargetReference: v1alpha1.TargetReference{APIVersion: "apps.kruise.io/v1beta1", Kind: "StatefulSet", Name: "web"},
		},
	}
	for _, change := range changes {
		change(s)
	}
	return s
}

func requires(keys ...string) func(*v1alpha1.PersistentPodState) {
	return func(s *v1alpha1.PersistentPodState) {
		s.Spec.RequiredPersistentTopology = &v1alpha1.NodeTopologyTerm{NodeTopologyKeys: keys}
	}
}

// newPod is a pod of the StatefulSet web, ready on a node; waiting without one if that is empty.
func newPod(name, node string) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: name, UID: types.UID("uid-" + name), CreationTimestamp: metav1.NewTime(start),
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps.kruise.io/v1alpha1", Kind: "StatefulSet", Name: "web", UID: "web", Controller: new(true)}},
		},
		Spec: corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "main", Image: "nginx:1"}}},
	}
	if node != "" {
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	}
	return pod
}

// newNode is a node whose zone is named after the first letter of its name.
func newNode(name string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{host: name, zone: "zone-" + name[:1]}}}
}

func newNodes(names ...string) *podstate.Nodes {
	var nodes []*corev1.Node
	for _, name := range names {
		nodes = append(nodes, newNode(name))
	}
	return podstate.NewNodes(nodes)
}

// newWorkload is the StatefulSet web.
func newWorkload(replicas int32) *podstate.Workload {
	return &podstate.Workload{
		GroupVersionKind: schema.GroupVersionKind{Group: "apps.kruise.io", Version: "v1beta1", Kind: "StatefulSet"},
		Namespace:        "shop", Name: "web", UID: "web", Replicas: &replicas,
	}
}

// manyPods are pods each of which runs on a node of its own.
func manyPods(count int, nodeName string) (pods []*corev1.Pod, _ *podstate.Nodes) {
	var nodes []*corev1.Node
	for i := range count {
		node := newNode(fmt.Sprintf(nodeName, i))
		nodes, pods = append(nodes, node), append(pods, newPod(fmt.Sprint("web-", i), node.Name))
	}
	return pods, podstate.NewNodes(nodes)
}
