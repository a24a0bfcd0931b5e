// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

const mesh1, mesh2 = "docker.io/library/mesh:1", "docker.io/library/mesh:2"

// newSidecarStory begins an act that creates ten pods, which are injected and ready.
func newSidecarStory(t *testing.T) *story {
	t.Helper()
	set := &v1alpha1.SidecarSet{}
	if err := yaml.UnmarshalStrict(documents("sidecarset")[0], set); err != nil {
		t.Fatal(err)
	}
	set.Status.LatestRevision = "web-1"
	h, namespace := &story{pods: map[string]*corev1.Pod{}}, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	for _, name := range h.all() {
		pod := h.newPod(name)
		pod.Namespace, pod.Labels = "default", map[string]string{"app": "web"}
		result, err := injection.Inject(injection.Input{Pod: pod, Namespace: namespace, SidecarSets: []*v1alpha1.SidecarSet{set}, Now: time.Now()})
		if err != nil {
			t.Fatal(err)
		}
		pod = result.Pod
		pod.Status.ContainerStatuses = nil
		for _, c := range pod.Spec.Containers {
			pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{Name: c.Name, Image: c.Image, Ready: true})
		}
		h.store(nil, pod)
	}
	return h
}

func (h *story) injectionFails() []string {
	return failed((&act{Creates: true, Pods: replicas, Promises: promises("sidecarset", "The injection")}).checks(h.Changes(), 0, h.final(), ""))
}

// setHot gives a hot container an image, and writes into the annotations what its version is and which one works.
func setHot(name, image, version, working string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		at, other := slices.Index(allContainers, name), hotContainers[2-slices.Index(allContainers, name)]
		pod.Spec.Containers[at].Image = image
		pod.Annotations[v1alpha1.SidecarSetVersionAnnotationPrefix+name] = version
		pod.Annotations[v1alpha1.SidecarSetVersionAltAnnotationPrefix+other] = version
		pod.Annotations[v1alpha1.SidecarSetWorkingHotUpgradeContainerAnnotation] = `{"mesh":"` + working + `"}`
	}
}

// start has a container run the image that it should have.
func start(name string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		at := slices.Index(allContainers, name)
		status := &pod.Status.ContainerStatuses[at]
		status.Image, status.RestartCount = pod.Spec.Containers[at].Image, status.RestartCount+1
	}
}

// upgrade upgrades pods hot, and back, one after the other.
func (h *story) upgrade(names ...string) {
	for _, name := range names {
		h.change(name, setHot("mesh-2", mesh2, "7", "mesh-2"), start("mesh-2"), setHot("mesh-1", meshEmpty, "0", "mesh-2"), start("mesh-1"))
		h.change(name, setHot("mesh-1", mesh1, "8", "mesh-1"), start("mesh-1"), setHot("mesh-2", meshEmpty, "0", "mesh-1"), start("mesh-2"))
	}
}

func TestInjectionIsChecked(t *testing.T) {
	compareTexts(t, nil, newSidecarStory(t).injectionFails())
	for name, edit := range map[string]func(*corev1.Pod){
		"no annotation":     func(pod *corev1.Pod) { delete(pod.Annotations, v1alpha1.SidecarSetHashAnnotation) },
		"another hash":      func(pod *corev1.Pod) { pod.Annotations[v1alpha1.SidecarSetHashWithoutImageAnnotation] = "{}" },
		"no list":           func(pod *corev1.Pod) { delete(pod.Annotations, v1alpha1.SidecarSetInjectedListAnnotation) },
		"a container less":  func(pod *corev1.Pod) { pod.Spec.Containers = pod.Spec.Containers[1:] },
		"nothing but a pod": func(pod *corev1.Pod) { pod.Annotations, pod.Spec.Containers = nil, pod.Spec.Containers[3:] },
	} {
		h := newSidecarStory(t)
		edit(h.Changes()[3].New)
		compareTexts(t, []string{"9 of 10 pods were created with the containers, and the annotations, that the webhook would give them; not: web-3"}, h.injectionFails())
		if t.Failed() {
			t.Fatal(name)
		}
	}
}

func TestHotUpgradeIsChecked(t *testing.T) {
	const works, annotated, back = "9 of 10 pods had, at every moment", "9 of 10 pods worked with", "9 of 10 pods are Ready and as before"
	const wrong = "10 of 10 pods worked with mesh-1, mesh-2, and mesh-1 again, as their annotations said at every moment; not: web-0"
	for name, c := range map[string]struct {
		during func(*story) // of the pod web-0; the others are upgraded
		want   []string     // failed checks
	}{
		"all is well":         {func(h *story) { h.upgrade("web-0") }, nil},
		"nothing is upgraded": {func(*story) {}, []string{annotated, back}},
		"the old one is emptied before the new one runs": {func(h *story) {
			h.change("web-0", setHot("mesh-2", mesh2, "7", "mesh-2"), setHot("mesh-1", meshEmpty, "0", "mesh-2"), start("mesh-2"), start("mesh-1"))
			h.change("web-0", setHot("mesh-1", mesh1, "8", "mesh-1"), start("mesh-1"), setHot("mesh-2", meshEmpty, "0", "mesh-1"), start("mesh-2"))
		}, []string{works}},
		"the old one is emptied before the new one is ready": {func(h *story) {
			ready := func(is bool) func(*corev1.Pod) {
				return func(pod *corev1.Pod) { pod.Status.ContainerStatuses[2].Ready = is }
			}
			h.change("web-0", setHot("mesh-2", mesh2, "7", "mesh-2"), ready(false), start("mesh-2"), setHot("mesh-1", meshEmpty, "0", "mesh-2"), start("mesh-1"), ready(true))
			h.change("web-0", setHot("mesh-1", mesh1, "8", "mesh-1"), start("mesh-1"), setHot("mesh-2", meshEmpty, "0", "mesh-1"), start("mesh-2"))
		}, []string{works}},
		"the empty one works, as the annotations have it": {func(h *story) {
			h.change("web-0", func(pod *corev1.Pod) {
				pod.Annotations[v1alpha1.SidecarSetWorkingHotUpgradeContainerAnnotation] = `{"mesh":"mesh-2"}`
			})
			h.upgrade("web-0")
		}, []string{wrong}},
		"a container does not know the version of the other": {func(h *story) {
			h.upgrade("web-0")
			h.change("web-0", func(pod *corev1.Pod) { pod.Annotations[v1alpha1.SidecarSetVersionAltAnnotationPrefix+"mesh-2"] = "7" })
		}, []string{wrong}},
		"the pod's own container restarts": {func(h *story) { h.upgrade("web-0"); h.change("web-0", start("main")) }, []string{back}},
		"there is no way back": {func(h *story) {
			h.change("web-0", setHot("mesh-2", mesh2, "7", "mesh-2"), start("mesh-2"), setHot("mesh-1", meshEmpty, "0", "mesh-2"), start("mesh-1"))
		}, []string{annotated, back}},
	} {
		t.Run(name, func(t *testing.T) {
			h := newSidecarStory(t)
			h.begin()
			h.upgrade(h.all()[1:]...)
			c.during(h)
			compareTexts(t, c.want, failed(h.checks(promises("sidecarset", "The hot upgrade and the way back")...)))
		})
	}
}
