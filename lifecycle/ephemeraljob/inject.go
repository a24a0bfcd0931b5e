// SPDX-License-Identifier: Apache-2.0

package ephemeraljob

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// atOnce limits the injections under way for one job.
const atOnce = 16

// subresource is the part of a pod that ephemeral containers are added to.
const subresource = "ephemeralcontainers"

// remembered are the refusals of one job. A new generation of it asks for other injections.
type remembered struct {
	Refusals
	job        types.UID
	generation int64
}

// of returns the refusals of a job, none if it was another one or has changed.
func (r remembered) of(job *v1alpha1.EphemeralJob) Refusals {
	if r.job != job.UID || r.generation != job.Generation {
		return Refusals{}
	}
	return r.Refusals
}

// injection injects containers into pods, and collects what comes of it.
type injection struct {
	*applier
	patience int // so many refusals in a row, or before any is served, end the reconcile
	lock     sync.Mutex
	refused  map[types.UID]string
	served   []types.UID
}

// inject injects the containers, after a dry run if nothing has been injected before. It
// returns when to try again, 0 if that is not due. (EJ-12 to EJ-14)
func (a *applier) inject(ctx context.Context) (again time.Duration, err error) {
	if len(a.plan.Inject) == 0 {
		return 0, nil
	}
	i := &injection{applier: a, refused: map[types.UID]string{}, patience: a.snapshot.Refusals.patience()}
	places, pods := len(a.plan.Inject), slices.Concat(a.plan.Inject, a.plan.Next)
	if a.plan.TryFirst {
		pods, err = i.try(ctx, pods)
	}
	for err == nil && len(pods) > 0 && len(i.served) < places && len(i.refused) < i.patience {
		n := min(places-len(i.served), len(pods))
		err = i.send(ctx, pods[:n])
		pods = pods[n:]
	}
	controller.Measure(a.options.JobMetrics, func(m JobMetrics) { m.Injected(len(i.served), len(i.refused)) })
	return i.remember(), err
}

// try asks about the pods, one after the other, until the API server would serve one. It
// returns that one and those behind it. (EJ-13)
func (i *injection) try(ctx context.Context, pods []*corev1.Pod) ([]*corev1.Pod, error) {
	for n, pod := range pods {
		if len(i.refused) == i.patience {
			break
		}
		data, err := patchOf(pod, i.plan.Containers)
		if err != nil {
			return nil, err
		}
		err = i.ended(pod, i.Pods.TryPatch(ctx, pod, subresource, types.StrategicMergePatchType, data))
		var refusal *refusal
		switch {
		case err == nil:
			return pods[n:], nil
		case !errors.As(err, &refusal):
			return nil, err
		}
	}
	return nil, nil
}

// send injects the containers into pods. Refusals are no errors: they are tried again at their own time.
func (i *injection) send(ctx context.Context, pods []*corev1.Pod) error {
	_, err := apiwriter.SlowStart(ctx, len(pods), atOnce, i.patience, func(n int) error { return i.sendOne(ctx, pods[n]) })
	var left []error
	for _, e := range apply.Separate(err) {
		var refusal *refusal
		if !errors.As(e, &refusal) {
			left = append(left, e)
		}
	}
	return errors.Join(left...)
}

// sendOne injects the containers into a pod. What others have injected meanwhile stays: the
// patch adds to the list by name, and the API server refuses to change what is there. (EJ-12)
func (i *injection) sendOne(ctx context.Context, pod *corev1.Pod) error {
	data, err := patchOf(pod, i.plan.Containers)
	if err != nil {
		return err
	}
	version, err := i.Pods.Patch(ctx, pod, subresource, types.StrategicMergePatchType, data)
	if err == nil {
		i.Wrote(resourcePods, version)
		i.lock.Lock()
		defer i.lock.Unlock()
		i.served = append(i.served, pod.UID)
		return nil
	}
	return i.ended(pod, i.Unanswered(resourcePods, pod.Name, err))
}

// patchOf is the patch that injects containers into a pod, and into no other one of its name.
func patchOf(pod *corev1.Pod, containers []corev1.EphemeralContainer) ([]byte, error) {
	data, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": pod.UID}, "spec": map[string]any{"ephemeralContainers": containers}})
	if err != nil {
		return nil, fmt.Errorf("encode the containers for pod %s: %w", pod.Name, err)
	}
	return data, nil
}

// refusal is an error that the same request will get again.
type refusal struct{ error }

// ended takes note of how an injection ended. A pod that is gone is no error: the cache will
// show it.
func (i *injection) ended(pod *corev1.Pod, err error) error {
	if err == nil || apply.Gone(err) && !unserved(err) {
		return nil
	}
	failed := fmt.Errorf("inject into pod %s: %w", pod.Name, err)
	if !apiwriter.Final(err) {
		return failed
	}
	message := err.Error()
	i.lock.Lock()
	i.refused[pod.UID] = message
	i.lock.Unlock()
	if i.snapshot.Refusals.Pods[pod.UID].Message != message {
		i.Event(corev1.EventTypeWarning, eventCreateFailed, "%v", failed)
	}
	return &refusal{failed}
}

// unserved tells whether an error says that the API server does not know the subresource: then
// it names no pod.
func unserved(err error) bool {
	var status apierrors.APIStatus
	return apierrors.IsNotFound(err) && errors.As(err, &status) && (status.Status().Details == nil || status.Status().Details.Name == "")
}

// remember remembers the refusals for the next reconcile, and returns when that is due: 0 if
// all was tried and nothing was refused.
func (i *injection) remember() (again time.Duration) {
	now := i.snapshot.Now
	next := i.snapshot.Refusals.after(i.refused, i.served, now)
	there := make(map[types.UID]bool, len(i.snapshot.Pods))
	for _, pod := range i.snapshot.Pods {
		there[pod.UID] = true
	}
	maps.DeleteFunc(next.Pods, func(uid types.UID, _ Refusal) bool { return !there[uid] })
	i.refusals.Set(i.Key, remembered{Refusals: next, job: i.job.UID, generation: i.job.Generation})
	switch {
	case len(i.refused) == 0:
		return 0
	case i.news():
		return firstRefusal // the status has to tell it
	}
	return max(next.Until.Sub(now), firstRefusal)
}

// news tells whether something was refused that was not known, or was served that had been.
func (i *injection) news() bool {
	known := i.snapshot.Refusals.Pods
	for uid, message := range i.refused {
		if known[uid].Message != message {
			return true
		}
	}
	return slices.ContainsFunc(i.served, func(uid types.UID) bool { return known[uid].Times > 0 })
}
