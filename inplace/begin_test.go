// SPDX-License-Identifier: Apache-2.0

package inplace_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace"
	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/inplace/v1alpha1"
)

const started = "False StartInPlaceUpdate"

func TestBeginWrites(t *testing.T) {
	for _, tt := range []struct {
		name     string
		pod      *corev1.Pod
		u        *inplace.Update
		wantKind []string
	}{
		{"IP-11, IP-12: status first, then the pod", running(template()), calculate(t, template(), template(image(0, "c1:2"))), []string{"status", ""}},
		{"IP-11, IP-E15: no gate, no status write", running(template(), noGate), calculate(t, template(), template(image(0, "c1:2"))), []string{""}},
		{"IP-4: only records, which the status write takes along", running(template()), calculate(t, template(), template()), []string{"status"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var p podpatch.Patch
			if err := inplace.Begin(&p, tt.pod, tt.u, inplace.BeginOptions{Now: start()}); err != nil {
				t.Fatal(err)
			}
			writes, err := p.Writes(tt.pod)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, w := range writes {
				got = append(got, w.Subresource)
			}
			if diff := cmp.Diff(tt.wantKind, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestBeginConditions(t *testing.T) {
	const message = `the status of pod readiness gate "InPlaceUpdateReady" is not "True", but False`
	u := calculate(t, template(), template(image(0, "c1:2")))
	extraGate := func(pod *corev1.Pod) {
		pod.Spec.ReadinessGates = append(pod.Spec.ReadinessGates, corev1.PodReadinessGate{ConditionType: "Other"})
	}
	for _, tt := range []struct {
		name           string
		pod            *corev1.Pod
		inPlace, ready string
	}{
		{"IP-11: Ready goes with it", running(template()), started, "False ReadinessGatesNotReady " + message},
		{
			"IP-11: every failing gate is named", running(template(), extraGate), started,
			"False ReadinessGatesNotReady " + message + `, corresponding condition of pod readiness gate "Other" does not exist.`,
		},
		{
			"IP-11: containers not ready, Ready is left alone",
			running(template(), func(pod *corev1.Pod) { pod.Status.Conditions[1].Status = "False" }), started, "True",
		},
		{
			"IP-11: no Ready condition, none is made",
			running(template(), func(pod *corev1.Pod) { pod.Status.Conditions = pod.Status.Conditions[1:] }), started, "none",
		},
		{"IP-11, IP-E15: no gate", running(template(), noGate), "none", "True"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := begin(t, tt.pod, u, 0)
			if c := condition(got, v1alpha1.InPlaceUpdateReady); c != tt.inPlace {
				t.Errorf("InPlaceUpdateReady: got %s, want %s", c, tt.inPlace)
			}
			if c := condition(got, corev1.PodReady); c != tt.ready {
				t.Errorf("Ready: got %s, want %s", c, tt.ready)
			}
		})
	}
	first := begin(t, running(template()), u, 0)
	if since := since(first, v1alpha1.InPlaceUpdateReady); !since.Equal(start()) {
		t.Errorf("IP-11: the condition is False since %s", since)
	}
	var p podpatch.Patch
	if err := inplace.Begin(&p, first, u, inplace.BeginOptions{Now: after(60)}); err != nil {
		t.Fatal(err)
	}
	if since := p.Condition(first, v1alpha1.InPlaceUpdateReady).LastTransitionTime; !since.Time.Equal(start()) {
		t.Errorf("IP-28: a second update changed the transition to %s", since)
	}
}

// The state is compared as bytes: other programs read it.
func TestBeginState(t *testing.T) {
	const head = `{"revision":"demo-new","updateTimestamp":"2024-05-06T07:08:09Z",`
	const batch = `"containerBatchesRecord":[{"timestamp":"2024-05-06T07:08:09Z","containers":`
	envK := env(0, "K", "metadata.labels['k']")
	const c1Before = `"lastContainers":{"c1":{"containerID":"containerd://c1:1","images":["c1:1"],"image":"c1:2"}}}`
	twoImages := template(image(0, "c1:2"), image(1, "c2:2"))
	for _, tt := range []struct {
		name  string
		pod   *corev1.Pod
		u     *inplace.Update
		grace int32
		want  string
	}{
		{
			"IP-13: an image", running(template()), calculate(t, template(), template(image(0, "c1:2"))), 0,
			head + `"lastContainerStatuses":{"c1":{"imageID":"id of c1:1"}},` + batch + `["c1"]}],` + c1Before,
		},
		{
			"IP-13: no container status, no image ID recorded",
			running(template(), func(pod *corev1.Pod) { pod.Status.ContainerStatuses = nil }), calculate(t, template(), template(image(0, "c1:2"))), 0,
			head + `"lastContainerStatuses":null,` + batch + `["c1"]}],"lastContainers":{"c1":{"images":["c1:1"],"image":"c1:2"}}}`,
		},
		{
			"IP-13: no image ID yet",
			running(template(), func(pod *corev1.Pod) {
				pod.Status.ContainerStatuses[0].ImageID, pod.Status.ContainerStatuses[0].ContainerID = "", ""
			}), calculate(t, template(), template(image(0, "c1:2"))), 0,
			head + `"lastContainerStatuses":{"c1":{}},` + batch + `["c1"]}],"lastContainers":{"c1":{"images":["c1:1"],"image":"c1:2"}}}`,
		},
		{
			"IP-13: an image that stands already is not recorded",
			running(template(image(0, "c1:2"))), calculate(t, template(), template(image(0, "c1:2"))), 0,
			head + `"lastContainerStatuses":null,` + batch + `["c1"]}]}`,
		},
		{
			"IP-4, IP-17: nothing changes, a batch of none", running(template()), calculate(t, template(), template()), 0,
			head + `"lastContainerStatuses":null,` + batch + `[]}]}`,
		},
		{
			"IP-7: env from metadata", running(template(envK)), calculate(t, template(envK), template(envK, label("k", "w"))), 0,
			head + `"lastContainerStatuses":null,"updateEnvFromMetadata":true,` + batch + `["c1"]}]}`,
		},
		{
			"IP-17: a batch waits", running(template(), priority(0, "10"), priority(1, "0")), calculate(t, template(), twoImages), 0,
			head + `"lastContainerStatuses":{"c1":{"imageID":"id of c1:1"}},"nextContainerImages":{"c2":"c2:2"},` +
				`"preCheckBeforeNext":{"containersRequiredReady":["c1"]},` + batch + `["c1"]}],` + c1Before,
		},
		{
			"IP-15: metadata waits", running(template(envK), priority(0, "0"), priority(1, "10")),
			calculate(t, template(envK), template(envK, label("k", "w"), image(1, "c2:2"))), 0,
			head + `"lastContainerStatuses":{"c2":{"imageID":"id of c2:1"}},"updateEnvFromMetadata":true,` +
				`"nextContainerRefMetadata":{"c1":{"labels":{"k":"w"}}},` +
				`"preCheckBeforeNext":{"containersRequiredReady":["c2"]},` + batch + `["c2"]}],` + strings.ReplaceAll(c1Before, "c1", "c2"),
		},
		{
			"IP-19: grace, nothing is recorded yet", running(template()), calculate(t, template(), template(image(0, "c1:2"))), 30,
			head + `"lastContainerStatuses":null}`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := begin(t, tt.pod, tt.u, tt.grace)
			if diff := cmp.Diff(tt.want, got.Annotations[v1alpha1.StateAnnotation]); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestBeginPod(t *testing.T) {
	envK := env(0, "K", "metadata.labels['k']")
	pod := running(template(envK), func(pod *corev1.Pod) { pod.Annotations[v1alpha1.LegacyStateAnnotation] = `{"revision":"demo-ancient"}` })
	before := pod.DeepCopy()
	got := begin(t, pod, calculate(t, template(envK), template(envK, image(1, "c2:2"), label("k", "w"), annotate("a", "c"))), 0)
	if diff := cmp.Diff("c1:1 c2:2 c3:1", images(got)); diff != "" {
		t.Errorf("IP-12: images: %s", diff)
	}
	if got.Labels["k"] != "w" || got.Annotations["a"] != "c" {
		t.Errorf("IP-12: labels %v, annotations %v", got.Labels, got.Annotations)
	}
	if _, found := got.Annotations[v1alpha1.LegacyStateAnnotation]; found {
		t.Error("the state under its old name stays")
	}
	if diff := cmp.Diff(before, pod); diff != "" {
		t.Errorf("the pod was changed: %s", diff)
	}
}

func TestBeginIsConditional(t *testing.T) {
	for _, tt := range []struct {
		name string
		to   *corev1.PodTemplateSpec
		want bool
	}{
		{"IP-14: image IDs must be those that were read", template(image(0, "c1:2")), true},
		{"IP-14: labels need no condition", template(label("k", "w")), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var p podpatch.Patch
			if err := inplace.Begin(&p, running(template()), calculate(t, template(), tt.to), inplace.BeginOptions{Now: start()}); err != nil {
				t.Fatal(err)
			}
			if p.IfUnchanged != tt.want {
				t.Errorf("got %t, want %t", p.IfUnchanged, tt.want)
			}
		})
	}
}

func TestBeginGrace(t *testing.T) {
	envK := env(0, "K", "metadata.labels['k']")
	to := template(envK, image(1, "c2:2"), label("k", "w"), annotate("a", "c"))
	pod := begin(t, running(template(envK)), calculate(t, template(envK), to), 30)
	if images(pod) != "c1:1 c2:1 c3:1" || pod.Labels["k"] != "v" || pod.Annotations["a"] != "b" {
		t.Errorf("IP-19: something changed before its time: %s %v %v", images(pod), pod.Labels, pod.Annotations)
	}
	want := `{"revision":"demo-new","containerImages":{"c2":"c2:2"},"containerRefMetadata":{"c1":{"labels":{"k":"w"}}},` +
		`"metaDataPatch":"eyJtZXRhZGF0YSI6eyJhbm5vdGF0aW9ucyI6eyJhIjoiYyJ9fX0=","updateEnvFromMetadata":true,"graceSeconds":30,"previousRevision":"demo-old"}`
	if diff := cmp.Diff(want, pod.Annotations[v1alpha1.GraceAnnotation]); diff != "" {
		t.Errorf("IP-19: -want +got:\n%s", diff)
	}
	if condition(pod, v1alpha1.InPlaceUpdateReady) != started || pod.Labels[appsv1.ControllerRevisionHashLabelKey] != "demo-new" {
		t.Errorf("IP-19: condition %s, labels %v", condition(pod, v1alpha1.InPlaceUpdateReady), pod.Labels)
	}
	if !inplace.InGrace(pod) {
		t.Error("IP-23: the pod is not in its grace period")
	}
}

func TestBeginErrors(t *testing.T) {
	note := func(key, value string) *corev1.Pod {
		return running(template(), func(pod *corev1.Pod) { pod.Annotations[key] = value })
	}
	u := calculate(t, template(), template(image(2, "c3:2")))
	for _, tt := range []struct {
		name string
		pod  *corev1.Pod
		u    *inplace.Update
		want string
	}{
		{"no update", running(template()), nil, "Begin needs an update"},
		{"IP-23, IP-E13: in its grace period", note(v1alpha1.GraceAnnotation, `{}`), u, "grace period"},
		{"IP-23: under the old name", note(v1alpha1.LegacyGraceAnnotation, `{}`), u, "grace period"},
		{"IP-E14: broken state", note(v1alpha1.StateAnnotation, `{`), u, "annotation apps.kruise.io/inplace-update-state is not readable"},
		{"IP-E14: broken state under the old name", note(v1alpha1.LegacyStateAnnotation, `{`), u, "annotation inplace-update-state is not readable"},
		{
			"a container that the pod does not have",
			running(template(func(t *corev1.PodTemplateSpec) { t.Spec.Containers = t.Spec.Containers[:2] })), u, `container "c3", which the pod does not have`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := inplace.Begin(&podpatch.Patch{}, tt.pod, tt.u, inplace.BeginOptions{Now: start()})
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "pod default/demo-abcde") {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}
