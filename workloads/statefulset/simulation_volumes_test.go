// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// TestSimulationOfVolumes has users edit the sizes of claims, of classes that grow at once, when pods start anew, later or never,
// while a driver fails now and then.
func TestSimulationOfVolumes(t *testing.T) { simulation.Check(t, growing(bug{})) }

// growing are histories in which claims grow.
func growing(b bug) *simulation.Workload {
	features, rules := laterFeatures, laterRules
	features.ResizeClaims, rules.ResizeClaims = true, true
	w := later(b)
	w.VolumesGrow = true
	w.Start = func(p *simulation.Process) (simulation.Controller, error) { return startWith(p, b, features) }
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
		pushLater(u)
	}
	w.Judge = func(uint64) simulation.Judge {
		past := invariants.NewPast()
		past.StatefulSets = rules
		return simulation.Judge{Observe: past.Observe, Write: past.StatefulSet, Settled: past.StatefulSetSettled}
	}
	return w
}

// tooLarge tells whether the driver has no room for what a claim template asks for.
func tooLarge(set *v1beta1.StatefulSet) bool {
	return slices.ContainsFunc(set.Spec.VolumeClaimTemplates, func(t corev1.PersistentVolumeClaim) bool { return t.Spec.Resources.Requests.Storage().String() == "50Gi" })
}

// anyClass is a storage class.
func anyClass(r *rand.Rand) string {
	return []string{simulation.ClassOnline, simulation.ClassOnline, simulation.ClassOffline, simulation.ClassMended, invariants.ClassRigid, invariants.ClassGone}[r.IntN(6)]
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
