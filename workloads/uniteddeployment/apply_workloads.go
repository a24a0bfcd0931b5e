// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// atOnce limits the requests under way for one UnitedDeployment.
const atOnce = 16

func (a *applier) keyOf(c *Child) types.NamespacedName {
	return types.NamespacedName{Namespace: a.Key.Namespace, Name: c.Object.GetName()}
}

// own adopts and releases workloads. (UD-2.1, UD-2.2)
func (a *applier) own(ctx context.Context) error {
	set := a.snapshot.Set
	adopt := func(ctx context.Context, c Child) error {
		owners := append(c.Object.GetOwnerReferences(), *metav1.NewControllerRef(set, kindOfSet))
		return a.setOwners(ctx, &c, owners)
	}
	release := func(ctx context.Context, c Child) error {
		owners := []metav1.OwnerReference{}
		for _, owner := range c.Object.GetOwnerReferences() {
			if owner.UID != set.UID {
				owners = append(owners, owner)
			}
		}
		return a.setOwners(ctx, &c, owners)
	}
	return errors.Join(apply.Each(ctx, a.plan.Adopt, adopt), apply.Each(ctx, a.plan.Release, release))
}

// setOwners sets the owners of a workload that is still as it was observed.
func (a *applier) setOwners(ctx context.Context, c *Child, owners []metav1.OwnerReference) error {
	data, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": c.Object.GetUID(), "resourceVersion": c.Object.GetResourceVersion(), "ownerReferences": owners,
	}})
	if err != nil {
		return err
	}
	return a.patchObserved(ctx, c, data)
}

// patch sends a merge patch of a workload that was found so, with pauses if another writer takes it back. (CT-12)
func (a *applier) patch(ctx context.Context, c *Child, found, data []byte) error {
	wanted, err := apply.Changed(found, data)
	if err != nil {
		return fmt.Errorf("patch %s %s: %w", c.Kind, c.Object.GetName(), err)
	}
	return a.PutBack(string(c.Kind)+" "+c.Object.GetName(), wanted, func() error { return a.send(ctx, c, data) })
}

// patchObserved sends a merge patch of a workload as it was observed.
func (a *applier) patchObserved(ctx context.Context, c *Child, data []byte) error {
	found, err := json.Marshal(c.Object)
	if err != nil {
		return fmt.Errorf("encode %s %s: %w", c.Kind, c.Object.GetName(), err)
	}
	return a.patch(ctx, c, found, data)
}

func (a *applier) send(ctx context.Context, c *Child, data []byte) error {
	t := a.targets[c.Kind]
	version, err := t.merge(ctx, a.keyOf(c), data)
	if apierrors.IsNotFound(err) {
		return nil // the cache will show it
	}
	if err != nil {
		return fmt.Errorf("patch %s %s: %w", c.Kind, c.Object.GetName(), a.Unanswered(t.resource, c.Object.GetName(), err))
	}
	a.Wrote(t.resource, version)
	return nil
}

// createAll creates the workloads that are missing.
func (a *applier) createAll(ctx context.Context) error {
	n, err := apiwriter.SlowStart(ctx, len(a.plan.Create), atOnce, 1, func(i int) error { return a.create(ctx, &a.plan.Create[i]) })
	a.recordMade("Create", n, a.plan.Create, err)
	return err
}

// create creates a workload.
func (a *applier) create(ctx context.Context, c *Creation) error {
	t, name := a.targets[c.Kind], c.Object.GetName()
	version, err := a.CreateOwned(func() (string, error) { return t.create(ctx, c.Object) })
	if apierrors.IsAlreadyExists(err) {
		version, err = a.nameTaken(ctx, t, name)
	}
	if err != nil {
		return fmt.Errorf("create %s %s: %w", c.Kind, name, a.Unanswered(t.resource, name, err))
	}
	a.Wrote(t.resource, version)
	a.Own.Created(a.Key, apiwriter.Creation{Resource: t.resource, Name: name, Owner: a.snapshot.Set.UID})
	return nil
}

