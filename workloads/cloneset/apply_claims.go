// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// disownClaims gives away or deletes the claims whose pods are gone.
func (a *applier) disownClaims(ctx context.Context) error {
	return errors.Join(a.ChangeClaims(ctx, a.plan.PatchClaims), apply.Each(ctx, a.plan.DeleteClaims, a.deleteUnused))
}

// deleteUnused deletes a claim whose pod is gone. What is deleted cannot be had
// back, and the cache of pods may be older than the claim: another manager may
// just have created both. So the API server is asked.
func (a *applier) deleteUnused(ctx context.Context, claim *corev1.PersistentVolumeClaim) error {
	pod, err := a.livePod(ctx, a.set.Name+"-"+claim.Labels[v1alpha1.CloneSetInstanceIDLabel])
	switch {
	case err != nil:
		return fmt.Errorf("delete claim %s: find out whether its pod is gone: %w", claim.Name, err)
	case pod == nil:
		return a.DeleteClaim(ctx, claim)
	case a.owns(pod): // the cache will show it
		return nil
	}
	return a.releaseClaim(ctx, claim, pod)
}

// nameTaken drops the instance of a pod whose name, or that of a claim of its,
// is somebody else's: otherwise its claims would be the reason to ask for that
// name again, in every reconcile.
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
	for _, claim := range a.claims {
		if claim.DeletionTimestamp == nil && claim.Labels[v1alpha1.CloneSetInstanceIDLabel] == instanceID(c.Pod) {
			errs = append(errs, a.releaseClaim(ctx, claim, pod))
		}
	}
	return errors.Join(errs...)
}

// releaseClaim gives a claim to a pod of somebody else that mounts it. One that the pod
// does not mount stays without an owner: nobody deletes it.
func (a *applier) releaseClaim(ctx context.Context, claim *corev1.PersistentVolumeClaim, pod *corev1.Pod) error {
	if pod != nil && !mounts(pod, claim.Name) {
		pod = nil
	}
	return a.ChangeClaims(ctx, []rollout.ClaimPatch{releaseClaim(claim, a.set.UID, pod)})
}

// livePod asks the API server for a pod; nil where there is none.
func (a *applier) livePod(ctx context.Context, name string) (*corev1.Pod, error) {
	pod, err := a.Kubernetes.CoreV1().Pods(a.set.Namespace).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return pod, err
}

func (a *applier) owns(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.OwnerReferences, func(o metav1.OwnerReference) bool { return o.UID == a.set.UID })
}
