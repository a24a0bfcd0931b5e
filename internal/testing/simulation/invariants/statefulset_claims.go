// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/workloads/v1beta1"
)

// claimOrdinal is the ordinal of the pod whose claim has a name, -1 if it is
// none of the set's. Claims of templates that the set had once are its own.
func (j *statefulSetJudge) claimOrdinal(claim string) int {
	at := strings.LastIndex(claim, "-"+j.set.Name+"-")
	if at < 0 {
		return -1
	}
	template := claim[:at]
	has := func(t corev1.PersistentVolumeClaim) bool { return t.Name == template }
	if !slices.ContainsFunc(j.set.Spec.VolumeClaimTemplates, has) && !j.past.hadClaims(template) {
		return -1
	}
	return j.ordinalOf(claim[at+1:])
}

// checkClaim: no claim is deleted. Only the owners and the size of an existing claim change. It gets only owners that
// the retention policy names. The garbage collector does the rest. (STS-23 to STS-25)
func (j *statefulSetJudge) checkClaim() {
	before, after := objects[*corev1.PersistentVolumeClaim](j.Write)
	switch {
	case j.Resource != "persistentvolumeclaims":
		return
	case j.Verb == "delete" || after == nil:
		j.add(Claims, "deletes claim %s", j.name())
		return
	case before == nil:
		before = &corev1.PersistentVolumeClaim{}
		j.checkClaimLabels(after)
	case !equality.Semantic.DeepEqual(before.Labels, after.Labels):
		j.add(Claims, "changes labels of claim %s", j.name())
	case !equality.Semantic.DeepEqual(before.Spec, after.Spec) && j.Known != nil:
		j.checkResize(before, after)
	}
	for _, owner := range after.OwnerReferences {
		j.never(!owns(owner.UID, before) && !j.mayOwn(after, owner), Claims,
			"claim %s gets the owner %s %s against the policy", after.Name, owner.Kind, owner.Name)
	}
	for _, owner := range before.OwnerReferences {
		j.never(!owns(owner.UID, after) && !j.mayDisown(after, owner), Claims,
			"claim %s loses the owner %s %s against the policy", after.Name, owner.Kind, owner.Name)
	}
}

// checkClaimLabels: a new claim has the labels of the selector, and those of its template if they are kept. (STS-38)
func (j *statefulSetJudge) checkClaimLabels(claim *corev1.PersistentVolumeClaim) {
	want := map[string]string{}
	for _, template := range j.set.Spec.VolumeClaimTemplates {
		if j.features.KeepClaimLabels && strings.HasPrefix(claim.Name, template.Name+"-"+j.set.Name+"-") {
			maps.Copy(want, template.Labels)
		}
	}
	maps.Copy(want, j.set.Spec.Selector.MatchLabels)
	j.never(!maps.Equal(claim.Labels, want), Claims,
		"creates claim %s with the labels %v, want %v", claim.Name, claim.Labels, want)
}

// mayDisown tells whether a claim may lose an owner. The claim may lose the set if the policy does not name the set, or
// names the pod in its place. It may lose a pod of its ordinal if the pod is not left over, or goes without its claims.
func (j *statefulSetJudge) mayDisown(claim *corev1.PersistentVolumeClaim, owner metav1.OwnerReference) bool {
	whenDeleted, whenScaled := j.retention()
	leftOver := j.beyond(j.claimOrdinal(claim.Name))
	switch {
	case owner.UID == j.set.UID:
		return !whenDeleted || whenScaled && leftOver
	case owner.Kind == "Pod" && j.ordinalOf(owner.Name) == j.claimOrdinal(claim.Name):
		return !whenScaled || !leftOver
	}
	return false
}

// retention tells whether the policy deletes claims with the set, and with pods that are left over. (STS-23, STS-25)
func (j *statefulSetJudge) retention() (whenDeleted, whenScaled bool) {
	policy := j.set.Spec.PersistentVolumeClaimRetentionPolicy
	if policy == nil {
		return false, false
	}
	return policy.WhenDeleted == appsv1.DeletePersistentVolumeClaimRetentionPolicyType,
		policy.WhenScaled == appsv1.DeletePersistentVolumeClaimRetentionPolicyType
}

// MayOwn tells whether a new owner of a claim of a StatefulSet is one that its retention policy names. That is the set,
// or a pod that is left over.
func MayOwn(set *v1beta1.StatefulSet, claim *corev1.PersistentVolumeClaim, owner metav1.OwnerReference) bool {
	var v violations
	return newStatefulSetJudge(&v, &Write{Truth: &State{}}, set, nil).mayOwn(claim, owner)
}

// mayOwn tells whether the retention policy names an owner of a claim.
func (j *statefulSetJudge) mayOwn(claim *corev1.PersistentVolumeClaim, owner metav1.OwnerReference) bool {
	whenDeleted, whenScaled := j.retention()
	if owner.Controller != nil && *owner.Controller {
		return false
	}
	if owner.UID == j.set.UID {
		return whenDeleted
	}
	return owner.Kind == "Pod" && j.ordinalOf(owner.Name) == j.claimOrdinal(claim.Name) && j.beyond(j.ordinalOf(owner.Name)) && whenScaled
}

