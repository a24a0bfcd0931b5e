// SPDX-License-Identifier: Apache-2.0

package inplace

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/inplace/v1alpha1"
)

// annotation returns a record of the pod, read under its old name if the
// new one is absent. The key is the name under which it was found.
func annotation(pod *corev1.Pod, name, legacy string) (value, key string, found bool) {
	if value, found = pod.Annotations[name]; found {
		return value, name, true
	}
	value, found = pod.Annotations[legacy]
	return value, legacy, found
}

// readState returns the state of the last in-place update, nil if the pod
// was never updated in place.
func readState(pod *corev1.Pod) (*v1alpha1.State, error) {
	value, key, found := annotation(pod, v1alpha1.StateAnnotation, v1alpha1.LegacyStateAnnotation)
	if !found {
		return nil, nil
	}
	state := &v1alpha1.State{}
	err := decode(pod, key, value, state)
	takeOverResize(pod, state)
	return state, err
}

// readGrace returns the change that waits for its grace period, nil if none does.
func readGrace(pod *corev1.Pod) (*v1alpha1.Grace, error) {
	value, key, found := annotation(pod, v1alpha1.GraceAnnotation, v1alpha1.LegacyGraceAnnotation)
	if !found {
		return nil, nil
	}
	grace := &v1alpha1.Grace{}
	return grace, decode(pod, key, value, grace)
}

// readMeta returns what the node agent reports of the pod's containers, nil
// if it has not reported.
func readMeta(pod *corev1.Pod) (*v1alpha1.RuntimeContainersMeta, error) {
	value, found := pod.Annotations[v1alpha1.RuntimeContainersMetaAnnotation]
	if !found {
		return nil, nil
	}
	meta := &v1alpha1.RuntimeContainersMeta{}
	return meta, decode(pod, v1alpha1.RuntimeContainersMetaAnnotation, value, meta)
}

func decode(pod *corev1.Pod, key, value string, into any) error {
	if err := json.Unmarshal([]byte(value), into); err != nil {
		return fmt.Errorf("pod %s/%s: annotation %s is not readable, repair or remove it: %w", pod.Namespace, pod.Name, key, err)
	}
	return nil
}

// writeState sets the state and removes the one under the old name.
func writeState(p *podpatch.Patch, pod *corev1.Pod, state *v1alpha1.State) error {
	if err := encode(p, pod, v1alpha1.StateAnnotation, state); err != nil {
		return err
	}
	p.RemoveAnnotation(v1alpha1.LegacyStateAnnotation)
	return nil
}

// writePlain does so with the state of an update whose first batch is written at a time.
func writePlain(p *podpatch.Patch, state *plainState, batch metav1.Time) {
	var room [768]byte // most states have room in it, and cost no memory but their text
	p.SetAnnotation(v1alpha1.StateAnnotation, string(state.append(room[:0], batch)))
	p.RemoveAnnotation(v1alpha1.LegacyStateAnnotation)
}

// writeGrace sets the waiting change and removes the one under the old name.
func writeGrace(p *podpatch.Patch, pod *corev1.Pod, grace *v1alpha1.Grace) error {
	if err := encode(p, pod, v1alpha1.GraceAnnotation, grace); err != nil {
		return err
	}
	p.RemoveAnnotation(v1alpha1.LegacyGraceAnnotation)
	return nil
}

func removeGrace(p *podpatch.Patch) {
	p.RemoveAnnotation(v1alpha1.GraceAnnotation)
	p.RemoveAnnotation(v1alpha1.LegacyGraceAnnotation)
}

func encode(p *podpatch.Patch, pod *corev1.Pod, key string, record any) error {
	data, err := json.Marshal(record)
	if err != nil {
		return fmt.Errorf("pod %s/%s: encode annotation %s: %w", pod.Namespace, pod.Name, key, err)
	}
	p.SetAnnotation(key, string(data))
	return nil
}
