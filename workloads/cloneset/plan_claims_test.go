// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/podplan"
	"github.com/podwright/podwright/internal/testing/patches"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// claimed is a row of testdata/claims: pods, by their instances, and claims with these. Instances that are unused have no pod that could be created.
type claimed struct {
	Pods, Released, Ended users
	Claims                map[string]string
	Unused                map[string]bool
	Missing               int32
	NoReuse               bool
}

type users map[string]struct {
	Mounts []string
	New    bool
}

var claimsNow = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

func (u users) views() (views []*pod) {
	for _, id := range slices.Sorted(maps.Keys(u)) {
		shared := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web-" + id, UID: types.UID("uid-" + id),
			Labels: map[string]string{v1alpha1.CloneSetInstanceIDLabel: id}, CreationTimestamp: metav1.NewTime(claimsNow.Add(-time.Hour))}}
		if u[id].New {
			shared.CreationTimestamp = metav1.NewTime(claimsNow)
		}
		shared.Spec.Volumes = []corev1.Volume{{Name: "tmp"}}
		for _, name := range u[id].Mounts {
			shared.Spec.Volumes = append(shared.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}}})
		}
		view := &pod{}
		view.Pod = shared
		views = append(views, view)
	}
	return views
}

// CS-18, CS-36, CS-39: whose claims are kept, given away and deleted.
func TestWhoseClaimsAre(t *testing.T) {
	patches.PlayRows(t, "testdata/claims", func() claimed { return claimed{} }, func(t *testing.T, _ string, row *claimed) string {
		set := &v1alpha1.CloneSet{ObjectMeta: metav1.ObjectMeta{Name: "web", UID: "uid-web"}}
		set.Spec.ScaleStrategy.DisablePVCReuse = row.NoReuse
		p := &planner{Snapshot: &Snapshot{Set: set, Now: claimsNow, Unused: row.Unused}, plan: &Plan{}}
		p.Planner = podplan.NewPlanner(&p.plan.Plan, failedScale)
		p.At, p.plan.Diff.ScaleUp = claimsNow, row.Missing
		for name, id := range row.Claims {
			claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: name,
				Labels: map[string]string{v1alpha1.CloneSetInstanceIDLabel: strings.TrimSuffix(id, "~")},
				OwnerReferences: []metav1.OwnerReference{{Kind: "ConfigMap", Name: "other", UID: "other"},
					{Kind: "CloneSet", Name: "web", UID: "uid-web", Controller: new(true)}}}}
			if strings.HasSuffix(id, "~") {
				claim.DeletionTimestamp = &metav1.Time{Time: claimsNow}
			}
			p.Claims = append(p.Claims, claim)
		}
		p.pods, p.released = row.Pods.views(), row.Released.views()
		for _, view := range row.Ended.views() {
			p.inactive = append(p.inactive, view.Pod)
		}
		grouped := p.planClaims()
		var out []string
		for _, id := range slices.Sorted(maps.Keys(grouped.of)) {
			for _, claim := range grouped.of[id] {
				out = append(out, fmt.Sprint("kept ", claim.Name, " of ", id))
			}
		}
		for _, id := range slices.Sorted(maps.Keys(grouped.dying)) {
			out = append(out, "dying "+id)
		}
		for _, c := range p.plan.PatchClaims {
			out = append(out, "given "+c.Claim.Name+ownersAfter(c))
		}
		for _, claim := range p.plan.DeleteClaims {
			out = append(out, "deleted "+claim.Name)
		}
		for _, view := range p.released {
			out = append(out, fmt.Sprint("pod ", view.Name, " gets claims: ", view.getsClaims))
		}
		for _, view := range p.pods {
			out = append(out, fmt.Sprint("pod ", view.Name, " has ", len(grouped.ofPod(view.Pod))))
		}
		return strings.Join(out, ", ")
	})
}

// ownersAfter is the pod that a patch gives a claim to, in the place of the CloneSet.
func ownersAfter(c rollout.ClaimPatch) string {
	if len(c.Owners) != 2 || c.Owners[0].Name != "other" || c.Owners[1].BlockOwnerDeletion != nil || c.Owners[1].Controller == nil {
		return fmt.Sprintf(">%+v", c.Owners)
	}
	return ">" + c.Owners[1].Kind + " " + c.Owners[1].Name
}

// CS-24: a manager notes for two minutes which claims it reuses.
func TestNotesOfReuseEnd(t *testing.T) {
	r, begin := &reconciler{}, time.Unix(1000, 0)
	first := r.reusedBy(begin)
	for after, noted := range map[time.Duration]bool{0: true, late - 1: true, late: false, time.Hour: false} {
		if got := r.reusedBy(begin.Add(after)); (got == first) != noted || (got == "") == noted {
			t.Errorf("after %v: %q, at first %q", after, got, first)
		}
	}
}

// TestClaimTemplateHash plays testdata/claim_hashes.txt. The hashes are those that OpenKruise 1.7 and later write, so that a
// cluster can be taken over and handed back. (CS-44)
func TestClaimTemplateHash(t *testing.T) {
	patches.PlayRows(t, "testdata/claim_hashes.txt", nil, func(_ *testing.T, _ string, row *v1alpha1.CloneSetSpec) string {
		return claimTemplateHash(row.VolumeClaimTemplates)
	})
}
