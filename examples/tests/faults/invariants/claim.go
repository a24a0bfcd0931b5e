// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/examples/tests/testbed/podstate"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// judgeClaim judges what has become of a claim that has the name of one of a workload.
func (j *Judge) judgeClaim(v *verdict, c Change) {
	claim := c.latest().(*corev1.PersistentVolumeClaim)
	for uid, s := range j.sets {
		pod := s.podName(claim.Name)
		if pod == "" {
			continue
		}
		if s.hasOrdinals() && c.Old != nil && deleted(c.Old, c.New) {
			j.judgeCollection(v, s, claim, pod)
			continue
		}
		w := writeOfClaim(c)
		if w == nil {
			continue
		}
		w.Truth = j.truth(uid, c)
		for _, violation := range s.judge(w, v.gap, w.Truth.Pods) {
			v.add(violation)
		}
	}
}

// judgeCollection: the garbage collector deletes claims of StatefulSets, because their controller gives them an owner for
// that. It does so if a policy says so, and not before the pod of the claim is gone.
func (j *Judge) judgeCollection(v *verdict, s *set, claim *corev1.PersistentVolumeClaim, name string) {
	for _, pod := range j.pods {
		v.expect(pod.Name != name || !podstate.Active(pod), invariants.Claims, "deleted, and %s has it", podstate.Describe(pod, false))
	}
	v.expect(s.collects(claim, name), invariants.Claims, "deleted, and the policy retains it")
}

// writeOfClaim returns the write by which a controller has changed a claim, without the truth; nil if it was another writer.
func writeOfClaim(c Change) *invariants.Write {
	w := &invariants.Write{Resource: "persistentvolumeclaims"}
	before, _ := c.Old.(*corev1.PersistentVolumeClaim)
	after, _ := c.New.(*corev1.PersistentVolumeClaim)
	if before != nil {
		w.Before = before
	}
	if after != nil {
		w.After = after
	}
	switch {
	case before == nil:
		w.Verb = "create"
	case deleted(c.Old, c.New):
		w.Verb = "delete"
	case after == nil:
		return nil
	default:
		w.Verb = "patch"
		part := after.DeepCopy()
		part.Spec.VolumeName = before.Spec.VolumeName // that is for who provides volumes
		if equality.Semantic.DeepEqual(before.OwnerReferences, part.OwnerReferences) &&
			equality.Semantic.DeepEqual(before.Labels, part.Labels) && equality.Semantic.DeepEqual(before.Spec, part.Spec) {
			return nil
		}
		w.After = part
	}
	return w
}

// collects tells whether a policy that counts lets a claim go with its pod.
func (s *set) collects(claim *corev1.PersistentVolumeClaim, pod string) bool {
	for _, spec := range s.counting {
		set, is := spec.(*v1beta1.StatefulSet)
		if is && invariants.MayOwn(set, claim, metav1.OwnerReference{APIVersion: "v1", Kind: "Pod", Name: pod}) {
			return true
		}
	}
	return false
}

func (s *set) hasOrdinals() bool {
	_, is := s.counting[0].(*v1beta1.StatefulSet)
	return is
}
