// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	availabilityv1alpha1 "github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

func TestCloneSetsAreJudged(t *testing.T) {
	a, b, c := pod("web-a"), pod("web-b"), pod("web-c")
	none := metav1.Object(nil)
	marked := func(s *spec) { s.marked = []string{"web-c"} }
	for _, s := range []scenario{
		{"a pod up to replicas", nil, objects(a, b), none, pod("web-c", out), false, nil},
		{"a pod beyond replicas", nil, objects(a, b, c), none, pod("web-d", out), false, breaks(invariants.Surge)},
		{"a pod beyond replicas, in a gap", nil, objects(a, b, c), none, pod("web-d", out), true, breaks(invariants.Surge)},
		{"a pod up to replicas of an earlier spec", edits(five, two), objects(a, b, c), none, pod("web-d", out), false, nil},
		{"a pod up to maxSurge", edits(func(s *spec) { s.surge = 1 }), objects(a, b, c), none, pod("web-d", out), false, nil},
		{"a pod beyond maxSurge", edits(func(s *spec) { s.surge = 1 }), objects(a, b, c, pod("web-d", out)), none, pod("web-e", out), false, breaks(invariants.Surge)},
		{"a pod in the place of one that goes", nil, objects(a, b, pod("web-c", leaving)), none, pod("web-d", out), false, nil},
		{"a pod of an old image that is still there", edits(held), objects(a, b), none, pod("web-c", out), false, nil},
		{"a pod of an image that no spec has", edits(web2), objects(a, b), none, pod("web-c", out, at("web:3")), false, breaks(invariants.Partition)},

		{"taken out up to maxUnavailable", edits(web2), objects(a, b), c, pod("web-c", out), false, nil},
		{"taken out beyond maxUnavailable", edits(web2), objects(a, pod("web-b", out)), c, pod("web-c", out), false, breaks(invariants.Availability)},
		{"taken out beyond maxUnavailable, in a gap", edits(web2), objects(a, pod("web-b", out)), c, pod("web-c", out), true, breaks(invariants.Availability)},
		{"taken out beyond the maxUnavailable of the last spec", edits(func(s *spec) { s.unavailable = 2 }, web2), objects(a, pod("web-b", out)), c, pod("web-c", out), false, nil},
		{"updated while too few serve", edits(web2), objects(a, pod("web-b", out)), c, pod("web-c", told("web:2")), false, breaks(invariants.Availability, invariants.Order)},
		{"updated while too few serve that are updated", edits(web2), objects(a, pod("web-b", at("web:2"), out)), c, pod("web-c", told("web:2")), false, breaks(invariants.Availability)},
		{"updated before one that does not run", edits(web2), objects(a, pod("web-b", out, unscheduled)), pod("web-c", out), pod("web-c", out, told("web:2")), false, breaks(invariants.Order)},
		{"deleted while too few serve", edits(two), objects(pod("web-a", out), pod("web-b", out)), c, pod("web-c", leaving), false, breaks(invariants.Availability, invariants.Order)},
		{"marked while too few serve", edits(marked), objects(pod("web-a", out), pod("web-b", out)), c, pod("web-c", leaving), false, breaks(invariants.Availability)},
		{"deleted before one that does not run", edits(two), objects(a, pod("web-b", out, unscheduled)), pod("web-c", out), pod("web-c", out, leaving), false, breaks(invariants.Order)},
		{"a pod that does not serve is updated", edits(web2), objects(a, pod("web-b", out)), pod("web-c", out), pod("web-c", out, told("web:2")), false, nil},

		{"scaled in", edits(two), objects(a, b), c, pod("web-c", leaving), false, nil},
		{"scaled in too far", edits(two), objects(a), c, pod("web-c", leaving), false, breaks(invariants.Needless)},
		{"marked by name", edits(marked), objects(a, b), c, pod("web-c", leaving), false, nil},
		{"another one is marked", edits(func(s *spec) { s.marked = []string{"web-b"} }), objects(a, b), c, pod("web-c", leaving), false, breaks(invariants.Needless)},
		{"marked by label", nil, objects(a, b), pod("web-c", labelled(lifecyclev1alpha1.SpecifiedDeleteLabel)), pod("web-c", labelled(lifecyclev1alpha1.SpecifiedDeleteLabel), leaving), false, nil},
		{"recreated", edits(recreate2), objects(a, b), c, pod("web-c", leaving), false, nil},
		{"recreated, and it is up to date", edits(recreate2), objects(a, b), pod("web-c", at("web:2")), pod("web-c", at("web:2"), leaving), false, breaks(invariants.Needless)},
		{"recreated, and it could be updated in place", edits(web2), objects(a, b), c, pod("web-c", leaving), false, breaks(invariants.Needless)},
		{"recreated against the partition", edits(func(s *spec) { recreate2(s); s.partition = 3 }), objects(a, b), c, pod("web-c", leaving), false, breaks(invariants.Partition)},
		{"evicted", nil, objects(a, b), c, pod("web-c", leaving, evicted), false, nil},
		{"deleted by a user", nil, objects(a, b), c, pod("web-c", leaving, within(UserGracePeriod)), false, nil},
		{"deleted with the grace period of the pod", nil, objects(a, b), c, pod("web-c", leaving, within(30)), false, breaks(invariants.Needless)},
		{"protected, and gone in a gap", nil, objects(a, pod("web-b", out)), pod("web-c", protected), none, true, nil},
		{"protected, and gone at once", nil, objects(a, b), pod("web-c", protected), none, false, breaks(invariants.Identity, invariants.Needless)},
		{"protected from now on", nil, objects(a, b), c, pod("web-c", protected), false, nil},
		{"its eviction is denied", nil, objects(a, b), pod("web-c", protected), pod("web-c", protected, annotated(lifecyclev1alpha1.EvictionDeniedAnnotation)), false, nil},
		{"protected, and annotated otherwise", nil, objects(a, b), c, pod("web-c", protected, annotated("x")), false, breaks(invariants.InPlace)},
		{"deleted for no reason", nil, objects(a, b), c, pod("web-c", leaving), false, breaks(invariants.Needless)},
		{"gone at once, unscheduled", edits(two), objects(a, b), pod("web-c", out, unscheduled), none, false, nil},
		{"gone at once from its node", edits(two), objects(a, b), c, none, false, breaks(invariants.Identity)},
		{"gone from its node, in a gap", edits(two), objects(a, b), c, none, true, nil},
		{"gone in the end", nil, objects(a, b), pod("web-c", leaving), none, false, nil},

		{"updated", edits(web2), objects(a, b), c, pod("web-c", told("web:2")), false, nil},
		{"updated to what no spec has", edits(web2), objects(a, b), c, pod("web-c", told("web:3")), false, breaks(invariants.Needless)},
		{"updated back", edits(web2, func(*spec) {}), objects(a, b), pod("web-c", at("web:2")), pod("web-c", at("web:2"), told("web:1")), false, nil},
		{"updated against the partition", edits(held), objects(a, b), c, pod("web-c", told("web:2")), false, breaks(invariants.Partition)},
		{"updated while paused", edits(stopped), objects(a, b), c, pod("web-c", told("web:2")), false, breaks(invariants.Paused)},
		{"updated in place instead of recreated", edits(recreate2), objects(a, b), c, pod("web-c", told("web:2")), false, breaks(invariants.Needless)},
	} {
		s.check(t, (*spec).cloneSet)
	}
}

