// SPDX-License-Identifier: Apache-2.0

package inplace

import (
	"encoding/json"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/podstate"
)

// Feasible tells whether Begin can start the update on the pod; nil if it can. The error says why not. A record in the pod
// cannot be read, or the pod lacks a container of the update. Or its node or its QoS class forbid a resize (IP-37). None of
// that passes by itself: the pod must be repaired or recreated. A workload asks before it selects the pods to update, so that
// such a pod takes no place from another.
//
// A pod in its grace period is no error as long as its change can still be made,
// although Begin refuses it. It has only to be waited for, see InGrace.
//
// It decides by the pod and the update alone, and allocates nothing for a pod
// in service.
func Feasible(pod *corev1.Pod, u *Update) error {
	_, err := feasible(pod, u)
	return err
}

// feasible also returns the state of an earlier update that may still be running. It is nil if there is none, or if the
// pod is in its grace period.
func feasible(pod *corev1.Pod, u *Update) (old *v1alpha1.State, err error) {
	if u == nil {
		return nil, podError(pod, "Begin needs an update, got nil; Calculate gives none if the pod must be recreated")
	}
	if missing := missingContainer(pod, u); missing != "" {
		return nil, podError(pod, "the update to revision %s changes container %q, which the pod does not have; recreate the pod", u.Revision, missing)
	}
	if why := unresizable(pod, u); why != "" {
		return nil, podError(pod, "the update to revision %s changes cpu or memory, and cannot for this pod: %s; recreate the pod", u.Revision, why)
	}
	if InGrace(pod) {
		return nil, feasibleGrace(pod)
	}
	if old, err = unfinished(pod); err == nil && old != nil && old.UpdateEnvFromMetadata && !u.EnvFromMetadata {
		_, err = readMeta(pod)
	}
	return old, err
}

// feasibleGrace tells whether the change that waits for the end of the grace
// period can be made then.
func feasibleGrace(pod *corev1.Pod) error {
	state, err := readState(pod)
	if err != nil {
		return err
	}
	if err := checkGraceState(pod, state); err != nil {
		return err
	}
	grace, err := readGrace(pod)
	if err != nil {
		return err
	}
	_, err = graceChange(pod, grace)
	return err
}

// missingContainer returns the first container of the update, by name, that the
// pod does not have; empty if it has all.
func missingContainer(pod *corev1.Pod, u *Update) (missing string) {
	lacks := func(name string) bool {
		return podstate.Container(pod, name) == nil && (missing == "" || name < missing)
	}
	for name := range u.Images {
		if lacks(name) {
			missing = name
		}
	}
	for name := range u.RefMetadata {
		if lacks(name) {
			missing = name
		}
	}
	for name := range u.Resources {
		if lacks(name) {
			missing = name
		}
	}
	return missing
}

// unfinished returns the state of an earlier update that may still be running,
// nil if there is none. Of a pod that is back in service nothing is left to do,
// so what its record says does not matter. It has only to be a JSON object.
func unfinished(pod *corev1.Pod) (*v1alpha1.State, error) {
	value, _, found := annotation(pod, v1alpha1.StateAnnotation, v1alpha1.LegacyStateAnnotation)
	if found && Settled(pod) && strings.HasPrefix(value, "{") && json.Valid([]byte(value)) {
		return nil, nil
	}
	return readState(pod)
}
