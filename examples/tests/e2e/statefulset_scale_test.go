// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/examples/tests/testbed"
	"github.com/podwright/podwright/workloads/v1beta1"
)

func TestReserveOrdinals(t *testing.T) {
	testbed.Long(t)
	t.Parallel()
	s := newStatefulSetFixture(t)
	s.run(statefulSet(3, s.spec(`{reserveOrdinals: [1]}`)))
	s.acted("STS-1: in order, without the reserved ordinal", 0,
		"create web-0", "serve web-0", "create web-2", "serve web-2", "create web-3", "serve web-3")
	s.edit("web", s.spec(`{reserveOrdinals: [1, 2]}`))
	s.awaitSettled("web")
	s.acted("STS-E15: the next ordinal first, then the reserved pod goes", 6, "create web-4", "serve web-4", "delete web-2")
	s.edit("web", s.spec(`{reserveOrdinals: [2]}`))
	s.awaitSettled("web")
	s.acted("STS-E14: an ordinal that is free again is used, and the highest one goes", 9, "create web-1", "serve web-1", "delete web-4")
	s.edit("web", s.spec(`{replicas: 2}`))
	s.awaitSettled("web")
	s.acted("STS-1: the highest goes", 12, "delete web-3")
}

// With scaleStrategy.maxUnavailable, a parallel start holds back while so many pods are not available.
func TestScaleStrategy(t *testing.T) {
	t.Parallel()
	s := newStatefulSetFixture(t)
	s.create(statefulSet(6, s.spec(`{podManagementPolicy: Parallel, scaleStrategy: {maxUnavailable: 2}}`)))
	s.awaitSettled("web")
	out, most := 0, 0
	for _, act := range s.history.acted() {
		switch {
		case act[0] == 'c': // create
			out++
		case act[0] == 's': // serve
			out--
		}
		most = max(most, out)
	}
	if most != 2 {
		s.Errorf("STS-9: expected two pods to start at a time, observed %d in %v", most, s.history.acted())
	}
	s.created(6)
	s.deletedOnly()
}

// retained sets what becomes of claims, of which every pod has one.
func (s *statefulSetFixture) retained(whenDeleted, whenScaled string) func(*v1beta1.StatefulSet) {
	return func(set *v1beta1.StatefulSet) {
		s.spec(dataClaims)(set)
		s.spec(fmt.Sprintf(`{persistentVolumeClaimRetentionPolicy: {whenDeleted: %s, whenScaled: %s}}`, whenDeleted, whenScaled))(set)
	}
}

// awaitLasting waits until these claims are bound and go with no pod.
func (s *statefulSetFixture) awaitLasting(names ...string) {
	s.Helper()
	s.Await(fmt.Sprintf("STS-23, STS-24: the claims %v are Bound and without owners", names), func() string {
		for _, name := range names {
			claim, found := s.Claims.Named(name)
			if !found || claim.Status.Phase != corev1.ClaimBound || claim.DeletionTimestamp != nil || len(claim.OwnerReferences) > 0 {
				return fmt.Sprintf("claim %s: found=%v %+v", name, found, claim)
			}
		}
		return ""
	})
}

// A pod that stays keeps its claim, also if reserved ordinals give it a number beyond the replicas.
func TestClaimsOfReservedOrdinals(t *testing.T) {
	testbed.Long(t)
	t.Parallel()
	s := newStatefulSetFixture(t)
	s.run(statefulSet(3, s.retained("Retain", "Delete"), s.spec(parallelInPlace), s.spec(`{reserveOrdinals: [1]}`)))
	s.awaitLasting("data-web-0", "data-web-2", "data-web-3")
	claims, old := s.Claims.All(), s.owned("web")[2]
	s.DeletePod("web-3")
	s.AwaitGone(old, "deleted by a user")
	s.awaitSettled("web")
	s.keptClaims(claims) // STS-24
	// A pod whose ordinal is reserved is not scaled down: its claim is kept.
	s.edit("web", s.spec(`{reserveOrdinals: [1, 2]}`))
	s.awaitSettled("web")
	s.awaitClaims("STS-24: that of the reserved ordinal stays", []string{"data-web-0", "data-web-2", "data-web-3", "data-web-4"})
	s.edit("web", s.spec(`{replicas: 2}`))
	s.awaitSettled("web")
	s.awaitClaims("STS-23: that of the pod that is left over goes", testbed.Names(claims))
	s.keptClaims(claims)
	s.awaitLasting(testbed.Names(claims)...)
}

