// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// disownClaims gives away or deletes the claims whose pods are gone.
func (a *applier) disownClaims(ctx context.Context) error {
	return errors.Join(a.ChangeClaims(ctx, a.plan.PatchClaims), apply.Each(ctx, byInstance(a.plan.DeleteClaims), a.deleteUnused))
}

// byInstance groups claims by the instance that they are for.
func byInstance(claims []*corev1.PersistentVolumeClaim) (instances [][]*corev1.PersistentVolumeClaim) {
	at := map[string]int{}
	for _, claim := range claims {
		id := claim.Labels[v1alpha1.CloneSetInstanceIDLabel]
		i, found := at[id]
		if !found {
			i, at[id] = len(instances), len(instances)
			instances = append(instances, nil)
		}
		instances[i] = append(instances[i], claim)
	}
	return instances
}

// deleteUnused deletes the claims of an instance whose pod is gone. What is deleted
// cannot be had back, and the cache of pods may be older than the claims. Another manager
// may just have created all of them. So the API server is asked, once.
func (a *applier) deleteUnused(ctx context.Context, claims []*corev1.PersistentVolumeClaim) error {
	name := a.set.Name + "-" + claims[0].Labels[v1alpha1.CloneSetInstanceIDLabel]
	pod, err := a.livePod(ctx, name)
	if err != nil {
		return fmt.Errorf("delete the claims of pod %s: find out whether it is gone: %w", name, err)
	}
	if pod != nil && a.owns(pod) { // the cache will show it
		return nil
	}
	var errs []error
	for _, claim := range claims {
		if pod == nil {
			errs = append(errs, a.deleteClaim(ctx, claim))
		} else {
			errs = append(errs, a.releaseClaim(ctx, claim, pod))
		}
	}
	return errors.Join(errs...)
}

// reused returns the claims of a new pod that were there before it.
func (a *applier) reused(pod *corev1.Pod) (claims []*corev1.PersistentVolumeClaim) {
	for _, claim := range a.snapshot.Claims {
		if claim.Labels[v1alpha1.CloneSetInstanceIDLabel] == instanceID(pod) && mounts(pod, claim.Name) {
			claims = append(claims, claim)
		}
	}
	return claims
}

// late is how long after it was sent a write may still be served. A connection that
// stands still holds it up, also if its sender is gone.
const late = 2 * time.Minute

// reusedBy is what the manager writes to claims that a new pod finds there: when its first reconcile began. It is empty when the
// writes of the manager before this one are over.
func (r *reconciler) reusedBy(now time.Time) string {
	r.began.CompareAndSwap(nil, &now)
	began := *r.began.Load()
	if now.Sub(began) >= late {
		return ""
	}
	return began.UTC().Format(time.RFC3339Nano)
}

// noteReuse changes the claims that a new pod finds there, so that deletions of them
// which the manager before this one has sent are refused. It does so while such writes
// may be under way: those of one manager are in order. If a claim has changed since it
// was observed, it may be on its way out already: the next reconcile sees it. A pod is
// needed more than the note, if that is refused.
func (a *applier) noteReuse(ctx context.Context, c *rollout.PodCreation) error {
	if a.reusedBy == "" {
		return nil
	}
	for _, claim := range a.reused(c.Pod) {
		if claim.Annotations[v1alpha1.CloneSetClaimReusedAnnotation] == a.reusedBy {
			continue
		}
		data, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": claim.UID, "resourceVersion": claim.ResourceVersion,
			"annotations": map[string]string{v1alpha1.CloneSetClaimReusedAnnotation: a.reusedBy}}})
		if err != nil {
			return err
		}
		if err := a.PatchClaim(ctx, claim, data); err != nil && !apiwriter.Final(err) {
			return fmt.Errorf("create pod %s: note that it reuses claim %s: %w", c.Pod.Name, claim.Name, err)
		}
	}
	return nil
}

// deleteClaim deletes a claim. One that is gone already, or another one by now, is no
// error, nor is one that another manager uses again. (CS-24)
func (a *applier) deleteClaim(ctx context.Context, claim *corev1.PersistentVolumeClaim) error {
	version, err := a.deleteUnlessReused(ctx, claim)
	if err != nil {
		a.RecordOutcome(apply.Outcome{Action: apply.Delete, Claim: claim.Name, Err: err})
		return fmt.Errorf("delete claim %s: %w", claim.Name, a.Unanswered(ResourceClaims, claim.Name, err))
	}
	if version != "" {
		a.Wrote(ResourceClaims, version)
	}
	return nil
}

// deleteUnlessReused deletes a claim, unless another manager has given it to a new pod
// since it was observed.
func (a *applier) deleteUnlessReused(ctx context.Context, claim *corev1.PersistentVolumeClaim) (version string, err error) {
	version, err = a.Claims.DeleteUnchanged(ctx, claim)
	if !apierrors.IsConflict(err) {
		return version, err
	}
	live, err := apiwriter.Found(a.Kubernetes.CoreV1().PersistentVolumeClaims(claim.Namespace).Get(ctx, claim.Name, metav1.GetOptions{}))
	if err != nil || live == nil || live.UID != claim.UID ||
		live.Annotations[v1alpha1.CloneSetClaimReusedAnnotation] != claim.Annotations[v1alpha1.CloneSetClaimReusedAnnotation] {
		return "", err
	}
	return a.Claims.DeleteUnchanged(ctx, live)
}

// nameTaken drops the instance of a pod if its name, or that of one of its claims, is
// another owner's. Otherwise its claims would be the reason to ask for that name again,
// in every reconcile.
func (a *applier) nameTaken(ctx context.Context, c *rollout.PodCreation, cause error) error {
	pod, err := a.livePod(ctx, c.Pod.Name)
	switch {
	case err != nil:
		return err
	case pod == nil && apierrors.IsAlreadyExists(cause): // it is gone by now
		return nil
	case pod != nil && a.owns(pod): // the cache will show it
		return nil
	}
	var errs []error
	for _, claim := range a.snapshot.Claims {
		if claim.DeletionTimestamp == nil && claim.Labels[v1alpha1.CloneSetInstanceIDLabel] == instanceID(c.Pod) {
			errs = append(errs, a.releaseClaim(ctx, claim, pod))
		}
	}
	return errors.Join(errs...)
}

// releaseClaim gives a claim to a pod of another owner that mounts it. One that the pod
// does not mount stays without an owner: it is not deleted.
func (a *applier) releaseClaim(ctx context.Context, claim *corev1.PersistentVolumeClaim, pod *corev1.Pod) error {
	if pod != nil && !mounts(pod, claim.Name) {
		pod = nil
	}
	return a.ChangeClaims(ctx, []rollout.ClaimPatch{releaseClaim(claim, a.set.UID, pod)})
}

// livePod asks the API server for a pod; nil if there is none.
func (a *applier) livePod(ctx context.Context, name string) (*corev1.Pod, error) {
	return apiwriter.Found(a.Kubernetes.CoreV1().Pods(a.set.Namespace).Get(ctx, name, metav1.GetOptions{}))
}

func (a *applier) owns(pod *corev1.Pod) bool {
	return metav1.IsControlledBy(pod, a.set)
}
