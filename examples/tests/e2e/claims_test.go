// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/examples/tests/testbed"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// claimTemplate gives every pod a claim, mounted in the container main.
func claimTemplate(name string) func(*v1alpha1.CloneSet) {
	return func(set *v1alpha1.CloneSet) {
		set.Spec.VolumeClaimTemplates = append(set.Spec.VolumeClaimTemplates, corev1.PersistentVolumeClaim{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: corev1.PersistentVolumeClaimSpec{
				AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				Resources: corev1.VolumeResourceRequirements{
					Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
				},
			},
		})
		main := &set.Spec.Template.Spec.Containers[0]
		main.VolumeMounts = append(main.VolumeMounts, corev1.VolumeMount{Name: name, MountPath: "/" + name})
	}
}

func disablePVCReuse(set *v1alpha1.CloneSet) { set.Spec.ScaleStrategy.DisablePVCReuse = true }

// claimOf returns the name of the claim that a pod mounts.
func claimOf(pod *corev1.Pod) string {
	for _, volume := range pod.Spec.Volumes {
		if volume.PersistentVolumeClaim != nil {
			return volume.PersistentVolumeClaim.ClaimName
		}
	}
	return ""
}

// claimUIDs are the claims that the pods of a CloneSet mount. It fails if one is not bound or not owned by the set.
func (s *cloneSetFixture) claimUIDs(set *v1alpha1.CloneSet) map[string]types.UID {
	s.Helper()
	uids := map[string]types.UID{}
	for _, pod := range s.owned(set.Name) {
		name := claimOf(pod)
		claim, found := s.Claims.Named(name)
		if !found {
			s.Errorf("pod %s: expected the claim %s, observed none", pod.Name, name)
			continue
		}
		owner := metav1.GetControllerOf(claim)
		if claim.Status.Phase != corev1.ClaimBound || owner == nil || owner.UID != set.UID {
			s.Errorf("claim %s: expected it to be Bound and owned by %s, observed %s and %v", name, set.UID, claim.Status.Phase, owner)
		}
		id := pod.Labels[v1alpha1.CloneSetInstanceIDLabel]
		if want := "data-" + set.Name + "-" + id; name != want || claim.Labels[v1alpha1.CloneSetInstanceIDLabel] != id || claim.Labels["app"] != set.Name {
			s.Errorf("CS-20: expected the claim %s with the id and the selector's labels, observed %s with %v", want, name, claim.Labels)
		}
		uids[name] = claim.UID
	}
	return uids
}

// awaitClaims waits until there are exactly these claims.
func (s *fixture[T]) awaitClaims(rule string, wanted []string) {
	s.Helper()
	slices.Sort(wanted)
	s.Await(fmt.Sprintf("%s: the claims %v", rule, wanted), func() string {
		if found := testbed.Names(s.Claims.All()); !slices.Equal(found, wanted) {
			return fmt.Sprintf("%v", found)
		}
		return ""
	})
}

func TestClaimsFollowTheirPods(t *testing.T) {
	t.Parallel()
	s := newCloneSetFixture(t)
	set := s.run(cloneSet("web", 3, claimTemplate("data")))
	before := s.claimUIDs(set)
	if len(before) != 3 {
		s.Fatalf("CS-20: expected 3 claims, observed %v", before)
	}

	// Scale in: the claim goes with its pod.
	s.edit("web", replicas(2))
	s.awaitSettled("web")
	left := s.owned("web")
	s.awaitClaims("CS-24: after scaling in", []string{claimOf(left[0]), claimOf(left[1])})

	// A user deletes a pod: the next one takes over the name and the claim.
	victim := left[0]
	s.DeletePod(victim.Name)
	s.Await("CS-35: another pod of the name "+victim.Name, func() string {
		for _, pod := range s.owned("web") {
			if pod.Name == victim.Name && pod.UID != victim.UID {
				return ""
			}
		}
		return fmt.Sprintf("%v", testbed.Names(s.owned("web")))
	})
	s.awaitSettled("web")
	after := s.claimUIDs(set)
	if after[claimOf(victim)] != before[claimOf(victim)] {
		s.Errorf("CS-35: expected the claim %s of before, UID %s, observed UID %s", claimOf(victim), before[claimOf(victim)], after[claimOf(victim)])
	}

	// A changed claim template alone rolls nothing.
	s.edit("web", func(set *v1alpha1.CloneSet) {
		set.Spec.VolumeClaimTemplates[0].Spec.Resources.Requests[corev1.ResourceStorage] = resource.MustParse("2Gi")
	}, replicas(3))
	s.awaitSettled("web")
	if revisions := s.Revisions.All(); len(revisions) != 1 {
		s.Errorf("CS-E14: expected one revision, observed %v", testbed.Names(revisions))
	}
	sizes := map[string]int{}
	for _, claim := range s.Claims.All() {
		sizes[claim.Spec.Resources.Requests.Storage().String()]++
	}
	if sizes["1Gi"] != 2 || sizes["2Gi"] != 1 {
		s.Errorf("CS-E14: expected two claims of 1Gi and a new one of 2Gi, observed %v", sizes)
	}
}

func TestClaimsAreNotReused(t *testing.T) {
	t.Parallel()
	s := newCloneSetFixture(t)
	set := s.run(cloneSet("web", 2, claimTemplate("data"), disablePVCReuse))
	victim, other := s.owned("web")[0], s.owned("web")[1]
	s.DeletePod(victim.Name)
	s.Await("CS-36: the claim of a pod that a user deleted goes", func() string {
		if claim, found := s.Claims.Named(claimOf(victim)); found {
			return fmt.Sprintf("claim %s, owners %v, finalizers %v", claim.Name, claim.OwnerReferences, claim.Finalizers)
		}
		return ""
	})
	s.awaitSettled("web")
	for _, pod := range s.owned("web") {
		if pod.Name == victim.Name {
			s.Errorf("CS-36: expected a pod of another name than %s, observed that name again", victim.Name)
		}
	}

	// The claim of a pod that has failed goes over to that pod, and goes with it.
	s.SetPhase(other.Name, corev1.PodFailed)
	s.Await("CS-36: the claim of a failed pod is handed over to it", func() string {
		claim, found := s.Claims.Named(claimOf(other))
		if !found {
			return "there is no claim " + claimOf(other)
		}
		if owner := metav1.GetControllerOf(claim); owner == nil || owner.UID != other.UID || len(claim.OwnerReferences) != 1 {
			return fmt.Sprintf("owners %v", claim.OwnerReferences)
		}
		return ""
	})
	s.awaitSettled("web")
	s.claimUIDs(set)
	s.DeletePod(other.Name)
	var wanted []string
	for _, pod := range s.owned("web") {
		wanted = append(wanted, claimOf(pod))
	}
	s.awaitClaims("CS-36: the garbage collector removes the claim with its pod", wanted)
}

// A recreated pod gets a claim of its own; the old one is not left behind.
func TestClaimsOfRecreatedPods(t *testing.T) {
	testbed.Long(t)
	t.Parallel()
	s := newCloneSetFixture(t)
	set := s.run(cloneSet("web", 3, claimTemplate("data"), strategy(reCreate, 1)))
	before := s.owned("web")
	s.expect("web", 2, 3)
	s.edit("web", image("web:2"))
	s.awaitSettled("web")
	s.keptBudget("web")
	s.deletedOnly(testbed.Names(before)...)
	var wanted []string
	for name := range s.claimUIDs(set) {
		wanted = append(wanted, name)
	}
	s.awaitClaims("CS-24: after a rollout", wanted)
}