// A pod that comes back soon after it was scaled away waits until its former claim is gone, which is about to go.
func TestClaimsOfPodsThatComeBack(t *testing.T) {
	testbed.Long(t)
	t.Parallel()
	s := newStatefulSetFixture(t)
	s.run(statefulSet(3, s.retained("Retain", "Delete"), s.spec(parallelInPlace)))
	old, _ := s.Claims.Named("data-web-2")
	held := func(patch string) {
		s.Helper()
		claims := s.Core.CoreV1().PersistentVolumeClaims(s.Namespace)
		if _, err := claims.Patch(s.Context(), "data-web-2", types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
			s.Fatalf("patch claim data-web-2: %v", err)
		}
	}
	held(`{"metadata":{"finalizers":["` + holdFinalizer + `"]}}`)
	gone, _ := s.Pods.Named("web-2")
	s.edit("web", s.spec(`{replicas: 2}`))
	s.AwaitGone(gone, "STS-12: scaled away")
	// Before that a controller that has yet to see that the pod is gone may keep the claim for the one to come.
	s.Await("STS-23: the garbage collector deletes the claim", func() string {
		if claim, found := s.Claims.Named("data-web-2"); found && claim.DeletionTimestamp == nil {
			return fmt.Sprintf("owners %v", claim.OwnerReferences)
		}
		return ""
	})
	s.edit("web", s.spec(`{replicas: 3}`))
	s.awaitStatus("web", "STS-E17: the status says what is waited for", func(set *v1beta1.StatefulSet) string {
		for _, c := range set.Status.Conditions {
			if c.Type == v1beta1.StatefulSetConditionFailedCreatePod && c.Status == corev1.ConditionTrue {
				return ""
			}
		}
		return fmt.Sprintf("status %+v", set.Status)
	})
	held(`{"metadata":{"$deleteFromPrimitiveList/finalizers":["` + holdFinalizer + `"]}}`)
	s.awaitSettled("web")
	if claim, found := s.Claims.Named("data-web-2"); !found || claim.UID == old.UID {
		s.Errorf("STS-E17: expected another claim than %s, observed found=%v: %+v", old.UID, found, claim)
	}
	s.created(4)

	// At any speed the pod ends with a claim that stays.
	for range 3 {
		s.edit("web", s.spec(`{replicas: 2}`))
		s.edit("web", s.spec(`{replicas: 3}`))
	}
	s.awaitSettled("web")
	s.awaitLasting("data-web-0", "data-web-1", "data-web-2")
}

// With whenDeleted Delete, the garbage collector removes the claims with the set, and no controller creates them again.
func TestClaimsOfDeletedStatefulSets(t *testing.T) {
	t.Parallel()
	for _, how := range []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground} {
		t.Run(string(how), func(t *testing.T) {
			t.Parallel()
			s := newStatefulSetFixture(t)
			s.run(statefulSet(3, s.retained("Delete", "Retain"), s.spec(parallelInPlace), s.spec(`{reserveOrdinals: [0]}`)))
			s.edit("web", s.spec(`{replicas: 2}`))
			s.awaitSettled("web")
			s.awaitClaims("STS-23: whenScaled Retain", []string{"data-web-1", "data-web-2", "data-web-3"})
			s.deleteSet("web", how)
			s.Await("STS-E16: no pods, claims and revisions", s.anythingLeft)
			s.created(3)
		})
	}
}
