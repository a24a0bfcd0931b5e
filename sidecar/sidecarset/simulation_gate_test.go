// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"encoding/json"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/podstate"
	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// gate is the name of a SidecarSet beside, which has one container of the same name. It is upgraded hot. It has a webhook and
// a controller of its own.
const gate = "gate"

// gateSet is what its webhook knows of it.
var gateSet = &v1alpha1.SidecarSet{ObjectMeta: metav1.ObjectMeta{Name: gate}, Spec: v1alpha1.SidecarSetSpec{
	Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"gate": "open"}},
	Containers: []v1alpha1.SidecarContainer{{Container: corev1.Container{Name: gate, Image: "gate:1"},
		UpgradeStrategy: v1alpha1.SidecarContainerUpgradeStrategy{
			UpgradeType: v1alpha1.SidecarContainerHotUpgrade, HotUpgradeEmptyImage: "empty:2"}}}}}

// injectGate injects what the SidecarSet beside has for a new pod.
func injectGate(pod *corev1.Pod) *corev1.Pod {
	result, err := injection.Inject(injection.Input{Pod: pod, SidecarSets: []*v1alpha1.SidecarSet{gateSet}, Now: time.Now()})
	if err != nil {
		panic(err)
	}
	return result.Pod
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
	podstate.Container(after, "gate-1").Image = image
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
