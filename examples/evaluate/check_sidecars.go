// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/examples/testbed/podhistory"
	"github.com/podwright/podwright/examples/testbed/podstate"
	"github.com/podwright/podwright/lifecycle/readiness"
	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// The containers of an injected pod in their order, and those that mesh became.
var (
	injectedContainers = []string{"log", "mesh-1", "mesh-2", "main"}
	hotContainers      = []string{"mesh-1", "mesh-2"}
)

// What the acts of SidecarSets promise.
var (
	injection10 = []promise{
		{replicas, "%d of %d pods were created with log, mesh-1 and mesh-2 before their own container", injected},
		{replicas, "%d of %d pods were created with the hashes of the SidecarSet, and mesh-1 as the working container", annotated},
	}
	alwaysServed = promise{replicas, "%d of %d pods had at every moment a mesh container that was ready, and not with the empty image", served}
	hotUpgrade   = []promise{
		alwaysServed,
		{replicas, "%d of %d pods worked with mesh-1, then mesh-2, then mesh-1; their annotations were right at every moment", flipped},
		{replicas, "%d of %d pods restarted both mesh containers twice, and never log and the pod's own", reset},
		{replicas, "%d of %d pods are Ready, with mesh:1 in mesh-1 and mesh:empty in mesh-2", returned},
	}
)

// injected: it was created with the sidecars.
func injected(t *podhistory.Track) (holds, wrong bool) {
	var names []string
	for i := range t.States[0].Spec.Containers {
		names = append(names, t.States[0].Spec.Containers[i].Name)
	}
	holds = slices.Equal(names, injectedContainers)
	return holds, !holds
}

// annotated: it was created with the annotations of the contract, and the hashes that follow from the manifest.
func annotated(t *podhistory.Track) (holds, wrong bool) {
	pod, set := t.States[0], &v1alpha1.SidecarSet{}
	if yaml.Unmarshal(sidecarSetManifest, set) != nil {
		return false, true
	}
	injection.Default(set)
	hashes, err := injection.HashesOf(set)
	all, failure1 := injection.Records(pod, v1alpha1.SidecarSetHashAnnotation)
	without, failure2 := injection.Records(pod, v1alpha1.SidecarSetHashWithoutImageAnnotation)
	working, right := hot(pod)
	holds = err == nil && failure1 == nil && failure2 == nil && pod.Annotations[v1alpha1.SidecarSetInjectedListAnnotation] == setName &&
		all[setName].SidecarSetHash == hashes.Containers && without[setName].SidecarSetHash == hashes.WithoutImage &&
		slices.Equal(all[setName].SidecarList, []string{"log", "mesh"}) && right && working == hotContainers[0]
	return holds, !holds
}

// hot returns which container works by the annotations of a pod, and whether these agree with the images: of both containers
// the empty one has version 0, the working one is not empty, and each knows the version of the other.
func hot(pod *corev1.Pod) (working string, right bool) {
	names := map[string]string{}
	right = json.Unmarshal([]byte(pod.Annotations[v1alpha1.SidecarSetWorkingHotUpgradeContainerAnnotation]), &names) == nil
	working = names["mesh"]
	for i, name := range hotContainers {
		version, other := pod.Annotations[v1alpha1.SidecarSetVersionAnnotationPrefix+name], hotContainers[1-i]
		empty := imageOf(pod, name) == meshEmpty
		right = right && version != "" && (version == "0") == empty && !(empty && name == working) &&
			pod.Annotations[v1alpha1.SidecarSetVersionAltAnnotationPrefix+other] == version
	}
	return working, right && slices.Contains(hotContainers, working)
}

func imageOf(pod *corev1.Pod, name string) string {
	for i := range pod.Spec.Containers {
		if c := &pod.Spec.Containers[i]; c.Name == name {
			return c.Image
		}
	}
	return ""
}

// served: one of both containers was ready at every moment with the image that it should have, and not the empty one.
func served(t *podhistory.Track) (holds, wrong bool) {
	holds = !t.Gone && !slices.ContainsFunc(t.States, func(pod *corev1.Pod) bool {
		return !slices.ContainsFunc(hotContainers, func(name string) bool {
			image, status := imageOf(pod, name), podstate.ContainerStatus(pod, name)
			return image != meshEmpty && status.Ready && status.Image == image
		})
	})
	return holds, !holds
}

// flipped: there was a hot upgrade and one back, and the annotations said so.
func flipped(t *podhistory.Track) (holds, wrong bool) {
	var worked []string
	for _, pod := range t.States {
		working, right := hot(pod)
		worked, wrong = append(worked, working), wrong || !right
	}
	return slices.Equal(slices.Compact(worked), []string{"mesh-1", "mesh-2", "mesh-1"}), wrong
}

// reset: each of both containers took the other image and its first one again, and no other container restarted.
func reset(t *podhistory.Track) (holds, wrong bool) {
	for _, name := range injectedContainers {
		n := podstate.ContainerStatus(t.States[len(t.States)-1], name).RestartCount - podstate.ContainerStatus(t.States[0], name).RestartCount
		wrong = wrong || slices.Contains(hotContainers, name) != (n == 2) || n != 0 && n != 2
	}
	return !wrong && !t.Gone, wrong || t.Gone
}

// returned: it is as before both upgrades.
func returned(t *podhistory.Track) (holds, wrong bool) {
	last := t.States[len(t.States)-1]
	holds = !t.Gone && readiness.Ready(last) && imageOf(last, "mesh-1") == mesh1 && imageOf(last, "mesh-2") == meshEmpty
	return holds, !holds
}
