// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// gate is the name of a SidecarSet beside, which has one container of the same name. It is upgraded hot. It has a webhook and
// a controller of its own.
const gate = "gate"

// injectedGate is what is injected of it into a new pod: annotations, records in annotations, and containers. The hashes are golden data.
var injectedGate = func() (injected struct {
	Annotations map[string]string
	Records     map[string]v1alpha1.SidecarSetUpgradeRecord
	Containers  []corev1.Container
}) {
	data, err := os.ReadFile("testdata/gate.yaml")
	if err = errors.Join(err, yaml.UnmarshalStrict(data, &injected)); err != nil {
		panic(err)
	}
	return injected
}()

// injectGate injects what the SidecarSet beside has for a new pod.
func injectGate(pod *corev1.Pod) {
	for key, record := range injectedGate.Records {
		record.UpdateTimestamp = metav1.Now()
		addTo(pod, key, gate, record)
	}
	addTo(pod, v1alpha1.SidecarSetWorkingHotUpgradeContainerAnnotation, gate, gate+"-1")
	list := strings.FieldsFunc(pod.Annotations[v1alpha1.SidecarSetInjectedListAnnotation], func(r rune) bool { return r == ',' })
	pod.Annotations[v1alpha1.SidecarSetInjectedListAnnotation] = strings.Join(slices.Sorted(slices.Values(append(list, gate))), ",")
	maps.Copy(pod.Annotations, injectedGate.Annotations)
	pod.Spec.Containers = slices.Concat(injectedGate.Containers, pod.Spec.Containers)
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