// nameTaken finds out whether the workload that has a name is the one that was created before.
// Otherwise the next plan takes another name. (UD-6)
func (a *applier) nameTaken(ctx context.Context, t target, name string) (resourceVersion string, err error) {
	found, err := t.Read(ctx, a.Key.Namespace, name)
	if err != nil {
		return "", fmt.Errorf("it exists, read it: %w", err)
	}
	if metav1.IsControlledBy(found, a.snapshot.Set) && found.GetDeletionTimestamp() == nil {
		return found.GetResourceVersion(), nil
	}
	before := a.taken.Get(a.Key)
	if before.of != a.snapshot.Set.UID {
		before = taken{of: a.snapshot.Set.UID}
	}
	names := append(append([]string{}, before.names...), name)
	a.taken.Set(a.Key, taken{of: before.of, names: names})
	return "", errors.New("the name is taken by another one, which this UnitedDeployment does not control: another name is tried")
}

// deleteAll deletes the workloads that are too many, each if it is still this one.
func (a *applier) deleteAll(ctx context.Context) error {
	err := apply.Each(ctx, a.plan.Delete, func(ctx context.Context, c Child) error {
		t := a.targets[c.Kind]
		err := t.delete(ctx, a.keyOf(&c), c.Object.GetUID())
		if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("delete %s %s: %w", c.Kind, c.Object.GetName(), a.Unanswered(t.resource, c.Object.GetName(), err))
		} // the answer does not say when the cache will show it: until then it is perhaps deleted again, which does nothing
		a.Event(corev1.EventTypeNormal, reasonSuccessfulUpdateSubset, "Delete 1 Subset (%s): %s", c.Kind, c.Object.GetName())
		return nil
	})
	if err != nil {
		a.Event(corev1.EventTypeWarning, reasonFailedUpdateSubset, "%v", err)
	}
	return err
}

// markAll labels pods that others have substitutes for. (UD-21.3)
func (a *applier) markAll(ctx context.Context) error {
	mark := func(value any) func(context.Context, *corev1.Pod) error {
		return func(ctx context.Context, pod *corev1.Pod) error {
			data, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": pod.UID, "labels": map[string]any{v1alpha1.ReservedPodLabel: value}}})
			if err != nil {
				return err
			}
			if err = a.WritePod(ctx, pod, podpatch.Write{Data: data}, "change of the label "+v1alpha1.ReservedPodLabel); err != nil {
				a.RecordFailure(apply.Update, err)
			}
			return err
		}
	}
	var not any // no label
	if a.plan.LabelAll {
		not = "false"
	}
	return errors.Join(apply.Each(ctx, a.plan.Reserve, mark("true")), apply.Each(ctx, a.plan.Unreserve, mark(not)))
}

// updateAll changes the workloads that are not as they should be. (UD-10)
func (a *applier) updateAll(ctx context.Context) error {
	_, err := apiwriter.SlowStart(ctx, len(a.plan.Update), atOnce, 2, func(i int) error { return a.update(ctx, &a.plan.Update[i]) })
	if worth := apply.WorthRetrying(err); worth != nil && !apierrors.IsConflict(worth) {
		a.Event(corev1.EventTypeWarning, reasonFailedUpdateSubset, "%v", worth)
	}
	return err
}

// update changes a workload. What is made anew is read first: what of it is removed depends on
// what it holds.
func (a *applier) update(ctx context.Context, u *Update) error {
	if u.Wanted == nil {
		return a.patchObserved(ctx, &u.Child, u.Child.scalePatch(u.Replicas, u.Partition))
	}
	live, err := a.targets[u.Child.Kind].get(ctx, a.keyOf(&u.Child))
	if apierrors.IsNotFound(err) {
		return nil // the cache will show it
	}
	if err != nil {
		return fmt.Errorf("read %s %s: %w", u.Child.Kind, u.Child.Object.GetName(), err)
	}
	data, err := u.updatePatch(live)
	if err != nil {
		return fmt.Errorf("update %s %s: %w", u.Child.Kind, u.Child.Object.GetName(), err)
	}
	return a.patch(ctx, &u.Child, live, data)
}