// evicted is by the API.
func evicted(p *corev1.Pod) {
	p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "EvictionByEvictionAPI"})
}

// within is a number of seconds in which it has to end.
func within(seconds int64) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.DeletionGracePeriodSeconds = &seconds }
}

// protected is by a budget.
var protected = annotated(availabilityv1alpha1.RelatedPubAnnotation)

func annotated(key string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Annotations = maps.Clone(p.Annotations)
		if p.Annotations == nil {
			p.Annotations = map[string]string{}
		}
		p.Annotations[key] = "web"
	}
}

func TestPodsAreJudged(t *testing.T) {
	a, b, c := pod("web-a"), pod("web-b"), pod("web-c")
	none := metav1.Object(nil)
	for _, s := range []scenario{
		{"something else than an image changes", edits(web2), objects(a, b), c, pod("web-c", told("web:2"), mounting("x")), false, breaks(invariants.InPlace)},
		{"it is scheduled", nil, objects(a, b), pod("web-c", out, unscheduled), pod("web-c", out), false, nil},
		{"it is scheduled, and gets the labels of its node", nil, objects(a, b), pod("web-c", out, unscheduled), pod("web-c", out, labelled("topology.kubernetes.io/zone")), false, nil},
		{"its containers are ready, and its image is what runs", nil, objects(a, b), pod("web-c", out, told("web:2")), pod("web-c", at("web:2")), false, nil},
		{"it gets a label that is in no template", nil, objects(a, b), c, pod("web-c", labelled("x")), false, breaks(invariants.InPlace)},
		{"its controller makes it Ready", nil, objects(a, b), pod("web-c", out, labelled("app")), c, false, breaks(invariants.InPlace)},
		{"it changes its node", nil, objects(a, b), c, pod("web-c", func(p *corev1.Pod) { p.Spec.NodeName = "node-1" }), false, breaks(invariants.InPlace)},
		{"it is given away", nil, objects(a, b), c, pod("web-c", func(p *corev1.Pod) { p.OwnerReferences = nil }), false, breaks(invariants.Ownership)},

		{"a stranger serves no more", nil, nil, stranger(), stranger(out), false, nil},
		{"a stranger gets a label", nil, nil, stranger(), stranger(labelled("x")), false, breaks(invariants.Ownership)},
		{"a stranger gets an owner", nil, nil, stranger(), stranger(func(p *corev1.Pod) { p.OwnerReferences = c.OwnerReferences }), false, breaks(invariants.Ownership)},
		{"a stranger gets an image", edits(web2), nil, stranger(), stranger(told("web:2")), false, breaks(invariants.Ownership)},
		{"a stranger is deleted", nil, nil, stranger(), stranger(leaving), false, breaks(invariants.Ownership)},
		{"a stranger is gone", nil, nil, stranger(), none, true, breaks(invariants.Ownership)},
		{"a claim of a stranger is deleted", nil, nil, claim("x", ofStranger), claim("x", ofStranger, going), false, breaks(invariants.Ownership)},
		{"a pod without an owner is deleted", nil, nil, pod("x", func(p *corev1.Pod) { p.OwnerReferences = nil }), none, false, nil},
	} {
		s.check(t, (*spec).cloneSet)
	}
}

