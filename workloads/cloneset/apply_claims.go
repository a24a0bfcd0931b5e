// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"context"
	"errors"
	"fmt"

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
// cannot be had back, and the cache of pods may be older than the claims: another
// manager may just have created all of them. So the API server is asked, once.
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
			errs = append(errs, a.DeleteClaim(ctx, claim))
		} else {
			errs = append(errs, a.releaseClaim(ctx, claim, pod))
		}
	}
	return errors.Join(errs...)
}

// reused returns the claims of a new pod that were there before it.
func (a *applier) reused(pod *corev1.Pod) (claims []*corev1.PersistentVolumeClaim) {
	for _, claim := range a.claims {
		if claim.Labels[v1alpha1.CloneSetInstanceIDLabel] == instanceID(pod) && mounts(pod, claim.Name) {
			claims = append(claims, claim)
		}
	}
	return claims
}

// nameTaken drops the instance of a pod whose name, or that of a claim of its,
// is another owner's: otherwise its claims would be the reason to ask for that
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
