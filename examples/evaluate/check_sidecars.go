// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/examples/testbed/podhistory"
	"github.com/podwright/podwright/examples/testbed/podstate"
	"github.com/podwright/podwright/lifecycle/readiness"
	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// The containers of an injected pod in their order, and the two that mesh became.
var allContainers, hotContainers = []string{"log", "mesh-1", "mesh-2", "main"}, []string{"mesh-1", "mesh-2"}

// What the acts of SidecarSets promise.
var (
	injection10 = promise{replicas, "%d of %d pods were created with the containers, and the annotations, that the webhook would give them", injected}
	alwaysWorks = promise{replicas, "%d of %d pods had, at every moment, a mesh container that was ready with a real image", works}
	hotUpgrade  = []promise{
		alwaysWorks,
		{replicas, "%d of %d pods worked with mesh-1, mesh-2, and mesh-1 again, as their annotations said at every moment", flipped},
		{replicas, "%d of %d pods are Ready and as before: mesh-1 and mesh-2 restarted twice, log and the pod's own never", returned},
	}
)

// injected: it was created as Inject has it, which finds nothing to add.
func injected(t *podhistory.Track) (holds, wrong bool) {
	pod, set := t.States[0], &v1alpha1.SidecarSet{}
	if yaml.Unmarshal(manifest("sidecarset"), set) != nil {
		return false, true
	}
	set.Status.LatestRevision = injectedRevision(pod)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: pod.Namespace}}
	want, err := injection.Inject(injection.Input{Pod: pod, Namespace: namespace, SidecarSets: []*v1alpha1.SidecarSet{set}, Now: time.Now()})
	holds = err == nil && set.Status.LatestRevision != "" && maps.Equal(want.Pod.Annotations, pod.Annotations) &&
		slices.EqualFunc(pod.Spec.Containers, allContainers, func(c corev1.Container, name string) bool { return c.Name == name })
	return holds, !holds
}

// works: one of both hot containers was ready at every moment with the image that it should have, and not the empty one.
func works(t *podhistory.Track) (holds, wrong bool) {
	holds = !t.Gone && !slices.ContainsFunc(t.States, func(pod *corev1.Pod) bool {
		return !slices.ContainsFunc(hotContainers, func(name string) bool {
			image, status := podstate.Image(pod, name), podstate.ContainerStatus(pod, name)
			return image != meshEmpty && status.Ready && status.Image == image
		})
	})
	return holds, !holds
}

// flipped: there were a hot upgrade and one back, and the annotations told of them: of both containers the empty one has
// version 0, the working one is not empty, and each knows the version of the other.
func flipped(t *podhistory.Track) (holds, wrong bool) {
	var worked []string
	for _, pod := range t.States {
		var working map[string]string
		wrong = json.Unmarshal([]byte(pod.Annotations[v1alpha1.SidecarSetWorkingHotUpgradeContainerAnnotation]), &working) != nil || wrong
		worked = append(worked, working["mesh"])
		for i, name := range hotContainers {
			version := pod.Annotations[v1alpha1.SidecarSetVersionAnnotationPrefix+name]
			empty := podstate.Image(pod, name) == meshEmpty
			wrong = wrong || version == "" || (version == "0") != empty || empty && name == working["mesh"] ||
				version != pod.Annotations[v1alpha1.SidecarSetVersionAltAnnotationPrefix+hotContainers[1-i]]
		}
	}
	return slices.Equal(slices.Compact(worked), []string{"mesh-1", "mesh-2", "mesh-1"}), wrong
}

// returned: each hot container took another image and its first one again, and no other container restarted.
func returned(t *podhistory.Track) (holds, wrong bool) {
	first, last := t.States[0], t.States[len(t.States)-1]
	holds = !t.Gone && readiness.Ready(last)
	for _, name := range allContainers {
		want := podstate.ContainerStatus(first, name).RestartCount
		if slices.Contains(hotContainers, name) {
			want += 2
		}
		holds = holds && podstate.ContainerStatus(last, name).RestartCount == want && podstate.Image(last, name) == podstate.Image(first, name)
	}
	return holds, !holds
}
