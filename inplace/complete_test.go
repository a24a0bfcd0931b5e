// SPDX-License-Identifier: Apache-2.0

package inplace_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace"
	"github.com/podwright/podwright/inplace/v1alpha1"
)

// completeCase is a pod after its update has begun, and what happened since.
type completeCase struct {
	name    string
	from    *corev1.PodTemplateSpec
	to      *corev1.PodTemplateSpec
	happens func(*testing.T, *corev1.Pod)
	want    string // What is waited for; empty when complete.
}

func testComplete(t *testing.T, cases []completeCase) {
	for _, tt := range cases {
		t.Run(tt.name, func(t *testing.T) {
			pod := running(tt.from)
			agent(t, pod)
			pod = begin(t, pod, calculate(t, tt.from, tt.to), 0)
			tt.happens(t, pod)
			complete, waiting, err := inplace.Complete(pod)
			if err != nil {
				t.Fatal(err)
			}
			if waiting != tt.want || complete != (tt.want == "") {
				t.Errorf("got %t, %q; want %q", complete, waiting, tt.want)
			}
			if _, progress := refresh(t, pod, after(60)); progress.Complete != complete || progress.Waiting != waiting {
				t.Errorf("Refresh says %t, %q", progress.Complete, progress.Waiting)
			}
		})
	}
}

func nothing(*testing.T, *corev1.Pod) {}

func restarted(_ *testing.T, pod *corev1.Pod) { kubelet(pod) }

func TestCompleteByImage(t *testing.T) {
	const waits = "container c1: still runs image c1:1"
	reports := func(image string) func(*testing.T, *corev1.Pod) {
		return func(_ *testing.T, pod *corev1.Pod) { pod.Status.ContainerStatuses[0].Image = image }
	}
	next := template(image(0, "c1:2"))
	testComplete(t, []completeCase{
		{"IP-24: a new image ID", template(), next, restarted, ""},
		{"IP-24: the old image ID", template(), next, nothing, waits},
		{"IP-24, IP-E7: the same image ID under the new name", template(), next, reports("c1:2"), ""},
		{"IP-E8: no tag", template(), template(image(0, "busybox")), reports("busybox:latest"), ""},
		{"IP-E8: no tag, with registry", template(), template(image(0, "localhost:5000/busybox")), reports("localhost:5000/busybox:latest"), ""},
		{"IP-E7: the runtime names the registry", template(), template(image(0, "nginx:2")), reports("docker.io/library/nginx:2"), ""},
		{"IP-E8: another tag", template(), template(image(0, "busybox")), reports("busybox:1"), "container c1: still runs image busybox:1"},
		{
			"IP-24, IP-E9: no container status", template(), next,
			func(_ *testing.T, pod *corev1.Pod) { pod.Status.ContainerStatuses = pod.Status.ContainerStatuses[1:] },
			"container c1: no status is reported",
		},
		{
			"IP-24: unchanged containers are not looked at", template(), next,
			func(_ *testing.T, pod *corev1.Pod) {
				kubelet(pod)
				pod.Status.ContainerStatuses = pod.Status.ContainerStatuses[:1]
			}, "",
		},
		{"IP-24: several, one at a time", template(), template(image(1, "c2:2"), image(0, "c1:2")), nothing, waits},
		{"IP-E3: only a label", template(), template(label("k", "w")), nothing, ""},
		{"IP-4: nothing", template(), template(), nothing, ""},
	})
}

func TestCompleteByPlainHash(t *testing.T) {
	next := template(image(0, "c1:2"))
	hash := func(pick int) func(*testing.T, *corev1.Pod) {
		return func(t *testing.T, pod *corev1.Pod) {
			meta := readMeta(t, pod)
			for i := range meta.Containers {
				hashes, err := inplace.PlainHashes(&pod.Spec.Containers[i])
				if err != nil {
					t.Fatal(err)
				}
				meta.Containers[i].Hashes.PlainHash = hashes[pick]
			}
			report(t, pod, meta)
		}
	}
	then := func(steps ...func(*testing.T, *corev1.Pod)) func(*testing.T, *corev1.Pod) {
		return func(t *testing.T, pod *corev1.Pod) {
			for _, step := range steps {
				step(t, pod)
			}
		}
	}
	edit := func(f func(*v1alpha1.RuntimeContainersMeta)) func(*testing.T, *corev1.Pod) {
		return func(t *testing.T, pod *corev1.Pod) {
			meta := readMeta(t, pod)
			f(&meta)
			report(t, pod, meta)
		}
	}
	const waits = "container c1: still runs image c1:1"
	testComplete(t, []completeCase{
		{"IP-24: all hashes equal, image IDs are not looked at", template(), next, hash(0), ""},
		{"IP-24: hashes over name and image", template(), next, hash(1), ""},
		{"IP-24: hashes differ and so do image IDs", template(), next, restarted, ""},
		{"IP-24: hashes differ, image IDs are equal", template(), next, nothing, waits},
		{
			"IP-24: one hash differs", template(), next,
			then(hash(0), edit(func(m *v1alpha1.RuntimeContainersMeta) { m.Containers[2].Hashes.PlainHash++ })), waits,
		},
		{
			"IP-24: a container is not in the report", template(), next,
			then(hash(0), edit(func(m *v1alpha1.RuntimeContainersMeta) { m.Containers = m.Containers[:2] })), waits,
		},
		{
			"IP-24: the report is of another container", template(), next,
			then(hash(0), edit(func(m *v1alpha1.RuntimeContainersMeta) { m.Containers[1].ContainerID = "containerd://old" })), waits,
		},
		{
			"IP-24: a container has no status", template(), next,
			then(hash(0), func(_ *testing.T, pod *corev1.Pod) { pod.Status.ContainerStatuses = pod.Status.ContainerStatuses[:2] }), waits,
		},
	})
}

