// SPDX-License-Identifier: Apache-2.0

package ephemeraljob

import (
	"cmp"
	"slices"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// results returns how the containers of all targets ended, as many as there is room for. Those
// that failed come first, then by pod and container. (EJ-23)
func (p *planner) results() (results []v1alpha1.EphemeralJobPodResult, omitted int32) {
	for i := range p.targets {
		t := &p.targets[i]
		for _, name := range t.own {
			status := ephemeralStatus(t.pod, name)
			if state := p.containerState(t.pod, status); state == Succeeded || state == Failed {
				results = append(results, resultOf(t.pod.Name, status))
			}
		}
	}
	slices.SortFunc(results, func(a, b v1alpha1.EphemeralJobPodResult) int {
		return cmp.Or(cmp.Compare(rank(&a), rank(&b)), cmp.Compare(a.Pod, b.Pod), cmp.Compare(a.Container, b.Container))
	})
	if more := len(results) - v1alpha1.MaxEphemeralJobPodResults; more > 0 {
		results, omitted = results[:v1alpha1.MaxEphemeralJobPodResults], int32(more)
	}
	room := v1alpha1.MaxEphemeralJobMessages
	for i := range results {
		if room -= len(results[i].Message); room < 0 {
			results[i].Message, room = "", 0
		}
	}
	return results, omitted
}

// rank sorts failures first.
func rank(r *v1alpha1.EphemeralJobPodResult) int {
	if r.ExitCode != nil && *r.ExitCode == 0 {
		return 1
	}
	return 0
}

// resultOf is the result of a container that has ended, or cannot be started.
func resultOf(pod string, status *corev1.ContainerStatus) v1alpha1.EphemeralJobPodResult {
	result := v1alpha1.EphemeralJobPodResult{Pod: pod, Container: status.Name}
	if ended := status.State.Terminated; ended != nil {
		result.ExitCode, result.Reason, result.Message = ptr.To(ended.ExitCode), ended.Reason, lastOf(ended.Message)
		return result
	}
	result.Reason, result.Message = status.State.Waiting.Reason, lastOf(status.State.Waiting.Message)
	return result
}

// lastOf returns the end of a message, as much of it as a result may hold, in whole characters.
func lastOf(message string) string {
	const most = v1alpha1.MaxEphemeralJobMessage
	if len(message) <= most {
		return message
	}
	message = message[len(message)-most:]
	for len(message) > 0 && !utf8.RuneStart(message[0]) {
		message = message[1:]
	}
	return message
}
