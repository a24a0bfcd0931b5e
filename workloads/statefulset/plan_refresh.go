// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/inplace/rollout"
)

// planRefresh records what has become of each pod, and the label with its
// name. (STS-7, STS-10, STS-16)
//
// All of it about one pod goes into one patch. A pod that the scale step changes
// is left to it, but how far its update is has to be known: the update counts it.
func (p *planner) planRefresh() {
	for _, pod := range p.pods {
		if pod.terminating || pod.ended || pod.Deleted {
			continue
		}
		atTarget := pod.Updated || pod.held || p.rolling == nil || pod.PreparedUpdate() && (p.unfit != nil || p.stuck(slot{pod: pod}))
		patch, readable := p.Refresh(&pod.View, atTarget)
		kind := rollout.PatchRefresh
		if readable && pod.misnamed() {
			p.identify(pod, patch)
			kind = rollout.PatchIdentify
		}
		p.WriteRefresh(&pod.View, patch, kind)
	}
}

// misnamed tells whether the labels that name a pod are those of another. Pods that are older than
// the label pod-index may lack it. (STS-10)
func (p *pod) misnamed() bool {
	index, found := p.Labels[appsv1.PodIndexLabel]
	return p.Labels[appsv1.StatefulSetPodNameLabel] != p.Name || found && index != p.Name[strings.LastIndexByte(p.Name, '-')+1:]
}

// identify has a patch write the labels that name a pod. (STS-10, STS-39)
func (p *planner) identify(pod *pod, patch *podpatch.Patch) {
	patch.SetLabel(appsv1.StatefulSetPodNameLabel, pod.Name)
	if _, found := pod.Labels[appsv1.PodIndexLabel]; found || !p.Features.NoPodIndexLabel {
		patch.SetLabel(appsv1.PodIndexLabel, strconv.Itoa(pod.ordinal))
	}
}