func TestCompleteEnv(t *testing.T) {
	envK := env(0, "K", "metadata.labels['k']")
	const waits = "container c1: not yet restarted with the environment of the new labels and annotations"
	byAgent := func(t *testing.T, pod *corev1.Pod) { agent(t, pod) }
	both := template(envK, label("k", "w"), image(1, "c2:2"))
	testComplete(t, []completeCase{
		{"IP-24, IP-E4: the agent has still to restart", template(envK), template(envK, label("k", "w")), nothing, waits},
		{"IP-24, IP-E4: the agent reports the new environment", template(envK), template(envK, label("k", "w")), byAgent, ""},
		{
			"IP-E4: no report", template(envK), template(envK, label("k", "w")),
			func(_ *testing.T, pod *corev1.Pod) {
				delete(pod.Annotations, v1alpha1.RuntimeContainersMetaAnnotation)
			},
			"the environment changes with labels or annotations, and no node agent has reported on the containers",
		},
		{
			"IP-E4: no hash of the environment in the report", template(envK), template(envK, label("k", "w")),
			func(t *testing.T, pod *corev1.Pod) {
				meta := readMeta(t, pod)
				meta.Containers[0].Hashes.ExtractedEnvFromMetadataHash = 0
				report(t, pod, meta)
			}, waits,
		},
		{"IP-24: the environment first, then images", template(envK), both, byAgent, "container c2: still runs image c2:1"},
		{"IP-24: images without the environment", template(envK), both, restarted, waits},
		{
			"IP-24: both", template(envK), both,
			func(t *testing.T, pod *corev1.Pod) {
				kubelet(pod)
				agent(t, pod)
			}, "",
		},
		{
			"IP-E5: the first annotation is not waited for",
			template(env(0, "A", "metadata.annotations['a']"), noAnnotations), template(env(0, "A", "metadata.annotations['a']")), nothing, "",
		},
	})
}

func TestCompleteRollback(t *testing.T) {
	next := template(image(0, "c1:2"))
	pod := begin(t, running(template()), calculate(t, template(), next), 0)
	pod = begin(t, pod, calculate(t, next, template()), 0)
	pod, progress := refresh(t, pod, after(5))
	if !progress.Complete || images(pod) != "c1:1 c2:1 c3:1" || condition(pod, v1alpha1.InPlaceUpdateReady) != "True" {
		t.Errorf("IP-E16: %v, %s, %s", progress, images(pod), condition(pod, v1alpha1.InPlaceUpdateReady))
	}
}

func TestCompleteRecords(t *testing.T) {
	with := func(key, value string) *corev1.Pod {
		return running(template(), func(pod *corev1.Pod) { pod.Annotations[key] = value })
	}
	for _, tt := range []struct {
		name     string
		pod      *corev1.Pod
		complete bool
		want     string
	}{
		{"IP-25: no state", running(template()), true, ""},
		{"IP-25: grace", with(v1alpha1.GraceAnnotation, `{}`), false, "grace period"},
		{"IP-25: grace under the old name", with(v1alpha1.LegacyGraceAnnotation, `{}`), false, "grace period"},
		{"IP-25: images wait", with(v1alpha1.StateAnnotation, `{"nextContainerImages":{"c2":"x"}}`), false, "later batch: c2"},
		{"IP-25: metadata waits", with(v1alpha1.StateAnnotation, `{"nextContainerRefMetadata":{"c1":{}}}`), false, "later batch: c1"},
		{"IP-25: the state under its old name", with(v1alpha1.LegacyStateAnnotation, `{"nextContainerImages":{"c2":"x"}}`), false, "later batch: c2"},
		{"IP-E14: broken state", with(v1alpha1.StateAnnotation, `x`), false, "is not readable"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			complete, waiting, err := inplace.Complete(tt.pod)
			if err != nil {
				waiting += err.Error()
			}
			if complete != tt.complete || !strings.Contains(waiting, tt.want) || (waiting == "") != tt.complete {
				t.Errorf("got %t, %q; want %t, %q", complete, waiting, tt.complete, tt.want)
			}
		})
	}
}
