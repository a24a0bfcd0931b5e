// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/simulation"
)

// Kinds of others: Widgets have a scale, and Gadgets have none.
var (
	widgets = schema.GroupVersionKind{Group: "shop.io", Version: "v1", Kind: "Widget"}
	gadgets = schema.GroupVersionKind{Group: "shop.io", Version: "v1", Kind: "Gadget"}
	jobs    = batchv1.SchemeGroupVersion.WithKind("Job")
)

// ownerResources are the resources of those who own pods.
func ownerResources() []simulation.Further {
	custom := func(kind schema.GroupVersionKind, name string) simulation.Further {
		return simulation.Further{Resource: fakecluster.CustomResource(kind, name), Empty: func() simulation.Object {
			object := &unstructured.Unstructured{}
			object.SetGroupVersionKind(kind)
			return object
		}}
	}
	return []simulation.Further{
		{Resource: others[2], Empty: func() simulation.Object { return &appsv1.Deployment{} }},
		{Resource: others[3], Empty: func() simulation.Object { return &appsv1.ReplicaSet{} }},
		custom(widgets, "widgets"), custom(gadgets, "gadgets"),
		{Resource: fakecluster.BuiltIn(jobs, "jobs", func() any { return &batchv1.Job{} }), Empty: func() simulation.Object { return &batchv1.Job{} }},
	}
}

// populateOwners creates a Deployment, and some of the other owners.
func populateOwners(u *simulation.User, r *rand.Rand) {
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
	d.Spec.Replicas, d.Spec.Template.Labels = new(1+r.Int32N(4)), map[string]string{"version": "1"}
	u.CreateObject("deployments", d)
	others := r.IntN(16)
	for i, kind := range []schema.GroupVersionKind{widgets, gadgets} {
		if others&(1<<i) != 0 {
			object := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"replicas": int64(1 + r.IntN(3))}}}
			object.SetGroupVersionKind(kind)
			object.SetName(map[string]string{"Widget": "widget", "Gadget": "gadget"}[kind.Kind])
			u.CreateObject(map[string]string{"Widget": "widgets", "Gadget": "gadgets"}[kind.Kind], object)
		}
	}
	if others&12 == 12 {
		u.CreateObject("jobs", &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "job"}, Spec: batchv1.JobSpec{Parallelism: new(int32(2))}})
	}
	if others&4 != 0 {
		u.CreatePod(static())
	}
	if others&8 != 0 {
		u.CreatePod(podOf("bare", "none", nil))
	}
}

// static is the mirror of a pod that a kubelet runs from a file.
func static() *corev1.Pod {
	pod := podOf("static", "none", &metav1.OwnerReference{APIVersion: "v1", Kind: "Node", Name: "n1", UID: "n1", Controller: new(true)})
	pod.Spec.NodeName, pod.Annotations = "n1", map[string]string{corev1.MirrorPodAnnotationKey: "hash-of-the-file"}
	return pod
}

// actOwners has owners of pods act, or their users.
func actOwners(u *simulation.User, r *rand.Rand) {
	switch n := r.IntN(12); {
	case n == 0:
		u.Patch("deployments", "web", fmt.Sprintf(`{"spec":{"replicas":%d}}`, r.IntN(5)))
	case n < 3:
		u.Patch("deployments", "web", fmt.Sprintf(`{"spec":{"template":{"metadata":{"labels":{"version":"%d"}}}}}`, 1+r.IntN(3)))
	case n == 3 && len(u.Objects("widgets")) > 0:
		u.Patch("widgets", "widget", fmt.Sprintf(`{"spec":{"replicas":%d}}`, r.IntN(4)))
	case n == 4:
		name := []string{"static", "bare"}[r.IntN(2)]
		if pod := static(); !has(u, name) && name == "static" {
			u.CreatePod(pod)
		} else if !has(u, name) {
			u.CreatePod(podOf("bare", "none", nil))
		}
	default:
		playOwners(u, u.Insist)
	}
}

func has(u *simulation.User, name string) bool {
	return slices.ContainsFunc(u.Pods(), func(pod *corev1.Pod) bool { return pod.Name == name })
}

