// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/workloads/v1beta1"
)

const (
	retain  = appsv1.RetainPersistentVolumeClaimRetentionPolicyType
	deletes = appsv1.DeletePersistentVolumeClaimRetentionPolicyType
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
	case "former set":
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

func retention(whenDeleted, whenScaled appsv1.PersistentVolumeClaimRetentionPolicyType) edit {
	return func(s *Snapshot) {
		s.Set.Spec.PersistentVolumeClaimRetentionPolicy = &v1beta1.StatefulSetPersistentVolumeClaimRetentionPolicy{
			WhenDeleted: whenDeleted, WhenScaled: whenScaled,
		}
	}
}

func TestRetention(t *testing.T) {
	gateOff := func(s *Snapshot) { s.Features.NoAutoDeleteClaims = true }
	runPlanCases(t, []planCase{
		{"STS-23: Retain, Retain: no owner", "A", "A", "0A 1A", with(claims("set", "pod"), retention(retain, retain)), "own data-web-0=, own data-web-1=", ""},
		{"STS-23: Retain, Retain, scaled down", "A", "A", "0A 1A", with(claims("", "pod"), replicas(1)), "delete 1 Scale, own data-web-1=", ""},
		{"STS-23: Delete, Retain: the set", "A", "A", "0A 1A", with(claims("set", "pod"), retention(deletes, retain)), "own data-web-1=StatefulSet", ""},
		{"STS-23: Delete, Retain, scaled down: the set", "A", "A", "0A 1A", with(claims("set", ""), retention(deletes, retain), replicas(1)), "delete 1 Scale, own data-web-1=StatefulSet", ""},
		{"STS-23: Retain, Delete: no owner", "A", "A", "0A 1A", with(claims("", "pod"), retention(retain, deletes)), "own data-web-1=", ""},
		{"STS-23: Retain, Delete, scaled down: the pod", "A", "A", "0A 1A", with(claims(), retention(retain, deletes), replicas(1)), "delete 1 Scale, own data-web-1=Pod", ""},
		{"STS-23: Delete, Delete: the set", "A", "A", "0A 1A", with(claims("set", ""), retention(deletes, deletes)), "own data-web-1=StatefulSet", ""},
		{"STS-23: Delete, Delete, scaled down: the pod", "A", "A", "0A 1A", with(claims("set", "set"), retention(deletes, deletes), replicas(1)), "delete 1 Scale, own data-web-1=Pod", ""},
		{"STS-23: other owners stay", "A", "A", "0A", with(claims("friend"), retention(deletes, retain)), "own data-web-0=ConfigMap+StatefulSet", ""},
		{"STS-23: OrderedReady: claims of pods whose turn is later too", "A", "A", "0A 1A 2A", with(ordered, claims(), retention(retain, deletes), replicas(1)), "delete 2 Scale, own data-web-1=Pod, own data-web-2=Pod", "OrderedReady 1"},
		{"STS-23: a claim that something controls is left alone", "A", "A", "0A", with(claims("controller"), retention(deletes, retain)), "", ""},
		{"STS-23: a claim of a former set is left alone", "A", "A", "0A", with(claims("former set"), retention(deletes, retain)), "", ""},
		{"STS-24: a pod that stays is not scaled down, whatever its ordinal", "A", "A", "0A 2A 3A", with(claims(), reserve(1), retention(retain, deletes)), "", ""},
		{"STS-24: a pod whose ordinal is reserved keeps its claim", "A", "A", "0A 1A 2A", with(claims(), reserve(1), replicas(2), retention(retain, deletes)), "delete 1 Scale", ""},
		{"STS-25: unset policies retain", "A", "A", "0A 1A", with(claims("set"), retention("", ""), replicas(1)), "delete 1 Scale, own data-web-0=", ""},
		{"STS-E18: gate off: owners are left as they are", "A", "A", "0A 1A", with(claims("set", "set"), retention(retain, deletes), replicas(1), gateOff), "delete 1 Scale", ""},
	})
}

// STS-23: claims have their owners whatever other volumes stand before them.
func TestRetentionBesideOtherVolumes(t *testing.T) {
	other := func(s *Snapshot) {
		s.Pods[0].Spec.Volumes = append([]corev1.Volume{{Name: "tmp"}}, s.Pods[0].Spec.Volumes...)
	}
	plan := NewPlan(testSnapshot(t, "A", "A", "0A", claims(""), retention(deletes, retain), other))
	if len(plan.PatchClaims) != 1 || len(plan.PatchClaims[0].Owners) != 1 || plan.PatchClaims[0].Owners[0].Kind != "StatefulSet" {
		t.Errorf("changes of claims: %v", plan.PatchClaims)
	}
}

// The owners of a claim follow from the policy and from the pod that mounts it,
// whatever becomes of claim templates.
func TestRetentionWhereClaimTemplatesChange(t *testing.T) {
	added := func(s *Snapshot) {
		s.Set.Spec.VolumeClaimTemplates = append(s.Set.Spec.VolumeClaimTemplates, corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "logs"}})
	}
	removed := func(s *Snapshot) { s.Set.Spec.VolumeClaimTemplates = nil }
	renamed := func(s *Snapshot) { s.Set.Spec.VolumeClaimTemplates[0].Name = "store" }
	shared := func(s *Snapshot) { // of another pod, and by another name
		s.Pods[0].Spec.Volumes[0].PersistentVolumeClaim.ClaimName = "data-web-1"
		s.Pods[1].Spec.Volumes[0].Name = "store"
	}
	runPlanCases(t, []planCase{
		{"STS-23: a template is added, and the set shall own nothing any more", "A", "A", "0A 1A", with(claims("set", "set"), added, retention(retain, retain)), "own data-web-0=, own data-web-1=", ""},
		{"STS-23: a template is added, and the set shall own claims", "A", "A", "0A", with(claims(), added, retention(deletes, retain)), "own data-web-0=StatefulSet", ""},
		{"STS-23: a template is added, and a pod is scaled away with its claim", "A", "A", "0A 1A", with(claims(), added, replicas(1), retention(retain, deletes)), "delete 1 Scale, own data-web-1=Pod", ""},
		{"STS-23: the template is removed, and a pod is scaled away with its claim", "A", "A", "0A 1A", with(claims("set", "set"), removed, replicas(1), retention(deletes, deletes)), "delete 1 Scale, own data-web-1=Pod", ""},
		{"STS-23: the template is removed, and the set shall own nothing any more", "A", "A", "0A", with(claims("set"), removed), "own data-web-0=", ""},
		{"STS-23: the template is removed, and the set shall own claims", "A", "A", "0A", with(claims(), removed, retention(deletes, retain)), "own data-web-0=StatefulSet", ""},
		{"STS-23: the template has another name", "A", "A", "0A 1A", with(claims("set", ""), renamed, retention(deletes, retain)), "own data-web-1=StatefulSet", ""},
		{"STS-23: claims that are not named after the pod and the volume are none of the set's", "A", "A", "0A 1A", with(claims(), removed, shared, retention(deletes, retain)), "", ""},
		{"STS-E18: gate off", "A", "A", "0A", with(claims("set"), added, func(s *Snapshot) { s.Features.NoAutoDeleteClaims = true }), "", ""},
	})
}

