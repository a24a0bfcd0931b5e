// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/revision"
	"github.com/podwright/podwright/inplace/rollout"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/podplan"
	"github.com/podwright/podwright/lifecycle"
	"github.com/podwright/podwright/lifecycle/launchpriority/barrier"
	"github.com/podwright/podwright/lifecycle/readiness"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// planCreate creates pods, those of the current revision first. If these
// cannot be created, the others are all the same, but none in their place: the
// partition limits how many pods are updated. It returns whether it creates any. (CS-17 to CS-20)
func (p *planner) planCreate() (creates bool) {
	blocked := p.scaling.createBlocked()
	if p.backsOff() {
		if blocked != nil {
			p.Wait(nil, blocked)
		}
		return false
	}
	d := p.plan.Diff
	ids := p.instanceIDs(min(int(d.Create), rollout.MostCreations), int(d.ScaleUp))
	possible := p.createWith(ids)
	if blocked != nil && (possible || len(p.plan.Create) > 0) { // otherwise FailedScale says why none is created
		p.Wait(nil, blocked)
	}
	return len(p.plan.Create) > 0
}

// createWith creates pods of the given ids. It returns false if a revision can have none.
func (p *planner) createWith(ids []string) bool {
	revisions := &p.plan.Revisions
	old := min(int(p.plan.Diff.CreateOld), len(ids))
	updated, possible := len(ids)-old, true
	if old > 0 && !p.createOf(revisions.Current, ids[:old]) {
		if revisions.Current == revisions.Update {
			return false
		}
		possible, old, updated = false, 0, min(p.missingUpdated(), len(ids))
	}
	return p.createOf(revisions.Update, ids[old:old+updated]) && possible
}

// backsOff tells whether pods are created later: kubelets reject those of the revision that comes first, again and again. (CT-8)
func (p *planner) backsOff() bool {
	of := p.plan.Revisions.Update
	if p.plan.Diff.CreateOld > 0 {
		of = p.plan.Revisions.Current
	}
	if len(p.inactive) <= int(max(p.limits.replicas, 1)) || p.plan.Diff.Create == 0 {
		return false
	}
	var pods []*corev1.Pod
	for _, pod := range p.Snapshot.Pods {
		if revision.Matches(pod.Labels[podplan.RevisionLabel], of.Name) {
			pods = append(pods, pod)
		}
	}
	rejected := podplan.Rejected(pods)
	if !rejected.Repeated(p.limits.replicas) {
		return false
	}
	p.Problem(failedScale, fmt.Errorf("kubelets reject the pods of revision %s before any container has run (%s); the next ones are created more and more slowly, "+
		"after 5 minutes at most, until one runs", of.Name, rejected.Reason()))
	reason := &rollout.Reason{Rule: rollout.RuleBackOff,
		Message: fmt.Sprintf("the last pods were rejected (%s) and never ran; the next ones are created after a pause", rejected.Reason())}
	p.Hold("", string(reason.Rule), nil, reason) // also while the next ones are created
	wait := rejected.Until(p.limits.replicas).Sub(p.Now)
	if wait <= 0 {
		return false
	}
	p.RequeueAfter(wait)
	p.Wait(nil, reason)
	return true
}

// missingUpdated is how many pods are missing at the update revision, whatever
// scaleStrategy.maxUnavailable says.
func (p *planner) missingUpdated() int {
	unlimited := p.scaling
	unlimited.ScaleMaxUnavailable = math.MaxInt32
	d := unlimited.diff()
	return int(d.Create - d.CreateOld)
}

// createOf creates pods of a revision. It returns false, and reports why, if
// the revision can have none.
func (p *planner) createOf(from *appsv1.ControllerRevision, ids []string) bool {
	if len(ids) == 0 {
		return true
	}
	template, err := p.templateOf(from)
	if err != nil {
		p.Problem(failedScale, fmt.Errorf(
			"create pods of revision %s: %w; delete the revision to have its pods created from the present template", from.Name, err))
		return false
	}
	if err := p.Selects(template); err != nil {
		p.Problem(failedScale, fmt.Errorf("create pods of revision %s: %w", from.Name, err))
		return false
	}
	creations := make([]rollout.PodCreation, len(ids))
	for i, id := range ids {
		if creations[i], err = p.newPod(id, from, template); err != nil {
			p.Problem(failedScale, fmt.Errorf("create pods of revision %s: %w; correct the template", from.Name, err))
			return false
		}
	}
	p.plan.Create = append(p.plan.Create, creations...)
	return true
}

// templateOf returns the template of the update revision or of another one.
func (p *planner) templateOf(r *appsv1.ControllerRevision) (*corev1.PodTemplateSpec, error) {
	if r == p.plan.Revisions.Update {
		return &p.Set.Spec.Template, nil
	}
	return revision.Template(r.Data.Raw)
}

