// SPDX-License-Identifier: Apache-2.0

package nodeimage

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/images"
)

// puller writes the pods that have images pulled.
type puller struct {
	pods     apiwriter.Resource
	own      *apiwriter.Store
	refusals apiwriter.Last[[]Refusal] // by node, of tasks that are not finished
	lock     sync.Mutex                // of changes of refusals
}

// apply deletes and creates the pods of a node. What the API server refuses is an
// attempt that has failed, and no error that would have it tried again at once.
func (u *puller) apply(ctx context.Context, key types.NamespacedName, s *Snapshot, plan *Pulls) error {
	if s.PullPods == nil {
		return nil
	}
	deleted := apply.Each(ctx, plan.Delete, func(ctx context.Context, pod *corev1.Pod) error {
		version, err := u.pods.Delete(ctx, pod)
		if err != nil {
			return fmt.Errorf("delete pod %s/%s, which has pulled an image: %w", pod.Namespace, pod.Name, err)
		}
		u.wrote(key, version)
		return nil
	})
	created := apply.Each(ctx, plan.Create, func(ctx context.Context, pod *corev1.Pod) error { return u.create(ctx, key, s, pod) })
	return errors.Join(deleted, created) // a pod that cannot be deleted holds up no pulls
}

func (u *puller) create(ctx context.Context, key types.NamespacedName, s *Snapshot, pod *corev1.Pod) error {
	version, err := u.pods.Create(ctx, pod)
	if err == nil {
		u.wrote(key, version)
		return nil
	}
	if !refused(err) {
		return fmt.Errorf("create pod %s/%s to pull an image: %w", pod.Namespace, pod.Name, err)
	}
	task, _ := images.PullTaskOf(pod)
	u.lock.Lock()
	defer u.lock.Unlock()
	u.refusals.Set(key, append(slices.Clone(u.refusals.Get(key)), // a snapshot may hold the old ones
		Refusal{Task: task, Job: metav1.GetControllerOfNoCopy(pod).UID, At: s.Now, Message: readable("no pod can be created: " + err.Error())}))
	return errRefused
}

// errRefused has the node reconciled soon, to say in the status what was refused.
var errRefused = errors.New("a pod was refused")

// refused tells whether the API server does not accept a pod: a quota, an
// admission policy, a name that is taken, a namespace that goes. What is wrong with
// the server itself is no refusal.
func refused(err error) bool { return apiwriter.Final(err) || apierrors.IsAlreadyExists(err) }

func (u *puller) wrote(key types.NamespacedName, version string) {
	if version != "" {
		u.own.Wrote(key, resourcePods, version)
	}
}

// observed returns the refusals of the tasks that a node has, and forgets all others.
func (u *puller) observed(key types.NamespacedName, n *v1alpha1.NodeImage) []Refusal {
	u.lock.Lock()
	defer u.lock.Unlock()
	all := u.refusals.Get(key)
	left := slices.DeleteFunc(slices.Clone(all), func(r Refusal) bool {
		return !slices.ContainsFunc(n.Spec.Images[r.Task.Image].Tags, func(t v1alpha1.ImageTagSpec) bool {
			state := currentState(&n.Status, r.Task.Image, &t)
			return t.Tag == r.Task.Tag && t.Version == r.Task.Version && (state == nil || state.CompletionTime == nil)
		})
	})
	switch {
	case len(left) == 0 && len(all) > 0:
		u.refusals.Forget(key)
	case len(left) < len(all):
		u.refusals.Set(key, left)
	}
	return left
}
