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
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// user is a pod of an instance that mounts claims.
func user(id string, age time.Duration, mounts ...string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web-" + id, UID: types.UID("uid-" + id), Labels: map[string]string{v1alpha1.CloneSetInstanceIDLabel: id},
		CreationTimestamp: metav1.NewTime(claimsNow.Add(-age))}}
	pod.Spec.Volumes = []corev1.Volume{{Name: "tmp"}}
	for _, name := range mounts {
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}}})
	}
	return pod
}

var claimsNow = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

// CS-18, CS-36, CS-39: whose claims are kept, given away and deleted.
func TestWhoseClaimsAre(t *testing.T) {
	const hour = time.Hour
	for _, test := range []struct {
		name                        string
		pods, released, ended       []*corev1.Pod
		claims                      string // of each its name and, behind a colon, the instance; "~" behind it is terminating
		unused                      string
		missing                     int32
		noReuse                     bool
		kept, dying, given, deleted string
		getsClaims                  bool
	}{
		{name: "those of an active pod", pods: []*corev1.Pod{user("a", hour, "data-a")}, claims: "data-a:a", kept: "a=data-a"},
		{name: "the same, not to be used again", pods: []*corev1.Pod{user("a", hour, "data-a")}, claims: "data-a:a", noReuse: true, kept: "a=data-a"},
		{name: "those that no pod uses", claims: "data-a:a", kept: "a=data-a"},
		{name: "the same, not to be used again", claims: "data-b:b data-a:a", noReuse: true, deleted: "data-a data-b"},
		{name: "one without an instance", claims: "data-a: data-b:b", noReuse: true, deleted: "data-b"},
		{name: "one without an instance, used again", claims: "data-a: data-b:b", kept: "b=data-b"},
		{name: "one that terminates", claims: "data-a:a~ data-b:b", noReuse: true, dying: "a", deleted: "data-b"},
		{name: "those of a pod that is released", released: []*corev1.Pod{user("a", hour, "data-a")}, claims: "data-a:a", given: "data-a>Pod web-a", getsClaims: true},
		{name: "those of a pod that is deleted since it was made just now", released: []*corev1.Pod{user("a", 0, "data-a")}, claims: "data-a:a", noReuse: true, kept: "a=data-a"},
		{name: "those of one beside another that is released", released: []*corev1.Pod{user("a", 0, "data-a"), user("b", hour, "data-b")}, claims: "data-a:a data-b:b",
			noReuse: true, kept: "a=data-a", given: "data-b>Pod web-b"},
		{name: "those of a pod that has ended", ended: []*corev1.Pod{user("a", hour, "data-a")}, claims: "data-a:a", kept: "a=data-a"},
		{name: "the same, not to be used again", ended: []*corev1.Pod{user("a", hour, "data-a")}, claims: "data-a:a", noReuse: true, given: "data-a>Pod web-a"},
		{name: "one whose instance was changed, which a pod mounts", pods: []*corev1.Pod{user("a", hour, "data-a")}, claims: "data-a:x", noReuse: true, kept: "x=data-a"},
		{name: "one that no pod mounts, of the instance of a pod", pods: []*corev1.Pod{user("a", hour)}, claims: "data-a:a", noReuse: true, kept: "a=data-a"},
		{name: "one that a pod mounts, of the instance of another that has ended", pods: []*corev1.Pod{user("a", hour, "data-a")}, ended: []*corev1.Pod{user("b", hour)},
			claims: "data-a:b", noReuse: true, kept: "b=data-a"},
		{name: "those made for a pod that never came", claims: "data-a:a logs-a:a data-b:b", unused: "a b", missing: 1, noReuse: true, kept: "a=data-a,logs-a", deleted: "data-b"},
		{name: "the same, and two are missing", claims: "data-a:a data-b:b", unused: "a b", missing: 2, noReuse: true, kept: "a=data-a b=data-b"},
		{name: "the same, and none is missing", claims: "data-a:a", unused: "a", noReuse: true, deleted: "data-a"},
	} {
		t.Run(test.name, func(t *testing.T) {
			set := &v1alpha1.CloneSet{ObjectMeta: metav1.ObjectMeta{Name: "web", UID: "uid-web"}}
			set.Spec.ScaleStrategy.DisablePVCReuse = test.noReuse
			p := &planner{Snapshot: &Snapshot{Set: set, Now: claimsNow, Unused: map[string]bool{}}, plan: &Plan{}}
			p.Planner = podplan.NewPlanner(&p.plan.Plan, failedScale)
			p.At, p.plan.Diff.ScaleUp = claimsNow, test.missing
			for _, id := range strings.Fields(test.unused) {
				p.Unused[id] = true
			}
			for _, word := range strings.Fields(test.claims) {
				name, id, _ := strings.Cut(word, ":")
				claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{v1alpha1.CloneSetInstanceIDLabel: strings.TrimSuffix(id, "~")},
					OwnerReferences: []metav1.OwnerReference{{Kind: "ConfigMap", Name: "other", UID: "other"}, {Kind: "CloneSet", Name: "web", UID: "uid-web", Controller: new(true)}}}}
				if strings.HasSuffix(id, "~") {
					claim.DeletionTimestamp = &metav1.Time{Time: claimsNow}
				}
				p.Claims = append(p.Claims, claim)
			}
			views := func(pods []*corev1.Pod) (views []*pod) {
				for _, of := range pods {
					view := &pod{}
					view.Pod = of
					views = append(views, view)
				}
				return views
			}
			p.pods, p.released, p.inactive = views(test.pods), views(test.released), test.ended
			grouped := p.planClaims()
			var kept, given, deleted []string
			for _, id := range slices.Sorted(maps.Keys(grouped.of)) {
				var of []string
				for _, claim := range grouped.of[id] {
					of = append(of, claim.Name)
				}
				kept = append(kept, id+"="+strings.Join(of, ","))
			}
			for _, c := range p.plan.PatchClaims {
				given = append(given, c.Claim.Name+ownersAfter(c))
			}
			for _, claim := range p.plan.DeleteClaims {
				deleted = append(deleted, claim.Name)
			}
			got := fmt.Sprintf("kept %v, dying %v, given %v, deleted %v", kept, slices.Sorted(maps.Keys(grouped.dying)), given, deleted)
			want := fmt.Sprintf("kept [%s], dying [%s], given [%s], deleted [%s]", test.kept, test.dying, test.given, test.deleted)
			if got != want {
				t.Errorf("%s, want %s", got, want)
			}
			for _, pod := range p.released {
				if gets := pod.getsClaims; len(p.released) == 1 && gets != test.getsClaims {
					t.Errorf("the pod that is released gets claims: %v", gets)
				}
			}
			if len(test.pods) > 0 {
				if n := len(grouped.ofPod(test.pods[0])); n != len(grouped.of[instanceID(test.pods[0])]) {
					t.Errorf("%d claims of the pod", n)
				}
			}
		})
	}
}

// ownersAfter is the pod that a patch gives a claim to, in the place of the CloneSet.
func ownersAfter(c rollout.ClaimPatch) string {
	if len(c.Owners) != 2 || c.Owners[0].Name != "other" || c.Owners[1].BlockOwnerDeletion != nil || c.Owners[1].Controller == nil {
		return fmt.Sprintf(">%+v", c.Owners)
	}
	return ">" + c.Owners[1].Kind + " " + c.Owners[1].Name
}
