// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/revision"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/testing/patches"
)

// writeRevisions adopts, creates and raises revisions as a plan says.
func (w *Cluster) writeRevisions(c *revision.Changes) {
	for _, r := range c.Adopt {
		w.editRevision(r, func(r *appsv1.ControllerRevision) {
			if metav1.GetControllerOfNoCopy(r) != nil {
				w.T.Fatalf("the plan adopts revision %s, which has a controller", r.Name)
			}
			r.OwnerReferences = append(r.OwnerReferences, w.Owner)
		})
	}
	if r := c.Create; r != nil {
		if named(w.Revisions, r.Name) != nil {
			w.T.Fatalf("the plan creates revision %s, which exists", r.Name)
		}
		r = r.DeepCopy()
		r.UID, r.CreationTimestamp = w.uid(r.Name), metav1.NewTime(w.Now)
		w.Revisions = append(w.Revisions, r)
	}
	if c.Raise != nil {
		w.editRevision(c.Raise, func(r *appsv1.ControllerRevision) {
			r.Revision = c.RaiseTo
			for key, value := range c.Annotate {
				metav1.SetMetaDataAnnotation(&r.ObjectMeta, key, value)
			}
		})
	}
}

func (w *Cluster) editRevision(of *appsv1.ControllerRevision, do func(*appsv1.ControllerRevision)) {
	if !edit(w.Revisions, of.Name, do) {
		w.T.Fatalf("the plan changes revision %s, which does not exist", of.Name)
	}
}

// createPods creates pods and their claims as a plan says, as many as the API
// server accepts.
func (w *Cluster) createPods(creations []rollout.PodCreation) {
	for _, c := range creations {
		if w.Pod(c.Pod.Name) != nil {
			w.T.Fatalf("the plan creates pod %s, which exists", c.Pod.Name)
		}
		w.createClaims(c.Claims)
		if w.Refused["create"] || w.Quota > 0 && len(w.Pods) >= w.Quota {
			return
		}
		w.changed = true
		pod := c.Pod.DeepCopy()
		pod.UID = w.uid(pod.Name)
		pod.CreationTimestamp = metav1.NewTime(w.Now)
		pod.ResourceVersion = w.Bump()
		pod.Status.Phase = corev1.PodPending
		if w.created++; w.GeneratedNames {
			w.alias[pod.Name] = fmt.Sprint("p", w.created)
		}
		w.Pods = append(w.Pods, pod)
	}
}

// createClaims creates claims as a plan says.
func (w *Cluster) createClaims(claims []*corev1.PersistentVolumeClaim) {
	for _, claim := range claims {
		if w.claim(claim.Name) != nil {
			w.T.Fatalf("the plan creates claim %s, which exists", claim.Name)
		}
		claim = claim.DeepCopy()
		claim.UID = w.uid(claim.Name)
		claim.CreationTimestamp = metav1.NewTime(w.Now)
		w.Claims = append(w.Claims, claim)
	}
}

// deletePod deletes a pod as a plan says, and returns whether the API server
// accepts it.
func (w *Cluster) deletePod(pod *corev1.Pod) bool {
	have := w.Pod(pod.Name)
	if have == nil || have.UID != pod.UID {
		w.T.Fatalf("the plan deletes pod %s, which does not exist", pod.Name)
	}
	if have.DeletionTimestamp != nil {
		w.T.Fatalf("the plan deletes pod %s, which is terminating", pod.Name)
	}
	if w.Refused["delete"] {
		return false
	}
	w.changed = true
	w.remove(pod.Name)
	return true
}

// DeleteClaim deletes a claim as a plan says.
func (w *Cluster) DeleteClaim(claim *corev1.PersistentVolumeClaim) {
	if w.claim(claim.Name) == nil {
		w.T.Fatalf("the plan deletes claim %s, which does not exist", claim.Name)
	}
	w.removeClaim(claim.Name)
}

// ownClaim gives a claim other owners as a plan says.
func (w *Cluster) ownClaim(claim *corev1.PersistentVolumeClaim, owners []metav1.OwnerReference) {
	have := w.claim(claim.Name)
	if have == nil {
		w.T.Fatalf("the plan changes the owners of claim %s, which does not exist", claim.Name)
	}
	if equality.Semantic.DeepEqual(have.OwnerReferences, owners) {
		w.T.Fatalf("the plan gives claim %s the owners that it has", claim.Name)
	}
	edit(w.Claims, claim.Name, func(c *corev1.PersistentVolumeClaim) { c.OwnerReferences = slices.Clone(owners) })
}

// patchPods changes pods as a plan says.
func (w *Cluster) patchPods(planned []rollout.PodPatch) {
	for _, p := range planned {
		have := w.Pod(p.Pod.Name)
		if have == nil {
			w.T.Fatalf("the plan patches pod %s, which does not exist", p.Pod.Name)
		}
		writes, err := p.Patch.Writes(have)
		if err != nil {
			w.T.Fatal(err)
		}
		if len(writes) == 0 {
			w.T.Fatalf("the plan patches pod %s (%s) without a change", p.Pod.Name, p.Kind)
		}
		w.changed = w.changed || p.Kind.AffectsAvailability()
		for _, write := range writes {
			w.Edit(have.Name, func(pod *corev1.Pod) { patches.Strategic(w.T, pod, string(write.Data)) })
		}
	}
}