// checkClaimsOf: a new pod does not get a claim that is being deleted, or that
// goes with the pod or the set before it. (STS-5)
func (j *statefulSetJudge) checkClaimsOf(pod *corev1.Pod) {
	for _, name := range claimsIn(pod) {
		claim := j.Known.Claims[name]
		j.never(claim != nil && (claim.DeletionTimestamp != nil || j.goesWithFormer(claim, pod)), Claims,
			"creates pod %s with claim %s, which is about to go", pod.Name, name)
	}
}

// goesWithFormer tells whether a former pod of the name owns a claim, or nothing but a former set.
func (j *statefulSetJudge) goesWithFormer(claim *corev1.PersistentVolumeClaim, pod *corev1.Pod) bool {
	sets := 0
	for _, o := range claim.OwnerReferences {
		switch {
		case o.Kind == "Pod" && o.Name == pod.Name:
			return true
		case o.Kind == "StatefulSet" && o.Name == j.set.Name && o.UID != j.set.UID:
			sets++
		}
	}
	return sets > 0 && sets == len(claim.OwnerReferences)
}

// mountedBy are the claims of the set that a pod mounts in a state. It leaves out claims that something else
// controls than the set and the pod. It also leaves out claims that go with a former set or pod of the name.
func (j *statefulSetJudge) mountedBy(pod *corev1.Pod, of *State) (claims []*corev1.PersistentVolumeClaim) {
	for _, name := range claimsIn(pod) {
		claim := of.Claims[name]
		if claim != nil && j.claimOrdinal(name) == j.ordinalOf(pod.Name) && claim.DeletionTimestamp == nil && !j.sharedWith(claim, pod.UID) {
			claims = append(claims, claim)
		}
	}
	return claims
}

// sharedWith tells whether another owner than the set and a pod has a say about a claim.
func (j *statefulSetJudge) sharedWith(claim *corev1.PersistentVolumeClaim, pod types.UID) bool {
	return slices.ContainsFunc(claim.OwnerReferences, func(o metav1.OwnerReference) bool {
		return o.UID != j.set.UID && o.UID != pod && (o.Controller != nil && *o.Controller ||
			o.Kind == "StatefulSet" && o.Name == j.set.Name || o.Kind == "Pod" && j.ordinalOf(o.Name) == j.claimOrdinal(claim.Name))
	})
}

// checkClaimsGo: the claims of a pod that is scaled away go with it if the policy says so. If it does not, or if the
// pod comes back, they stay. (STS-23)
func (j *statefulSetJudge) checkClaimsGo(pod *corev1.Pod) {
	_, whenScaled := j.retention()
	for _, claim := range j.mountedBy(pod, j.Known) {
		goes, want := owns(pod.UID, claim), whenScaled && j.beyond(j.ordinalOf(pod.Name))
		if there := j.Truth.Claims[claim.Name]; there != nil && owns(pod.UID, there) == want {
			continue // the author has just written it, which changed nothing
		}
		j.never(goes != want, Claims,
			"deletes pod %s: its claim %s goes with it: %v, it should: %v", pod.Name, claim.Name, goes, want)
	}
}

// checkSettledClaims: when settled each claim of the set's pods has the owners that the policy names, and no other.
// That holds for claims of removed templates, too. Claims that no pod of the set mounts go with the set only if the
// policy says so. As in Kubernetes, no reconcile adds the set to them. (STS-23)
func (j *statefulSetJudge) checkSettledClaims(s *State) {
	whenDeleted, whenScaled := j.retention()
	for _, claim := range s.Claims {
		name := j.podName(j.claimOrdinal(claim.Name))
		pod := s.Pods[name]
		mounted := j.owned(pod) && mounts(pod, claim.Name)
		if j.claimOrdinal(claim.Name) < 0 || claim.DeletionTimestamp != nil || mounted && j.sharedWith(claim, pod.UID) || !mounted && j.sharedWith(claim, "") {
			continue
		}
		j.never(owns(j.set.UID, claim) && !whenDeleted, Claims,
			"claim %s goes with the set, and the policy does not say so", claim.Name)
		j.never(mounted && owns(pod.UID, claim) && (!whenScaled || !j.beyond(j.ordinalOf(name))), Claims,
			"claim %s goes with pod %s, and the policy does not say so", claim.Name, name)
	}
	for _, pod := range s.Pods {
		if !j.owned(pod) || pod.DeletionTimestamp != nil || j.ordinalOf(pod.Name) < 0 {
			continue
		}
		leaves := whenScaled && j.beyond(j.ordinalOf(pod.Name))
		for _, claim := range j.mountedBy(pod, s) {
			j.never(whenDeleted && !leaves && !owns(j.set.UID, claim), Claims,
				"claim %s does not go with the set, and the policy says so", claim.Name)
			j.never(leaves && !owns(pod.UID, claim), Claims,
				"claim %s does not go with pod %s, and the policy says so", claim.Name, pod.Name)
		}
	}
}
