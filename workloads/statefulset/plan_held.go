// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/heldup"
)

// mostMissing limits how many missing pods are named.
const mostMissing = 100

var missing = &rollout.Reason{Rule: heldup.Missing, Message: "the pod is not there"}

// planHeld lists what keeps the StatefulSet from its spec. That is wanted pods that are missing or not available, and left over
// pods that do not go. It is also claims that are too small, and what other pods wait for. (STS-29, STS-30)
func (p *planner) planHeld() {
	absent := 0
	for _, s := range p.wanted {
		switch pod := s.pod; {
		case pod == nil && absent < mostMissing:
			absent++
			p.Hold("pod", podName(p.Set.Name, s.ordinal), nil, missing)
		case pod != nil && pod.own && (pod.terminating || !pod.settled): // of one that is aside, its hook waits
			p.HoldPod(pod.Pod)
		}
	}
	for _, pod := range p.condemned {
		if pod.terminating {
			p.HoldPod(pod.Pod)
		}
	}
	p.holdClaims()
	p.HoldWaits()
	p.HoldBad(validateHooks(p.Set.Spec.Lifecycle, field.NewPath("spec", "lifecycle"), p.Features))
}

// holdFileSystems lists the first claim whose volume has grown, and whose file system grows when its pod starts anew. Nothing
// restarts the pod for that. (STS-45)
func (p *planner) holdFileSystems() {
	var first volume
	n := 0
	for _, s := range p.wanted {
		if s.pod == nil || !s.pod.own || s.pod.terminating {
			continue
		}
		for _, v := range p.volumesOf(s.pod) {
			if !v.fileSystemPending() || v.suffices() || !v.compatible() {
				continue
			}
			if n++; first.claim == nil {
				first = v
			}
		}
	}
	if first.claim != nil {
		p.Hold("claim", first.claim.Name, nil, &rollout.Reason{Rule: heldup.ClaimTooSmall, Observed: int32(n), Message: fmt.Sprintf(
			"its volume has grown to %s, and its file system of %s grows when the pod starts anew: delete the pod when it suits%s",
			first.claim.Spec.Resources.Requests.Storage(), first.claim.Status.Capacity.Storage(), firstOf(n))})
	}
}

// holdClaims lists the first claim that asks for less than its template does by now: claims that are there are left as they
// are. (STS-30)
func (p *planner) holdClaims() {
	if p.resizes() { // then pods wait for their claims
		p.holdFileSystems()
		return
	}
	var first *corev1.PersistentVolumeClaim
	var why string
	n := 0
	for i := range p.Set.Spec.VolumeClaimTemplates {
		template := &p.Set.Spec.VolumeClaimTemplates[i]
		wants := template.Spec.Resources.Requests[corev1.ResourceStorage]
		name := []byte(claimName(template.Name, p.Set.Name, 0)) // one for all, so that no name costs memory
		name = name[:len(name)-1]
		for _, s := range p.wanted {
			claim := p.Claims[string(strconv.AppendInt(name, int64(s.ordinal), 10))]
			if claim == nil {
				continue
			}
			has := claim.Spec.Resources.Requests[corev1.ResourceStorage]
			if has.Cmp(wants) >= 0 {
				continue
			}
			if n++; first == nil {
				first = claim
				why = fmt.Sprintf("it asks for %s, and claim template %s for %s: claims that are there stay as they are", has.String(), template.Name, wants.String())
			}
		}
	}
	if first != nil {
		p.Hold("claim", first.Name, nil, &rollout.Reason{Rule: heldup.ClaimTooSmall, Observed: int32(n), Message: why + firstOf(n)})
	}
}

// firstOf says of how many claims the one that is named is the first, if of several.
func firstOf(n int) string {
	if n == 1 {
		return ""
	}
	return fmt.Sprintf("; of %d claims", n)
}