func TestHooksAreJudged(t *testing.T) {
	a, b, c := pod("web-a"), pod("web-b"), pod("web-c")
	for _, s := range []scenario{
		{"deleted while its hook holds it", edits(two), objects(a, b), pod("web-c", labelled("hold")), pod("web-c", labelled("hold"), leaving), false, breaks(invariants.Hooks)},
		{"deleted when its hook releases it", edits(two), objects(a, b), pod("web-c", labelled("hold")), pod("web-c", leaving), false, nil},
		{"deleted by a spec without the hook", edits(func(s *spec) { s.replicas, s.unhooked = 2, true }), objects(a, b), pod("web-c", labelled("hold")), pod("web-c", labelled("hold"), leaving), false, nil},
		{"updated while its hook holds it", edits(web2), objects(a, b), pod("web-c", labelled("hold")), pod("web-c", labelled("hold"), told("web:2")), false, breaks(invariants.Hooks)},
		{"updated when its hook releases it", edits(web2), objects(a, b), c, pod("web-c", told("web:2")), false, nil},
	} {
		s.check(t, func(of *spec, meta metav1.ObjectMeta) metav1.Object {
			if !of.unhooked {
				of.preDelete, of.inPlace = hold("hold"), hold("hold")
			}
			return of.cloneSet(meta)
		})
	}
}

func stranger(edits ...func(*corev1.Pod)) *corev1.Pod {
	return pod("web-x", append([]func(*corev1.Pod){func(p *corev1.Pod) { p.UID, p.OwnerReferences = strangerUID, nil }}, edits...)...)
}

func ofStranger(c *corev1.PersistentVolumeClaim) { c.UID = strangerUID }

func going(c *corev1.PersistentVolumeClaim) { c.DeletionTimestamp = new(metav1.Now()) }

func ended(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }

func ofNobody(c *corev1.PersistentVolumeClaim) { c.OwnerReferences = nil }

func ofInstance(id string) func(*corev1.PersistentVolumeClaim) {
	return func(c *corev1.PersistentVolumeClaim) { c.Labels[v1alpha1.CloneSetInstanceIDLabel] = id }
}