// What no pod mounts goes with the set only if the policy still says so.
func TestRetentionOfClaimsWithoutPods(t *testing.T) {
	spare := func(owners ...string) edit {
		return func(s *Snapshot) {
			var all []metav1.OwnerReference
			for _, owner := range owners {
				all = append(all, testClaim(s, 1, owner).OwnerReferences...)
			}
			testClaim(s, 1, "").OwnerReferences = all
		}
	}
	removed := func(s *Snapshot) { s.Set.Spec.VolumeClaimTemplates = nil }
	going := func(s *Snapshot) { s.Claims["data-web-1"].DeletionTimestamp = &metav1.Time{Time: testTime} }
	gateOff := func(s *Snapshot) { s.Features.NoAutoDeleteClaims = true }
	quarantined := func(s *Snapshot) { delete(s.Pods[1].Labels, "app") }
	named := func(name string) edit {
		return func(s *Snapshot) {
			claim := s.Claims["data-web-1"]
			delete(s.Claims, claim.Name)
			claim.Name = name
			s.Claims[name] = claim
		}
	}
	elsewhere := func(s *Snapshot) { s.Pods[0].Spec.Volumes[0].PersistentVolumeClaim.ClaimName = "data-web-1" }
	runPlanCases(t, []planCase{
		{"STS-23: of a pod that was scaled away", "A", "A", "0A", with(claims(), spare("set"), replicas(1), retention(retain, retain)), "own data-web-1=", ""},
		{"STS-23: its template is gone too", "A", "A", "0A", with(claims(), spare("set"), removed, replicas(1), retention(retain, deletes)), "own data-web-1=", ""},
		{"STS-25: unset policies retain", "A", "A", "0A", with(claims(), spare("set"), replicas(1)), "own data-web-1=", ""},
		{"STS-23: of a pod to be created", "A", "A", "0A", with(claims(), spare("set"), replicas(2)), "own data-web-1=, create 1A", ""},
		{"STS-23: of a pod that is released", "A", "A", "0A 1A", with(claims("", "set"), quarantined), "Release 1, own data-web-1=", "NameTaken new"},
		{"STS-23: mounted by the pod of another", "A", "A", "0A", with(claims(), spare("set"), elsewhere, replicas(1)), "own data-web-1=", ""},
		{"STS-23: other owners stay", "A", "A", "0A", with(claims(), spare("set", "friend"), replicas(1)), "own data-web-1=ConfigMap", ""},
		{"STS-23: it goes with the set where the policy says so", "A", "A", "0A", with(claims("set"), spare("set"), replicas(1), retention(deletes, retain)), "", ""},
		{"STS-23: nothing is added", "A", "A", "0A", with(claims("set"), spare(""), replicas(1), retention(deletes, deletes)), "", ""},
		{"STS-23: a former set's is left alone", "A", "A", "0A", with(claims(), spare("set", "former set"), replicas(1)), "", ""},
		{"STS-23: without the set it would go with its former pod", "A", "A", "0A", with(claims(), spare("set", "old"), replicas(1)), "", ""},
		{"STS-23: one that something controls is left alone", "A", "A", "0A", with(claims(), spare("set", "controller"), replicas(1)), "", ""},
		{"STS-23: one that is being deleted is left alone", "A", "A", "0A", with(claims(), spare("set"), going, replicas(1)), "", ""},
		{"STS-23: one that is none of the set's by its name is left alone", "A", "A", "0A", with(claims(), spare("set"), named("cache"), replicas(1)), "", ""},
		{"STS-23: nor is one of another set", "A", "A", "0A", with(claims(), spare("set"), named("data-cobweb-1"), replicas(1)), "", ""},
		{"STS-E18: gate off", "A", "A", "0A", with(claims(), spare("set"), gateOff, replicas(1)), "", ""},
	})
}