// playOwners has all owners do one thing each: they create a pod that they miss, or take down those that are too many.
func playOwners(u *simulation.User, down func(*corev1.Pod)) {
	for _, d := range u.Objects("deployments") {
		roll(u, d.(*appsv1.Deployment), down)
	}
	for _, resource := range []string{"widgets", "gadgets"} {
		for _, object := range u.Objects(resource) {
			object := object.(*unstructured.Unstructured)
			wants, _, _ := unstructured.NestedInt64(object.Object, "spec", "replicas") // it is always there
			fill(u, object, object.GroupVersionKind(), int(wants), 1, down)
		}
	}
	for _, job := range u.Objects("jobs") {
		fill(u, job, jobs, 2, 1, down)
	}
}

// wantedOf is how many pods an owner wants, or all owners together, when the Deployment wants 3.
func wantedOf(u *simulation.User, owner string) (n int) {
	for _, resource := range []string{"deployments", "widgets", "gadgets", "jobs"} {
		for _, object := range u.Objects(resource) {
			switch custom, is := object.(*unstructured.Unstructured); {
			case owner != "" && owner != object.GetName():
			case is:
				wants, _, _ := unstructured.NestedInt64(custom.Object, "spec", "replicas") // it is always there
				n += int(wants)
			case resource == "jobs":
				n += 2
			default:
				n += 3
			}
		}
	}
	return n
}

// activeOf are the active pods of an owner, those that do not serve first.
func activeOf(u *simulation.User, owner simulation.Object) (pods []*corev1.Pod) {
	for _, pod := range u.Pods() {
		if metav1.IsControlledBy(pod, owner) && simulation.Active(pod) {
			pods = append(pods, pod)
		}
	}
	slices.SortStableFunc(pods, func(a, b *corev1.Pod) int {
		serves := map[bool]int{true: 1}
		return cmp.Compare(serves[simulation.Ready(a)], serves[simulation.Ready(b)])
	})
	return pods
}

// fill has an owner have so many pods. It creates one if pods are missing and there may be more, and takes down those that are too many.
func fill(u *simulation.User, owner simulation.Object, kind schema.GroupVersionKind, wants, most int, down func(*corev1.Pod)) {
	pods := activeOf(u, owner)
	if len(pods) > wants {
		for _, pod := range pods[:len(pods)-wants] {
			down(pod)
		}
		return
	}
	label := owner.GetName()
	if kind.Kind == "ReplicaSet" {
		label = "web"
	}
	for i := 0; most > 0 && len(pods) < wants && i < wants+4; i++ {
		if name := fmt.Sprint(owner.GetName(), "-", i); !has(u, name) {
			u.CreatePod(podOf(name, label, metav1.NewControllerRef(owner, kind)))
			return
		}
	}
}

// roll goes on with the rollout of a Deployment, by one pod beyond what it wants. The ReplicaSet of its template grows, and those before
// shrink by as many pods as others serve.
func roll(u *simulation.User, d *appsv1.Deployment, down func(*corev1.Pod)) {
	var current *appsv1.ReplicaSet
	var older []*appsv1.ReplicaSet
	all, version := 0, d.Spec.Template.Labels["version"]
	for _, object := range u.Objects("replicasets") {
		rs := object.(*appsv1.ReplicaSet)
		if all += len(activeOf(u, rs)); rs.Labels["version"] == version {
			current = rs
		} else {
			older = append(older, rs)
		}
	}
	if current == nil {
		rs := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Name: "web-" + version, Labels: map[string]string{"version": version},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(d, appsv1.SchemeGroupVersion.WithKind("Deployment"))}}}
		rs.Spec.Replicas = new(int32)
		u.CreateObject("replicasets", rs)
		return
	}
	scale := func(rs *appsv1.ReplicaSet, to int) {
		if int(*rs.Spec.Replicas) != to {
			u.Patch("replicasets", rs.Name, fmt.Sprintf(`{"spec":{"replicas":%d}}`, to))
		}
		fill(u, rs, appsv1.SchemeGroupVersion.WithKind("ReplicaSet"), to, int(*d.Spec.Replicas)+1-all, down)
	}
	serve := 0
	for _, pod := range activeOf(u, current) {
		if simulation.Ready(pod) {
			serve++
		}
	}
	left := max(int(*d.Spec.Replicas)-serve, 0) // of the older ones
	for _, rs := range older {
		has := min(len(activeOf(u, rs)), left)
		left -= has
		scale(rs, has)
	}
	scale(current, int(*d.Spec.Replicas))
}
