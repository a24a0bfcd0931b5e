// SPDX-License-Identifier: Apache-2.0

package inplace_test

import (
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace"
	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/inplace/revision"
	"github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/testing/patches"
)

// start is when updates begin in tests.
func start() time.Time { return time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC) }

func after(seconds int) time.Time { return start().Add(time.Duration(seconds) * time.Second) }

// words change templates and pods.
var words = patches.Read("testdata/words.yaml", start())

// template returns a template of the containers c1, c2 and c3 with images
// c1:1, c2:1 and c3:1, a label k=v and an annotation a=b. Words change it.
func template(changes ...string) *corev1.PodTemplateSpec {
	t := &corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{
		Labels:      map[string]string{"app": "demo", "k": "v"},
		Annotations: map[string]string{"a": "b"},
	}}
	for _, name := range []string{"c1", "c2", "c3"} {
		t.Spec.Containers = append(t.Spec.Containers, corev1.Container{Name: name, Image: name + ":1"})
	}
	return patches.Changed(words, t, changes...)
}

func rev(t testing.TB, name string, template *corev1.PodTemplateSpec) *appsv1.ControllerRevision {
	t.Helper()
	data, err := revision.Data(template)
	if err != nil {
		t.Fatal(err)
	}
	return raw(name, data)
}

func calculate(t testing.TB, from, to *corev1.PodTemplateSpec) *inplace.Update {
	t.Helper()
	u, obstacles, err := inplace.Calculate(rev(t, "demo-old", from), rev(t, "demo-new", to), inplace.CalculateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if u == nil {
		t.Fatal("not possible in place: ", obstacles)
	}
	return u
}

// running returns a pod of the template that runs well and has the readiness gate.
func running(t *corev1.PodTemplateSpec) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: *t.ObjectMeta.DeepCopy(), Spec: *t.Spec.DeepCopy()}
	pod.Namespace, pod.Name, pod.UID, pod.ResourceVersion = "default", "demo-abcde", "uid-1", "7"
	if pod.Annotations == nil {
		pod.Annotations = map[string]string{}
	}
	pod.Labels[appsv1.ControllerRevisionHashLabelKey] = "demo-old"
	pod.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: v1alpha1.InPlaceUpdateReady}}
	pod.Status.Phase = corev1.PodRunning
	for _, condition := range []corev1.PodConditionType{corev1.PodReady, corev1.ContainersReady, v1alpha1.InPlaceUpdateReady} {
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{
			Type: condition, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(after(-100)),
		})
	}
	for _, c := range pod.Spec.Containers {
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{Name: c.Name})
	}
	kubelet(pod)
	return pod
}

// kubelet restarts what must restart: all containers run and report what the pod says.
func kubelet(pod *corev1.Pod) {
	for i := range pod.Spec.Containers {
		c, s := &pod.Spec.Containers[i], &pod.Status.ContainerStatuses[i]
		if s.Image != c.Image {
			s.Image, s.ImageID = c.Image, "id of "+c.Image
			s.ContainerID = "containerd://" + c.Image
		}
		s.Ready = true
	}
}

// agent reports on the pod's containers as the node agent does, with the
// hashes of what the pod says.
func agent(t testing.TB, pod *corev1.Pod) {
	t.Helper()
	var meta v1alpha1.RuntimeContainersMeta
	for i := range pod.Spec.Containers {
		c := &pod.Spec.Containers[i]
		hash, err := inplace.EnvHash(inplace.ExpectedEnv(pod, c))
		if err != nil {
			t.Fatal(err)
		}
		meta.Containers = append(meta.Containers, v1alpha1.RuntimeContainer{
			Name: c.Name, ContainerID: pod.Status.ContainerStatuses[i].ContainerID,
			Hashes: v1alpha1.RuntimeContainerHashes{PlainHash: 1, ExtractedEnvFromMetadataHash: hash},
		})
	}
	report(t, pod, meta)
}

func report(t testing.TB, pod *corev1.Pod, meta v1alpha1.RuntimeContainersMeta) {
	t.Helper()
	pod.Annotations[v1alpha1.RuntimeContainersMetaAnnotation] = patches.JSON(t, meta)
}

// apply returns the pod after the patch, with the revision label of the workload.
func apply(t testing.TB, pod *corev1.Pod, p podpatch.Patch) *corev1.Pod {
	t.Helper()
	out, err := p.Apply(pod)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// begin starts an update and gives the pod the label of the revision.
func begin(t testing.TB, pod *corev1.Pod, u *inplace.Update, graceSeconds int32) *corev1.Pod {
	t.Helper()
	var p podpatch.Patch
	if err := inplace.Begin(&p, pod, u, inplace.BeginOptions{Now: start(), GracePeriodSeconds: graceSeconds}); err != nil {
		t.Fatal(err)
	}
	p.SetLabel(appsv1.ControllerRevisionHashLabelKey, u.Revision)
	return apply(t, pod, p)
}

func refresh(t testing.TB, pod *corev1.Pod, now time.Time) (*corev1.Pod, inplace.Progress) {
	t.Helper()
	var p podpatch.Patch
	progress, err := inplace.Refresh(&p, pod, now)
	if err != nil {
		t.Fatal(err)
	}
	return apply(t, pod, p), progress
}

func state(t testing.TB, pod *corev1.Pod) v1alpha1.State {
	t.Helper()
	return *patches.Object[v1alpha1.State](t, pod.Annotations[v1alpha1.StateAnnotation])
}

func images(pod *corev1.Pod) string {
	var out []string
	for _, c := range pod.Spec.Containers {
		out = append(out, c.Image)
	}
	return strings.Join(out, " ")
}

// condition returns status, reason and message of a condition, "none" without one.
func condition(pod *corev1.Pod, t corev1.PodConditionType) string {
	for _, c := range pod.Status.Conditions {
		if c.Type == t {
			return strings.TrimSpace(string(c.Status) + " " + c.Reason + " " + c.Message)
		}
	}
	return "none"
}
