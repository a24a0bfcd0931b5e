// SPDX-License-Identifier: Apache-2.0

package podstate_test

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/distribution/podstate"
	"github.com/podwright/podwright/distribution/v1alpha1"
)

const (
	host = "kubernetes.io/hostname"
	zone = "topology.kubernetes.io/zone"
)

var start = time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)

func after(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }

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

func prefers(weight int32, keys ...string) func(*v1alpha1.PersistentPodState) {
	return func(s *v1alpha1.PersistentPodState) {
		s.Spec.PreferredPersistentTopology = append(s.Spec.PreferredPersistentTopology,
			v1alpha1.PreferredTopologyTerm{Weight: weight, Preference: v1alpha1.NodeTopologyTerm{NodeTopologyKeys: keys}})
	}
}

// newPod is a pod of the StatefulSet web, ready on a node; waiting without one if that is empty.
func newPod(name, node string, changes ...func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: name, UID: types.UID("uid-" + name), CreationTimestamp: metav1.NewTime(start),
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps.kruise.io/v1alpha1", Kind: "StatefulSet", Name: "web", UID: "web", Controller: ptr.To(true)}},
		},
		Spec: corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "main", Image: "nginx:1"}}},
	}
	if node != "" {
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	}
	for _, change := range changes {
		change(pod)
	}
	return pod
}

// newNode is a node whose zone is named after the first letter of its name.
func newNode(name string, changes ...func(*corev1.Node)) *corev1.Node {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{host: name, zone: "zone-" + name[:1]}}}
	for _, change := range changes {
		change(node)
	}
	return node
}

func newNodes(names ...string) *podstate.Nodes {
	var nodes []*corev1.Node
	for _, name := range names {
		nodes = append(nodes, newNode(name))
	}
	return podstate.NewNodes(nodes)
}

// newWorkload is the StatefulSet web.
func newWorkload(replicas int32, changes ...func(*podstate.Workload)) *podstate.Workload {
	w := &podstate.Workload{
		GroupVersionKind: schema.GroupVersionKind{Group: "apps.kruise.io", Version: "v1beta1", Kind: "StatefulSet"},
		Namespace:        "shop", Name: "web", UID: "web", Replicas: &replicas,
	}
	for _, change := range changes {
		change(w)
	}
	return w
}

func podsOf(count int, node func(i int) string) (pods []*corev1.Pod) {
	for i := range count {
		pods = append(pods, newPod(fmt.Sprintf("web-%d", i), node(i)))
	}
	return pods
}