func TestClaimsOfNewPods(t *testing.T) {
	extra := func(owner string) edit { return func(s *Snapshot) { testClaim(s, 1, owner) } }
	going := func(s *Snapshot) { testClaim(s, 1, "").DeletionTimestamp = &metav1.Time{Time: testTime} }
	shared := func(s *Snapshot) {
		friend := testClaim(s, 1, "friend").OwnerReferences
		claim := testClaim(s, 1, "former set")
		claim.OwnerReferences = append(claim.OwnerReferences, friend...)
	}
	gone := func(s *Snapshot) { delete(s.Claims, "data-web-0") }
	runPlanCases(t, []planCase{
		{"STS-5: an existing claim is used again", "A", "A", "0A", with(claims(), extra(""), replicas(2)), "create 1A", ""},
		{"STS-5: a claim of the former pod is waited for", "A", "A", "0A", with(claims(), extra("old"), replicas(3), retention(retain, deletes)), "create 2A", "ClaimInUse new"},
		{"STS-5: so is a claim of a former set", "A", "A", "0A", with(claims(), extra("former set"), replicas(3)), "create 2A", "ClaimInUse new"},
		{"STS-5: a claim that something else owns too is used again", "A", "A", "0A", with(claims(), shared, replicas(2)), "create 1A", ""},
		{"STS-E17: OrderedReady creates nothing until it is gone", "A", "A", "0A", with(ordered, claims(), extra("old"), replicas(3), retention(retain, deletes)), "", "ClaimInUse new, OrderedReady new"},
		{"STS-5: a terminating claim is waited for", "A", "A", "0A", with(claims(), going, replicas(2)), "", "ClaimInUse new"},
		{"a claim deleted from under a pending pod is created again", "A", "A", "0A?", with(claims(), gone), "claim data-web-0", ""},
		{"but not from under a running one", "A", "A", "0A", with(claims(), gone), "", ""},
	})
}

func TestNewClaim(t *testing.T) {
	s := testSnapshot(t, "A", "A", "", claims(), replicas(1), retention(deletes, retain))
	plan := NewPlan(s)
	if len(plan.Create) != 1 || len(plan.Create[0].Claims) != 1 {
		t.Fatalf("created %v", plan.Create)
	}
	want := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{
		Namespace: "shop", Name: "data-web-0", Labels: map[string]string{"app": "web"},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps.kruise.io/v1beta1", Kind: "StatefulSet", Name: "web", UID: "uid-web"}},
	}}
	if diff := cmp.Diff(want, plan.Create[0].Claims[0]); diff != "" {
		t.Errorf("well-known keys: the claim's labels are the selector's (-want +got):\n%s", diff)
	}
}

