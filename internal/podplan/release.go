// SPDX-License-Identifier: Apache-2.0

package podplan

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/rollout"
)

// aMoment is how old a pod may be to count as just made. If such a pod has not run and lacks labels of its workload, it never had
// them.
const aMoment = time.Minute

// JustMade tells whether a pod was created a moment ago, and none of its containers has run.
func (p *Planner) JustMade(pod *corev1.Pod) bool {
	return p.At.Sub(pod.CreationTimestamp.Time) < aMoment && !HasRun(pod)
}

// Release releases a pod that the selector does not match. One that was made just now is deleted: something changes the labels of
// new pods, and each would be released and replaced. (CT-6)
func (p *Planner) Release(pod *View) {
	if !p.JustMade(pod.Pod) {
		pod.Change(rollout.PatchRelease).RemoveOwner = p.Workload.Object.GetUID()
		return
	}
	pod.Deleted = true
	p.Stage.Delete = append(p.Stage.Delete, rollout.PodDeletion{Pod: pod.Pod, For: rollout.DeleteUnselected, Unchanged: true})
}
