// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/examples/tests/testbed/podstate"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
)

// judgePod judges what has become of a pod that a workload controls, or did.
func (j *Judge) judgePod(v *verdict, c Change) {
	was := c.latest()
	if c.Old != nil {
		was = c.Old
	}
	s, uid := j.ownerOf(was)
	if s == nil {
		return
	}
	if c.New != nil {
		owner := metav1.GetControllerOfNoCopy(c.New)
		v.expect(owner != nil && owner.UID == uid, invariants.Ownership, "given away by %s", s.name)
	}
	w := j.writeOfPod(c, uid, v.gap)
	if w == nil || j.blind[uid] {
		return
	}
	if w.Before == nil {
		j.judgeNewPod(v, s, uid, c.New.(*corev1.Pod))
	}
	for _, violation := range s.judge(w, v.gap, slices.Concat(j.knownPods(uid), s.views(w), []map[string]*corev1.Pod{j.despiteSidecars(w.Truth.Pods)})...) {
		violation.Message += "; before: " + describe(w.Truth.Pods)
		v.add(violation)
	}
}

// judgeNewPod: a pod has a name of its own, and images that a user wants, or wanted when all was settled. It may also have
// the images of the current revision, which a partition may keep although no pod has it any more.
func (j *Judge) judgeNewPod(v *verdict, s *set, uid types.UID, pod *corev1.Pod) {
	v.expect(s.images[images(pod.Spec)] || s.asksFor(pod) || s.keeps(ownedBy(j.revisions, uid), pod), invariants.Partition, "created with %s, which no spec asks for", images(pod.Spec))
	if v.gap {
		return
	}
	for _, other := range j.pods {
		v.expect(other.Name != pod.Name || other.UID == pod.UID, invariants.Identity, "created while there is %s", podstate.Describe(other, false))
	}
	j.judgeMounts(v, pod)
}

// judgeMounts: a pod does not get a claim that is about to go or in use by another one.
func (j *Judge) judgeMounts(v *verdict, pod *corev1.Pod) {
	mounted := mounts(pod)
	for _, other := range j.pods {
		for name := range mounts(other) {
			v.expect(other.UID == pod.UID || !mounted[name], invariants.Claims, "gets claim %s, which %s still has", name, podstate.Describe(other, false))
		}
	}
	for _, claim := range j.claims {
		if !mounted[claim.Name] {
			continue
		}
		v.expect(claim.DeletionTimestamp == nil, invariants.Claims, "gets claim %s, which is about to go", claim.Name)
		for _, owner := range claim.OwnerReferences {
			v.expect(owner.Kind != "Pod" || owner.UID == pod.UID, invariants.Claims, "gets claim %s, which goes with the former pod %s", claim.Name, owner.UID)
		}
		delete(mounted, claim.Name)
	}
	for name := range mounted {
		v.expect(false, invariants.Claims, "gets claim %s, which there is not", name)
	}
}

// mounts are the names of the claims of a pod.
func mounts(pod *corev1.Pod) map[string]bool {
	names := map[string]bool{}
	for _, volume := range pod.Spec.Volumes {
		if volume.PersistentVolumeClaim != nil {
			names[volume.PersistentVolumeClaim.ClaimName] = true
		}
	}
	return names
}
