// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/workloads/v1alpha1"
)

var testTime = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

type podEdit func(*corev1.Pod)

// testPod is an available pod of the set with the UID set.
func testPod(name, revision string, edits ...podEdit) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, UID: types.UID("uid-" + name),
			Labels: map[string]string{"app": "web", revisionLabel: "web-" + revision,
				v1alpha1.CloneSetInstanceIDLabel: name[len("web-"):], appsv1.StatefulSetPodNameLabel: name, appsv1.PodIndexLabel: name[len("web-"):]},
			OwnerReferences: []metav1.OwnerReference{{Kind: "Set", Name: "web", UID: "set", Controller: ptr.To(true)}},
		},
		Spec: corev1.PodSpec{NodeName: "node", Hostname: name, Containers: []corev1.Container{{Name: "main", Image: "nginx:" + revision}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{
			{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(testTime.Add(-time.Minute))}}},
	}
	for _, edit := range edits {
		edit(pod)
	}
	return pod
}

func notReady(p *corev1.Pod) { p.Status.Conditions[0].Status = corev1.ConditionFalse }
func disowned(p *corev1.Pod) { p.OwnerReferences = nil }
func failed(p *corev1.Pod)   { p.Status.Phase = corev1.PodFailed }
func going(p *corev1.Pod)    { p.DeletionTimestamp = &metav1.Time{Time: testTime} }
func replaced(p *corev1.Pod) { p.UID = "another"; p.OwnerReferences = nil }

func labelled(key, value string) podEdit {
	return func(p *corev1.Pod) { p.Labels[key] = value }
}

// at returns the pod in another state, as a write leaves it.
func at(pod *corev1.Pod, edits ...podEdit) *corev1.Pod {
	pod = pod.DeepCopy()
	for _, edit := range edits {
		edit(pod)
	}
	return pod
}

// testRevision is a revision of the template of an image.
func testRevision(n int64, revision string) *appsv1.ControllerRevision {
	return &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{Name: "web-" + revision, Labels: map[string]string{"app": "web"}}, Revision: n,
		Data: runtime.RawExtension{Raw: []byte(`{"spec":{"template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"main","image":"nginx:` + revision + `"}]}}}}`)},
	}
}

// testState is what there is: a set of the template b, updated from a, and pods.
func testState(set Object, pods ...*corev1.Pod) *State {
	s := &State{Now: testTime, Workload: set, Pods: map[string]*corev1.Pod{}, Claims: map[string]*corev1.PersistentVolumeClaim{},
		Revisions: map[string]*appsv1.ControllerRevision{"web-a": testRevision(1, "a"), "web-b": testRevision(2, "b")}}
	for _, pod := range pods {
		s.Pods[pod.Name] = pod
	}
	return s
}

// testTemplate is the template of revision b.
var testTemplate = imageTemplate("b")

func imageTemplate(revision string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx:" + revision}}},
	}
}

// youngFor makes a pod ready for so many seconds.
func youngFor(seconds int) podEdit {
	return func(p *corev1.Pod) {
		p.Status.Conditions[0].LastTransitionTime = metav1.NewTime(testTime.Add(-time.Duration(seconds) * time.Second))
	}
}