// newPod makes a pod of a revision, and the claims it lacks.
func (p *planner) newPod(id string, from *appsv1.ControllerRevision, template *corev1.PodTemplateSpec) (creation rollout.PodCreation, err error) {
	pod := p.NewPod(p.Set.Name+"-"+id, template)
	p.LabelRevision(from.Name, func(key, value string) { pod.Labels[key] = value })
	pod.Labels[v1alpha1.CloneSetInstanceIDLabel] = id
	lifecycle.SetInitialState(&pod.ObjectMeta, lifecyclev1alpha1.StatePreparingNormal, p.Now)
	readiness.AddGate(&pod.Spec, inplacev1alpha1.InPlaceUpdateReady)
	readiness.AddGate(&pod.Spec, lifecyclev1alpha1.KruisePodReady)
	if p.Features.LaunchPriority {
		if err := barrier.Mutate(pod, ""); err != nil {
			return creation, err
		}
	}
	return rollout.PodCreation{Pod: pod, Claims: p.addClaims(pod, id)}, nil
}

// addClaims mounts a claim of its own per claim template into the pod, and
// returns the claims that do not exist yet.
func (p *planner) addClaims(pod *corev1.Pod, id string) (missing []*corev1.PersistentVolumeClaim) {
	for i := range p.Set.Spec.VolumeClaimTemplates {
		claim := p.newClaim(&p.Set.Spec.VolumeClaimTemplates[i], id)
		podplan.MountClaim(&pod.Spec, p.Set.Spec.VolumeClaimTemplates[i].Name, claim.Name)
		exists := slices.ContainsFunc(p.claims.of[id], func(c *corev1.PersistentVolumeClaim) bool { return c.Name == claim.Name })
		if !exists {
			missing = append(missing, claim)
		}
	}
	return missing
}

// newClaim makes a claim, which goes with the CloneSet. It also has the labels of
// its template.
func (p *planner) newClaim(template *corev1.PersistentVolumeClaim, id string) *corev1.PersistentVolumeClaim {
	claim := p.NewClaim(p.claimName(template, id), template)
	for key, value := range template.Labels {
		if _, selected := claim.Labels[key]; !selected {
			claim.Labels[key] = value
		}
	}
	claim.Labels[v1alpha1.CloneSetInstanceIDLabel] = id
	claim.OwnerReferences = []metav1.OwnerReference{p.Owner()}
	return claim
}

func (p *planner) claimName(template *corev1.PersistentVolumeClaim, id string) string {
	return template.Name + "-" + p.Set.Name + "-" + id
}

// instanceIDs returns n ids for new pods, sorted: first those of claims that no
// pod uses, then new ones. An id is left out while a pod of that name exists. A
// claim whose pod is still terminating is waited for, if the pod mounts it: so many of the missing pods
// are created later. They hold up no other. An id with a claim that
// is terminating itself is left alone, as is one that podsToDelete names: its new pod would
// be deleted. (CS-18, CS-35)
func (p *planner) instanceIDs(n, missing int) []string {
	taken, terminating := map[string]bool{}, map[string]*corev1.Pod{}
	for _, name := range p.Set.Spec.ScaleStrategy.PodsToDelete {
		taken[strings.TrimPrefix(name, p.Set.Name+"-")] = true
	}
	for _, pod := range p.Snapshot.Pods {
		id := strings.TrimPrefix(pod.Name, p.Set.Name+"-")
		taken[id] = true
		if pod.DeletionTimestamp != nil {
			terminating[id] = pod
		}
	}
	var ids []string
	for _, id := range slices.Sorted(maps.Keys(p.claims.of)) {
		switch {
		case p.claims.dying[id]: // the pod would mount a claim that goes
		case terminating[id] != nil && missing > 0 && mountsAny(terminating[id], p.claims.of[id]):
			p.Wait(nil, &rollout.Reason{
				Rule: rollout.RuleClaimInUse, Message: "a new pod takes over the claims of pod " + p.Set.Name + "-" + id + ", which is still terminating",
			})
			missing--
		case !taken[id] && len(ids) < n:
			ids = append(ids, id)
			taken[id] = true
		}
	}
	n = max(min(n, missing), 0)
	ids = ids[:min(len(ids), n)]
	for _, claim := range p.Claims { // also those that are terminating
		taken[claim.Labels[v1alpha1.CloneSetInstanceIDLabel]] = true
	}
	for sequence := 0; len(ids) < n; sequence++ {
		if id := p.newID(sequence); !taken[id] {
			ids = append(ids, id)
			taken[id] = true
		}
	}
	slices.Sort(ids)
	return ids
}

// mountsAny tells whether a pod mounts one of some claims.
func mountsAny(pod *corev1.Pod, claims []*corev1.PersistentVolumeClaim) bool {
	return slices.ContainsFunc(claims, func(c *corev1.PersistentVolumeClaim) bool { return mounts(pod, c.Name) })
}

// newID derives an id from what has been observed, so that the same snapshot gives the same plan. If a reconcile failed and is
// repeated, it asks for the same names.
func (p *planner) newID(sequence int) string {
	h := fnv.New64a()
	fmt.Fprint(h, p.Set.UID, "/", p.Set.ResourceVersion, "/", p.Set.Generation, "/", sequence)
	const alphabet = "bcdfghjklmnpqrstvwxz2456789"
	sum, id := h.Sum64(), make([]byte, 5)
	for i := range id {
		id[i] = alphabet[sum%uint64(len(alphabet))]
		sum /= uint64(len(alphabet))
	}
	return string(id)
}