func TestClaimsAreJudged(t *testing.T) {
	data, relabelled := claim("data-web-c"), claim("data-web-c", ofInstance("x"))
	former := claim("data-web-c", func(c *corev1.PersistentVolumeClaim) {
		c.OwnerReferences = []metav1.OwnerReference{{Kind: "Pod", Name: "web-c", UID: "former"}}
	})
	none := metav1.Object(nil)
	c := pod("web-c", out, mounting("data-web-c"))
	for _, s := range []scenario{
		{"a pod with its claim", nil, objects(data), none, c, false, nil},
		{"a pod without its claim", nil, nil, none, c, false, breaks(invariants.Claims)},
		{"a pod with a claim that goes", nil, objects(claim("data-web-c", going)), none, c, false, breaks(invariants.Claims)},
		{"a pod with the claim of a former one", nil, objects(former), none, c, false, breaks(invariants.Claims)},
		{"a pod with a claim of another one", nil, objects(data, pod("web-b", leaving, mounting("data-web-c"))), none, c, false, breaks(invariants.Claims)},
		{"a pod with a claim of another one, in a gap", nil, objects(data, pod("web-b", leaving, mounting("data-web-c"))), none, c, true, nil},
		{"a claim goes with its pod", nil, objects(pod("web-c", leaving)), data, claim("data-web-c", going), false, nil},
		{"a claim goes after its pod", nil, nil, data, none, false, nil},
		{"a claim goes before its pod", nil, objects(pod("web-c")), data, claim("data-web-c", going), false, breaks(invariants.Claims)},
		{"a claim goes before its pod, in a gap", nil, objects(pod("web-c")), data, claim("data-web-c", going), true, breaks(invariants.Claims)},
		{"a claim goes before the pod that mounts it", nil, objects(pod("web-c", mounting("data-web-c"))), data, claim("data-web-c", going), false, breaks(invariants.Claims)},
		{"a claim with another label goes before the pod that mounts it", nil, objects(pod("web-c", mounting("data-web-c"))), relabelled, claim("data-web-c", ofInstance("x"), going), false, breaks(invariants.Claims)},
		{"a claim is released before its pod", nil, objects(pod("web-c")), data, claim("data-web-c", ofNobody), false, breaks(invariants.Claims)},
		{"a claim is given to a pod that has ended", nil, objects(pod("web-c", ended)), data, claim("data-web-c", ofPod("web-c")), false, nil},
		{"a claim is given to its pod", nil, objects(pod("web-c")), data, claim("data-web-c", ofPod("web-c")), false, breaks(invariants.Claims)},
		{"a claim gets its volume", nil, objects(pod("web-c")), data, claim("data-web-c", func(c *corev1.PersistentVolumeClaim) { c.Spec.VolumeName = "x" }), false, nil},
		{"a claim goes on going", nil, objects(pod("web-c")), claim("data-web-c", going), none, false, nil},
		{"a claim of another workload", nil, objects(pod("web-b-c")), claim("data-web-b-c"), none, false, nil},
	} {
		s.check(t, (*spec).cloneSet)
	}
}

// TestNewPodsOfTheCurrentRevision makes sure that a new pod may have the current revision, which a partition keeps, also if no
// pod has had it for long.
func TestNewPodsOfTheCurrentRevision(t *testing.T) {
	for _, keeps := range []bool{true, false} {
		of := base()
		of.image, of.partition = "web:3", 1
		set := of.cloneSet(metav1.ObjectMeta{Name: "web", UID: setUID, Generation: 1})
		if keeps {
			set = current(set, "web-1")
		}
		j := NewJudge()
		j.See([]Change{{New: base().revision(t)}, {New: of.revision(t)}, {New: set}}, false)
		j.See([]Change{{New: pod("web-a", at("web:3"))}, {New: pod("web-b", at("web:3"))}}, true)
		j.Settled()
		wrong := slices.ContainsFunc(j.See([]Change{{New: pod("web-c", out)}}, false), func(v invariants.Violation) bool {
			return strings.Contains(v.Message, "no spec asks for")
		})
		if wrong == keeps {
			t.Errorf("the current revision has the image %t: violated %t", keeps, wrong)
		}
	}
}
