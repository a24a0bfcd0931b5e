// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/caches"
)

// CreateClaim creates a claim of a pod that exists, unless there is one of its
// name: the pod mounts that one, whose ever it is.
func (p *Sync) CreateClaim(ctx context.Context, claim *corev1.PersistentVolumeClaim) error {
	err := p.createClaim(ctx, claim, "")
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// CreateClaimsOf creates the claims of a new pod, or finds them there for it to use.
func (p *Sync) CreateClaimsOf(ctx context.Context, c *rollout.PodCreation) error {
	for _, claim := range c.Claims {
		err := p.createClaim(ctx, claim, c.Pod.Name)
		if apierrors.IsAlreadyExists(err) {
			err = p.mayUse(ctx, claim)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// createClaim creates a claim of a new pod, or of one that exists if pod is
// empty. That the name is taken is returned unchanged: what it means is for the
// caller to say.
func (p *Sync) createClaim(ctx context.Context, claim *corev1.PersistentVolumeClaim, pod string) error {
	version, err := p.CreateOwned(func() (string, error) { return p.Claims.Create(ctx, claim) })
	if apierrors.IsAlreadyExists(err) {
		return err
	}
	p.RecordOutcome(Outcome{Action: Create, Claim: claim.Name, Pod: pod, Err: err})
	if err != nil {
		return &creationError{name: pod, claim: claim.Name, generated: p.GeneratedNames && pod != "",
			err: p.Unanswered(caches.Claims, claim.Name, err)}
	}
	p.Wrote(caches.Claims, version)
	return nil
}

// errForeignClaim says that a claim of the wanted name is another owner's.
var errForeignClaim = errors.New("a claim of that name exists, which another controller has or none")

// mayUse looks at the claim that has the name of a wanted one. A pod that mounts
// one which is being deleted would stay Pending, and one of another owner is
// not for it.
func (p *Sync) mayUse(ctx context.Context, wanted *corev1.PersistentVolumeClaim) error {
	found, err := p.Kubernetes.CoreV1().PersistentVolumeClaims(p.Key.Namespace).Get(ctx, wanted.Name, metav1.GetOptions{})
	wants, has := metav1.GetControllerOfNoCopy(wanted), (*metav1.OwnerReference)(nil)
	if err == nil {
		has = metav1.GetControllerOfNoCopy(found)
	}
	switch {
	case err != nil:
	case found.DeletionTimestamp != nil:
		err = errors.New("the claim of that name is still being deleted")
	case wants != nil && (has == nil || has.UID != wants.UID):
		err = errForeignClaim
	default:
		return nil
	}
	return fmt.Errorf("create claim %s: %w", wanted.Name, err)
}

// PatchClaim sends a strategic-merge patch of a claim, which should name the
// claim's UID. A claim that is gone already is no error: the cache will show it.
// It returns the API server's error, and records no event: what the patch is for
// is for the caller to say.
func (p *Sync) PatchClaim(ctx context.Context, claim *corev1.PersistentVolumeClaim, data []byte) error {
	version, err := p.Claims.Patch(ctx, claim, "", types.StrategicMergePatchType, data)
	if err != nil && Gone(err) {
		return nil
	}
	if err != nil {
		return p.Unanswered(caches.Claims, claim.Name, err)
	}
	p.Wrote(caches.Claims, version)
	return nil
}

// ChangeClaim gives a claim its owners. It records no event.
func (p *Sync) ChangeClaim(ctx context.Context, c rollout.ClaimPatch) error {
	data, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": c.Claim.UID, "ownerReferences": ownerChanges(c.Claim.OwnerReferences, c.Owners),
	}})
	if err != nil {
		return err
	}
	if err := p.PatchClaim(ctx, c.Claim, data); err != nil {
		return fmt.Errorf("change the owners of claim %s: %w", c.Claim.Name, err)
	}
	return nil
}

// ownerChanges is a list of owners in the form of a strategic-merge patch: what
// others add meanwhile stays.
func ownerChanges(before, after []metav1.OwnerReference) (changes []any) {
	has := func(list []metav1.OwnerReference, of metav1.OwnerReference) bool {
		return slices.ContainsFunc(list, func(o metav1.OwnerReference) bool { return o.UID == of.UID })
	}
	for _, owner := range before {
		if !has(after, owner) {
			changes = append(changes, map[string]any{"$patch": "delete", "uid": owner.UID})
		}
	}
	for _, owner := range after {
		if !has(before, owner) {
			changes = append(changes, owner)
		}
	}
	return changes
}