func TestStorageMismatch(t *testing.T) {
	t.Run("STS-E19: pods that do not mount a new claim are reported, and the update goes on", func(t *testing.T) {
		s := testSnapshot(t, "B", "A", "0A 1A")
		s.Set.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data"}}}
		plan := NewPlan(s)
		if got := summary(s, plan); got != "delete 1 Update" {
			t.Errorf("plan %q", got)
		}
		want := "FailedUpdatePod: pod web-0 and 1 more: does not mount the claims that spec.volumeClaimTemplates asks for, " +
			"and the volumes of a pod cannot change; delete the pod to have it recreated with them"
		if got := problems(plan); got != want {
			t.Errorf("problems %q, want %q", got, want)
		}
	})
}

// STS-23: claims that no pod mounts lose the StatefulSet as an owner, in order, if they are named as its claims are.
func TestClaimsThatNoPodMounts(t *testing.T) {
	s := testSnapshot(t, "A", "A", "0A", func(s *Snapshot) {
		for _, name := range []string{"data-web-9", "data-web-3", "log-web-7", "data-web-5", "old-web-1", "data-other-2", "data--2", "data-2", "web-4", "-web-4", "data-web", "data-web-x"} {
			s.Claims[name] = &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: name, OwnerReferences: []metav1.OwnerReference{
				{APIVersion: "apps.kruise.io/v1beta1", Kind: "StatefulSet", Name: "web", UID: s.Set.UID}}}}
		}
		for name, owner := range map[string]metav1.OwnerReference{
			"data-web-20": {APIVersion: "apps.kruise.io/v1beta1", Kind: "StatefulSet", Name: "web", UID: "former"}, // goes with the former one
			"data-web-21": {APIVersion: "apps/v1", Kind: "StatefulSet", Name: "web", UID: "other"},
			"data-web-22": {APIVersion: "apps.kruise.io/v1beta1", Kind: "StatefulSet", Name: "db", UID: "other"},
			"data-web-23": {APIVersion: "apps.kruise.io/v1beta1", Kind: "Toy", Name: "web", UID: "other"},
		} {
			s.Claims[name] = &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: name, OwnerReferences: []metav1.OwnerReference{
				{APIVersion: "apps.kruise.io/v1beta1", Kind: "StatefulSet", Name: "web", UID: s.Set.UID}, owner}}}
		}
	})
	want := []string{"data-web-21", "data-web-22", "data-web-23", "data-web-3", "data-web-5", "data-web-9", "log-web-7", "old-web-1"}
	for range 10 { // claims are a map
		var got []string
		for _, c := range NewPlan(s).PatchClaims {
			got = append(got, c.Claim.Name)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("claims (-want +got):\n%s", diff)
		}
	}
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

// STS-E19: of pods that lack a claim those are reported that stay.
func TestPodsThatLackClaims(t *testing.T) {
	lacks := func(s *Snapshot) {
		s.Set.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data"}}}
	}
	const rest = ": does not mount the claims that spec.volumeClaimTemplates asks for, and the volumes of a pod cannot change; delete the pod to have it recreated with them"
	for pods, want := range map[string]string{
		"0A": "FailedUpdatePod: pod web-0" + rest, "0A 1A 2A": "FailedUpdatePod: pod web-0 and 2 more" + rest, "0A~ 1A": "FailedUpdatePod: pod web-1" + rest, "0A~": "",
	} {
		if got := problems(NewPlan(testSnapshot(t, "A", "A", pods, lacks))); got != want {
			t.Errorf("%s: problems %q, want %q", pods, got, want)
		}
	}
	one := func(s *Snapshot) { // of two claims
		s.Set.Spec.VolumeClaimTemplates = append(s.Set.Spec.VolumeClaimTemplates, corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "logs"}})
	}
	other := func(s *Snapshot) { // another volume of the name
		s.Pods[0].Spec.Volumes = []corev1.Volume{{Name: "data"}}
	}
	for name, edits := range map[string][]edit{"one of two": {claims(), one}, "another volume": {claims(), other}} {
		if got, want := problems(NewPlan(testSnapshot(t, "A", "A", "0A", edits...))), "FailedUpdatePod: pod web-0"+rest; got != want {
			t.Errorf("%s: problems %q, want %q", name, got, want)
		}
	}
	left := func(s *Snapshot) { s.Set.Spec.Replicas = new(int32) }
	if got := problems(NewPlan(testSnapshot(t, "A", "A", "0A", lacks, left))); got != "" {
		t.Errorf("one that is left over: problems %q", got)
	}
}
