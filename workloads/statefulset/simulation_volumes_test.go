// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
	"github.com/podwright/podwright/internal/testing/simulation/planted"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// TestSimulationOfVolumes has users edit the sizes of claims while a driver fails now and then. Claims grow, as their class has
// it, at once, when pods start anew, later or never.
func TestSimulationOfVolumes(t *testing.T) { simulation.Check(t, growing(bug{})) }

// TestSimulationOfVolumesFindsBugs plants bugs into how claims grow, each of which a few seeds must find.
func TestSimulationOfVolumesFindsBugs(t *testing.T) {
	expansible := func(s *Snapshot) {
		s.Classes = map[string]*storagev1.StorageClass{}
		for _, claim := range s.Claims {
			class := ptr.Deref(claim.Spec.StorageClassName, "")
			s.Classes[class] = &storagev1.StorageClass{AllowVolumeExpansion: ptr.To(true)}
		}
	}
	plant := simulation.Plant(t, growing)
	plant("claims grow while the update is paused", invariants.Paused, 87, inRolling(func(r *v1beta1.RollingUpdateStatefulSetStrategy) { r.Paused = false }))
	plant("claims grow below the partition", invariants.Partition, 17, inRolling(func(r *v1beta1.RollingUpdateStatefulSetStrategy) { r.Partition = nil }))
	plant("claims grow with OnDelete", invariants.Claims, 4, misreading(func(s *Snapshot) {
		s.Set.Spec.VolumeClaimUpdateStrategy = &v1beta1.StatefulSetVolumeClaimUpdateStrategy{Type: v1beta1.OnPodRollingUpdateVolumeClaimUpdateStrategyType}
		expansible(s)
	}))
	plant("all claims grow at a time", invariants.Availability, 3, inPlan(func(s *Snapshot, p *Plan) {
		if len(p.ResizeClaims) > 0 {
			all := *s
			all.Set = s.Set.DeepCopy()
			all.Set.Spec.UpdateStrategy.RollingUpdate.MaxUnavailable = ptr.To(intstr.FromInt32(9))
			p.ResizeClaims = NewPlan(&all).ResizeClaims
		}
	}))
	plant("claims that are on their way are forgotten", invariants.Availability, 8, misreading(func(s *Snapshot) {
		for _, claim := range s.Claims {
			claim.Status.Capacity = claim.Spec.Resources.Requests
		}
	}))
	plant("storage classes are not asked", invariants.Settled, 11, misreading(expansible))
	plant("a claim asks for more than its template", invariants.Claims, 0, inPlan(func(_ *Snapshot, p *Plan) {
		for i := range p.ResizeClaims {
			p.ResizeClaims[i].Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("11Gi")}
		}
	}))
	plant("claims do not grow", invariants.Settled, 0, inPlan(func(_ *Snapshot, p *Plan) { p.ResizeClaims = nil }))
	plant("nothing says that claims cannot grow", invariants.Status, 156, inStatus(func(status *v1beta1.StatefulSetStatus) {
		status.Conditions = slices.DeleteFunc(status.Conditions, func(c appsv1.StatefulSetCondition) bool { return string(c.Type) == failedUpdate })
	}))
	plant("nothing says that file systems grow when pods start anew", invariants.Status, 119, inStatus(func(status *v1beta1.StatefulSetStatus) {
		status.Conditions = slices.DeleteFunc(status.Conditions, func(c appsv1.StatefulSetCondition) bool { return strings.Contains(c.Message, "its volume has grown") })
	}))
	plant("one claim too many is counted", invariants.Status, 0, inPlan(func(_ *Snapshot, p *Plan) {
		if p.Status != nil && len(p.Status.VolumeClaims) > 0 {
			p.Status.VolumeClaims[0].CompatibleReplicas++
		}
	}))
}

// growing are histories in which claims grow.
func growing(b bug) *simulation.Subject {
	features, rules := laterFeatures, laterRules
	features.ResizeClaims, rules.ResizeClaims = true, true
	w := later(b)
	w.VolumesGrow = true
	w.Start = planted.Start(tested, b, simulatedOptions(features))
	w.Create = func(r *rand.Rand) simulation.Object {
		set := anySet(r)
		simulation.Merge(set, sized(r, anyClass(r)))
		simulation.Merge(set, `{"spec":{"volumeClaimUpdateStrategy":{"type":"OnPodRollingUpdate"}}}`)
		return set
	}
	w.Act = b.Act(func(u *simulation.User, r *rand.Rand) {
		switch r.IntN(8) {
		case 0, 1:
			u.Edit(sized(r, classOf(u.Workload().(*v1beta1.StatefulSet), r)))
		case 2:
			u.Edit(simulation.AnyEdit(r, laterEdits))
		default:
			act(u, r)
		}
	})
	w.Push = func(u *simulation.User) {
		u.MendClasses()
		if tooLarge(u.Workload().(*v1beta1.StatefulSet)) {
			u.Edit(`{"spec":{"volumeClaimTemplates":` + claimTemplates(simulation.ClassOnline, 9, 3) + `}}`)
		}
		push(u, rules)
	}
	w.Judge = judgedBy(rules)
	return w
}

// tooLarge tells whether the driver has no room for what a claim template asks for.
func tooLarge(set *v1beta1.StatefulSet) bool {
	return slices.ContainsFunc(set.Spec.VolumeClaimTemplates, func(t corev1.PersistentVolumeClaim) bool {
		return t.Spec.Resources.Requests.Storage().String() == "50Gi"
	})
}

// anyClass is a storage class.
func anyClass(r *rand.Rand) string {
	return []string{simulation.ClassOnline, simulation.ClassOnline, simulation.ClassOffline, simulation.ClassMended, simulation.ClassRigid, simulation.ClassGone}[r.IntN(6)]
}

// classOf is the storage class that the claims have, and another one at times.
func classOf(set *v1beta1.StatefulSet, r *rand.Rand) string {
	if t := set.Spec.VolumeClaimTemplates; len(t) > 0 && t[0].Spec.StorageClassName != nil && r.IntN(12) > 0 {
		return *t[0].Spec.StorageClassName
	}
	return anyClass(r)
}

// sized is an edit of the sizes of the claims.
func sized(r *rand.Rand, class string) string {
	sizes := []int{1, 2, 3, 4, 5, 6, 7, 50}
	return `{"spec":{"volumeClaimTemplates":` + claimTemplates(class, sizes[r.IntN(len(sizes))], sizes[r.IntN(len(sizes))]) + `}}`
}

// claimTemplates are claim templates of sizes in GiB.
func claimTemplates(class string, data, logs int) string {
	const one = `{"metadata":{"name":%q},"spec":{"storageClassName":%q,"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"%dGi"}}}}`
	return "[" + fmt.Sprintf(one, "data", class, data) + "," + fmt.Sprintf(one, "logs", "online", logs) + "]"
}
