package main

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/inplace/revision"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// world is a workload of a kind and what belongs to it, as an observer sees it.
type world struct {
	kind   *kind
	object metav1.Object
	belongings
}

// newWorld is at rest: all pods are ready and come from the manifest.
func newWorld(t *testing.T, k *kind) *world {
	w := &world{kind: k, object: decode(t, k, k.manifest)}
	w.now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	w.object.SetNamespace("demo")
	w.object.SetUID("uid-web")
	w.setImage(oldImage)
	for i := range replicas {
		w.pods = append(w.pods, w.newPod(fmt.Sprint(setName, "-", i)))
	}
	return w
}

// decode reads an object of a kind, and wants to know every field.
func decode(t *testing.T, k *kind, data []byte) metav1.Object {
	t.Helper()
	objects := map[string]metav1.Object{"CloneSet": &v1alpha1.CloneSet{}, "StatefulSet": &v1beta1.StatefulSet{}}
	if err := yaml.UnmarshalStrict(data, objects[k.name]); err != nil {
		t.Fatalf("%s: %v", k.name, err)
	}
	return objects[k.name]
}

// parts are what kinds have in common, by other names.
type parts struct {
	replicas *int32
	template *corev1.PodTemplateSpec
	current  *string
}

func (w *world) parts() parts {
	switch object := w.object.(type) {
	case *v1alpha1.CloneSet:
		return parts{object.Spec.Replicas, &object.Spec.Template, &object.Status.CurrentRevision}
	case *v1beta1.StatefulSet:
		return parts{object.Spec.Replicas, &object.Spec.Template, &object.Status.CurrentRevision}
	}
	return parts{}
}

func (w *world) observe() *state { return w.kind.observe(w.object, w.belongings) }

// setImage changes the template. Its revision is there as well; the first one is
// the one that pods come from.
func (w *world) setImage(image string) {
	w.parts().template.Spec.Containers[0].Image = image
	update := w.observe().update
	w.revisions = append(w.revisions, update)
	*w.parts().current = w.revisions[0].Name
}

// pod returns a pod, to be changed.
func (w *world) pod(name string) *corev1.Pod {
	for _, pod := range w.pods {
		if pod.Name == name {
			return pod
		}
	}
	return nil
}

// newPod is a ready pod of the present template.
func (w *world) newPod(name string) *corev1.Pod {
	controller, image, update := true, w.parts().template.Spec.Containers[0].Image, w.observe().update.Name
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "demo", Name: name, UID: types.UID("uid-" + name),
			Labels: map[string]string{
				"app": "web", "controller-revision-hash": update, "pod-template-hash": revision.ShortHash(update),
				"statefulset.kubernetes.io/pod-name": name, "lifecycle.apps.kruise.io/state": "Normal",
			},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: w.kind.resource.GroupVersion().String(), Kind: w.kind.name, Name: setName, UID: "uid-web", Controller: &controller,
			}},
		},
		Spec: corev1.PodSpec{NodeName: "node-0", Containers: []corev1.Container{{Name: container, Image: image}}},
		Status: corev1.PodStatus{
			Phase: corev1.PodRunning, PodIP: "10.0.0.1",
			ContainerStatuses: []corev1.ContainerStatus{{Name: container, Image: image}},
		},
	}
	setCondition(pod, corev1.PodReady, corev1.ConditionTrue)
	setCondition(pod, inplacev1alpha1.InPlaceUpdateReady, corev1.ConditionTrue)
	return pod
}
