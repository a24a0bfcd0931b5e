// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// gate is the name of a SidecarSet beside, which has one container of the same name. It is upgraded hot. It has a webhook and
// a controller of its own.
const gate = "gate"

// These are the hashes of its containers when a pod is created. They are golden data.
const (
	gateHash         = "27ddzbbcvbx2bfv26d6v695wz7zbw2xx4b5fwv8vz4446c55f2fx44wv52c679bz"
	gateWithoutImage = "w449d7b424dx54f8f7c9xzczwd6bbfxd4xc82cz44774c9v9b9c5bdd944722284"
)

// injectGate injects what the SidecarSet beside has for a new pod.
func injectGate(pod *corev1.Pod) {
	for key, hash := range map[string]string{v1alpha1.SidecarSetHashAnnotation: gateHash, v1alpha1.SidecarSetHashWithoutImageAnnotation: gateWithoutImage} {
		record := v1alpha1.SidecarSetUpgradeRecord{UpdateTimestamp: metav1.Now(), SidecarSetHash: hash, SidecarSetName: gate, SidecarList: []string{gate}}
		addTo(pod, key, gate, record)
	}
	addTo(pod, v1alpha1.SidecarSetWorkingHotUpgradeContainerAnnotation, gate, gate+"-1")
	list := strings.FieldsFunc(pod.Annotations[v1alpha1.SidecarSetInjectedListAnnotation], func(r rune) bool { return r == ',' })
	maps.Copy(pod.Annotations, map[string]string{
		v1alpha1.SidecarSetInjectedListAnnotation: strings.Join(slices.Sorted(slices.Values(append(list, gate))), ","),
		"version.sidecarset.kruise.io/gate-1":     "1", "versionalt.sidecarset.kruise.io/gate-1": "0",
		"version.sidecarset.kruise.io/gate-2": "0", "versionalt.sidecarset.kruise.io/gate-2": "1",
	})
	pod.Spec.Containers = append([]corev1.Container{gateContainer("gate-1", "gate:1"), gateContainer("gate-2", "empty:2")}, pod.Spec.Containers...)
}

// gateContainer is one of the two containers that stand for one which is upgraded hot.
func gateContainer(name, image string) corev1.Container {
	from := func(key string) *corev1.EnvVarSource {
		return &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.annotations['" + key + ".sidecarset.kruise.io/" + name + "']"}}
	}
	return corev1.Container{Name: name, Image: image, Env: []corev1.EnvVar{{Name: "IS_INJECTED", Value: "true"},
		{Name: "SIDECARSET_VERSION", ValueFrom: from("version")}, {Name: "SIDECARSET_VERSION_ALT", ValueFrom: from("versionalt")}},
		TerminationMessagePath: corev1.TerminationMessagePathDefault, TerminationMessagePolicy: corev1.TerminationMessageReadFile, ImagePullPolicy: corev1.PullIfNotPresent}
}

// updateGate has the controller of the SidecarSet beside write into a pod what it does in an update. It leaves a pod alone
// whose records cannot be read.
func updateGate(u *simulation.User, pod *corev1.Pod, image string) {
	records := map[string]v1alpha1.SidecarSetUpgradeRecord{}
	readJSON(pod, v1alpha1.SidecarSetHashAnnotation, &records)
	record, is := records[gate]
	if !is || pod.DeletionTimestamp != nil {
		return
	}
	after := pod.DeepCopy()
	for i := range after.Spec.Containers {
		if c := &after.Spec.Containers[i]; c.Name == "gate-1" {
			c.Image = image
		}
	}
	record.SidecarSetHash, record.UpdateTimestamp = image, metav1.Now()
	addTo(after, v1alpha1.SidecarSetHashAnnotation, gate, record)
	addTo(after, v1alpha1.SidecarSetInPlaceUpdateStateAnnotation, gate, v1alpha1.SidecarSetInPlaceUpdateState{Revision: image, UpdateTimestamp: metav1.Now(),
		LastContainerStatuses: map[string]inplacev1alpha1.ContainerStatus{"gate-1": {ImageID: image}}})
	u.UpdatePod("updates the other sidecar", after)
}

// addTo adds an entry to the JSON object in an annotation of a pod. One that cannot be read is replaced.
func addTo(pod *corev1.Pod, annotation, key string, value any) {
	entries := map[string]json.RawMessage{}
	readJSON(pod, annotation, &entries)
	data, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	entries[key] = data
	annotatePod(pod, annotation, entries)
}

// readJSON reads an annotation of a pod. It tells whether there is one that can be read.
func readJSON(pod *corev1.Pod, annotation string, into any) bool {
	return json.Unmarshal([]byte(pod.Annotations[annotation]), into) == nil
}
