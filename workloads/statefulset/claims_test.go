// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// claims gives the set the claim template data, every pod its claim, and every claim owners. An owner is "" for none, "set",
// "pod", or "old" for a former pod of the name.
func claims(owners ...string) edit {
	return func(s *Snapshot) {
		s.Set.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data", Labels: map[string]string{"own": "label"}}}}
		p := &planner{Snapshot: s}
		for i, pod := range s.Pods {
			ordinal, _ := ordinalOf("web", pod.Name)
			(&creation{planner: p}).mountClaims(&pod.Spec, ordinal)
			owner := ""
			if i < len(owners) {
				owner = owners[i]
			}
			testClaim(s, ordinal, owner)
		}
	}
}

// testClaim adds the claim of a pod.
func testClaim(s *Snapshot, ordinal int, owner string) *corev1.PersistentVolumeClaim {
	pod := podName("web", ordinal)
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "data-" + pod, UID: types.UID("uid-data-" + pod)}}
	ref := metav1.OwnerReference{APIVersion: "v1", Kind: "Pod", Name: pod, UID: types.UID("uid-" + pod)}
	switch owner {
	case "set":
		ref = metav1.OwnerReference{APIVersion: "apps.kruise.io/v1beta1", Kind: "StatefulSet", Name: "web", UID: "uid-web"}
	case "former-set":
		ref = metav1.OwnerReference{APIVersion: "apps.kruise.io/v1beta1", Kind: "StatefulSet", Name: "web", UID: "uid-former"}
	case "old":
		ref.UID = "uid-former-pod"
	case "controller":
		ref = metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "boss", UID: "uid-boss", Controller: new(true)}
	case "friend":
		ref = metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "friend", UID: "uid-friend"}
	}
	if owner != "" {
		claim.OwnerReferences = []metav1.OwnerReference{ref}
	}
	s.Claims[claim.Name] = claim
	return claim
}

// STS-5, STS-23: an owner stands for a former pod or StatefulSet only if its kind, version and name say so.
func TestOwnersOfClaimsByName(t *testing.T) {
	p := &planner{Snapshot: testSnapshot(t, "A", "A", "0A")}
	for _, test := range []struct {
		owner    metav1.OwnerReference
		pod, set bool
	}{
		{metav1.OwnerReference{APIVersion: "v1", Kind: "Pod", Name: "web-0"}, true, false},
		{metav1.OwnerReference{APIVersion: "v1", Kind: "Pod", Name: "web-1"}, false, false},
		{metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "web-0"}, false, false},
		{metav1.OwnerReference{APIVersion: "example.com/v1", Kind: "Pod", Name: "web-0"}, false, false},
		{metav1.OwnerReference{APIVersion: "apps.kruise.io/v1beta1", Kind: "StatefulSet", Name: "web"}, false, true},
		{metav1.OwnerReference{APIVersion: "apps/v1", Kind: "StatefulSet", Name: "web"}, false, false},
		{metav1.OwnerReference{APIVersion: "apps.kruise.io/v1beta1", Kind: "StatefulSet", Name: "db"}, false, false},
		{metav1.OwnerReference{APIVersion: "apps.kruise.io/v1beta1", Kind: "Toy", Name: "web"}, false, false},
	} {
		if pod, set := namesPod(&test.owner, "web-0"), p.namesSet(&test.owner); pod != test.pod || set != test.set {
			t.Errorf("%s %s %s: names the pod %t, the StatefulSet %t", test.owner.APIVersion, test.owner.Kind, test.owner.Name, pod, set)
		}
	}
}
