// SPDX-License-Identifier: Apache-2.0

package persistentpodstate

import (
	"fmt"
	"math/rand/v2"
	"slices"

	admissionv1 "k8s.io/api/admission/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/internal/testing/simulation"
)

// targets is the resource of the workload whose pods are played.
const targets = "statefulsets"

// createSet creates the StatefulSet.
func createSet(u *simulation.User, r *rand.Rand) {
	set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default"}}
	set.Spec.Replicas = new(1 + r.Int32N(4))
	set.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	set.Spec.Template = corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx:1"}}}}
	u.CreateObject(targets, set)
}

// runSet has a model of the controller of the StatefulSet create the pods that are missing, about which the webhook is
// asked. The model also deletes pods that are too many, that have ended, or that want another node than the template.
func runSet(u *simulation.User) {
	objects := u.Objects(targets)
	if len(objects) == 0 || objects[0].GetDeletionTimestamp() != nil {
		return
	}
	set := objects[0].(*appsv1.StatefulSet)
	start := int32(0)
	if set.Spec.Ordinals != nil {
		start = set.Spec.Ordinals.Start
	}
	wants := ptr.Deref(set.Spec.Replicas, 1)
	for _, pod := range u.Pods() {
		if !metav1.IsControlledBy(pod, set) || pod.DeletionTimestamp != nil {
			continue
		}
		ordinal := int32(simulation.Ordinal(pod))
		own := pod.Annotations["own-ring"]
		if ordinal < start || ordinal >= start+wants || !simulation.Active(pod) || own != set.Spec.Template.Spec.NodeSelector[simulation.Ring] {
			u.DeletePod(pod.Name, nil)
		}
	}
	for ordinal := start; ordinal < start+wants; ordinal++ {
		name := fmt.Sprint("web-", ordinal)
		if slices.ContainsFunc(u.Pods(), func(pod *corev1.Pod) bool { return pod.Name == name }) {
			continue
		}
		pod := &corev1.Pod{ObjectMeta: *set.Spec.Template.ObjectMeta.DeepCopy(), Spec: *set.Spec.Template.Spec.DeepCopy()}
		pod.Name, pod.Namespace, pod.OwnerReferences = name, set.Namespace, []metav1.OwnerReference{*metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("StatefulSet"))}
		if own := pod.Spec.NodeSelector[simulation.Ring]; own != "" {
			pod.Annotations = map[string]string{"own-ring": own}
		}
		if response := u.Admit(&admissionv1.AdmissionRequest{Operation: admissionv1.Create, Namespace: set.Namespace, Object: runtime.RawExtension{Object: pod}}); response.Allowed {
			u.CreatePod(pod)
		}
	}
}
