// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/caches"
)

// CreatePods creates pods by create, in batches of 1, 2, 4 and so
// on. A failure ends it, since the next pod would most likely fail for the same
// reason. If pods keep their names, the reason may be the name. Then one more
// is tried first, so that a pod that never succeeds does not keep all others
// from it.
func (p *Sync) CreatePods(ctx context.Context, creations []rollout.PodCreation, create func(context.Context, *rollout.PodCreation) error) error {
	patience := 2
	if p.GeneratedNames {
		patience = 1
	}
	var lock sync.Mutex
	var taken []error // the names of others are no reason to stop if names are generated
	_, err := apiwriter.SlowStart(ctx, len(creations), atOnce, patience, func(i int) error {
		err := create(ctx, &creations[i])
		if p.GeneratedNames && NameTaken(err) {
			lock.Lock()
			defer lock.Unlock()
			taken = append(taken, err)
			return nil
		}
		return err
	})
	return errors.Join(append(taken, err)...)
}

// NameTaken tells whether the name of a new pod, or of one of its claims, is another owner's. Perhaps it is that of an own
// one that no cache shows yet.
func NameTaken(err error) bool {
	return apierrors.IsAlreadyExists(err) || errors.Is(err, errForeignClaim)
}

// CreatePod creates a pod, as Placement says. Its claims are there already.
func (p *Sync) CreatePod(ctx context.Context, pod *corev1.Pod) error {
	made, sent, err := p.createPlaced(ctx, pod)
	if sent && apierrors.IsAlreadyExists(err) { // perhaps made by a request of ours that the cache does not show yet
		p.Own.Lost(p.Key, caches.Pods, pod.Name)
	}
	if sent {
		p.podWrites.ended(pod, err)
	}
	if sent && err != nil {
		err = p.Unanswered(caches.Pods, pod.Name, err)
	}
	if err == nil {
		p.Wrote(caches.Pods, made.ResourceVersion)
		if differs := p.unlike(pod, made); differs != nil {
			err = p.undo(ctx, made, differs)
		}
	}
	p.RecordOutcome(Outcome{Action: Create, Pod: pod.Name, Err: err})
	if err != nil {
		return &creationError{name: pod.Name, generated: p.GeneratedNames, err: err}
	}
	p.Own.Created(p.Key, apiwriter.Creation{Resource: caches.Pods, Name: pod.Name, Owner: p.Workload.GetUID()})
	return nil
}

// createPlaced creates a pod on the node that its Placement says. Nothing is sent if the node cannot be told, or if the pod would
// then be none of the workload. (CT-5)
func (p *Sync) createPlaced(ctx context.Context, pod *corev1.Pod) (made *metav1.PartialObjectMetadata, sent bool, err error) {
	if err := p.misfits.waits(p.Workload, p.now()); err != nil {
		return nil, false, err
	}
	if p.Placement != nil {
		asked := pod
		if pod, err = p.Placement.PlacePod(ctx, pod); err != nil {
			return nil, false, fmt.Errorf("find its place: %w", err)
		}
		if differs := p.unlike(asked, pod); differs != nil {
			return nil, false, fmt.Errorf("find its place: Placement returned another pod than the one given: %w; "+
				"what places pods, a subset of a WorkloadSpread for example, must not change that", differs)
		}
	}
	_, err = p.CreateOwned(func() (string, error) {
		made, err = p.Pods.CreateRead(ctx, pod)
		return "", err
	})
	return made, true, err
}

// DeletePod deletes a pod, and tells whether it has. One that is gone already is no
// error, and perhaps another one has its name by now. The action is Delete or Recreate.
func (p *Sync) DeletePod(ctx context.Context, pod *corev1.Pod, action Action) (deleted bool, err error) {
	version, err := p.Pods.Delete(ctx, pod)
	return p.deletedPod(pod, action, version, err)
}

// DeletePodUnchanged is DeletePod for a pod that is deleted because of the state
// in which it was observed, not ready for example. It is a conflict, of which no
// event is recorded, if the pod has changed since: it may be ready by now.
func (p *Sync) DeletePodUnchanged(ctx context.Context, pod *corev1.Pod, action Action) (deleted bool, err error) {
	version, err := p.Pods.DeleteUnchanged(ctx, pod)
	return p.deletedPod(pod, action, version, err)
}

func (p *Sync) deletedPod(pod *corev1.Pod, action Action, version string, err error) (deleted bool, _ error) {
	p.podWrites.ended(pod, err)
	if err != nil {
		if !apierrors.IsConflict(err) {
			p.RecordOutcome(Outcome{Action: action, Pod: pod.Name, Err: err})
		}
		return false, fmt.Errorf("delete pod %s: %w", pod.Name, p.Unanswered(caches.Pods, pod.Name, err))
	}
	if version == "" { // another client has deleted it
		return false, nil
	}
	p.Wrote(caches.Pods, version)
	p.RecordOutcome(Outcome{Action: action, Pod: pod.Name})
	return true, nil
}

// PatchPods changes pods. What another writer takes back is written again with pauses. (CT-12)
func (p *Sync) PatchPods(ctx context.Context, patches []rollout.PodPatch) error {
	return apiwriter.Each(ctx, len(patches), atOnce, func(i int) error {
		return p.putPod(&patches[i], func() error { return p.PatchPod(ctx, &patches[i]) })
	})
}

// putPod has a patch sent, unless it is to wait since another writer takes it back each time. (CT-12)
func (p *Sync) putPod(patch *rollout.PodPatch, send func() error) error {
	what, wanted, err := p.wantedOf(patch)
	if err != nil {
		return err
	}
	return p.PutBack(what, wanted, send)
}

// wantedOf names a pod, and what a patch wants of it.
func (p *Sync) wantedOf(patch *rollout.PodPatch) (what, wanted string, err error) {
	writes, err := patch.Patch.Writes(patch.Pod)
	for _, w := range writes {
		wanted += strconv.Quote(w.Subresource) + p.wantedOfPod(w.Data)
	}
	return "pod " + p.nameOf(patch.Pod), wanted, err
}

// PatchPod sends the writes of a patch. A pod that is gone is no error.
func (p *Sync) PatchPod(ctx context.Context, patch *rollout.PodPatch) error {
	pod := patch.Pod
	writes, err := patch.Patch.Writes(pod)
	if err != nil {
		return err
	}
	action, recorded := p.Records[patch.Kind]
	if patch.Kind == rollout.PatchUpdateInPlace && len(writes) > 1 && p.Refusals.Any() {
		if err := p.tryLast(ctx, pod, writes); err != nil {
			return fmt.Errorf("patch pod %s (%s): %w", p.nameOf(pod), patch.Kind, err)
		}
	}
	version := ""
	for _, w := range writes {
		begun := version != ""
		var resized *corev1.Pod
		if w.Subresource == podpatch.Resize {
			resized = &corev1.Pod{}
		}
		version, err = p.sendPatch(ctx, patch, w, version, resized)
		if resized != nil {
			if err = p.resizeFailure(ctx, pod, begun, err); err == nil {
				version, err = p.noteResize(ctx, resized)
			}
		}
		if patch.Kind.AffectsAvailability() {
			p.podWrites.ended(pod, err)
		}
		if err != nil && Gone(err) {
			return nil // the cache will show it
		}
		if err != nil {
			if recorded && !apierrors.IsConflict(err) {
				p.RecordOutcome(Outcome{Action: action, Pod: p.nameOf(pod), Err: err})
			}
			return fmt.Errorf("patch pod %s (%s): %w", p.nameOf(pod), patch.Kind, p.Unanswered(caches.Pods, p.nameOf(pod), err))
		}
		p.Wrote(caches.Pods, version)
	}
	if recorded {
		p.RecordOutcome(Outcome{Action: action, Pod: p.nameOf(pod)})
	}
	return nil
}

// mostReads is how often a pod is read again between the writes of a patch.
const mostReads = 3

// sendPatch sends a write of a patch, and returns the resourceVersion of the pod then. One
// that is chained to the write before, which returned a version, is sent again if what the
// patch follows from has not changed since. Kubelets report on a pod at any time. The answer
// is read into resized, unless that is nil.
func (p *Sync) sendPatch(ctx context.Context, patch *rollout.PodPatch, w podpatch.Write, version string, resized *corev1.Pod) (string, error) {
	for reads := 0; ; reads++ {
		chained, err := w, error(nil)
		if w.Chained {
			chained, err = w.On(version)
		}
		switch {
		case err != nil:
		case resized != nil:
			version, err = p.Pods.PatchRead(ctx, patch.Pod, w.Subresource, types.StrategicMergePatchType, chained.Data, resized)
		default:
			version, err = p.Pods.Patch(ctx, patch.Pod, w.Subresource, types.StrategicMergePatchType, chained.Data)
		}
		if !w.Chained || !apierrors.IsConflict(err) || reads == mostReads {
			return version, err
		}
		live, readErr := p.Kubernetes.CoreV1().Pods(patch.Pod.Namespace).Get(ctx, patch.Pod.Name, metav1.GetOptions{})
		if readErr != nil || !patch.Patch.Holds(patch.Pod, live) {
			return "", err
		}
		version = live.ResourceVersion
	}
}

// WritePod sends one patch of a pod. One that is gone is no error. The errors of others
// say what it was for. What another writer takes back is written again with pauses. (CT-12)
func (p *Sync) WritePod(ctx context.Context, pod *corev1.Pod, w podpatch.Write, what string) error {
	found, sent, err := noted(pod, w.Data)
	if err != nil {
		return fmt.Errorf("%s of pod %s: %w", what, pod.Name, err)
	}
	return p.Put(apiwriter.Write{Object: "pod " + p.nameOf(pod) + ", " + what, Wanted: p.wantedOfPod(w.Data), Found: found, Sent: sent,
		Send: func() error { return p.writePod(ctx, pod, w, what) }})
}

func (p *Sync) writePod(ctx context.Context, pod *corev1.Pod, w podpatch.Write, what string) error {
	version, err := p.Pods.Patch(ctx, pod, w.Subresource, types.StrategicMergePatchType, w.Data)
	if err != nil && Gone(err) {
		return nil // the cache will show it
	}
	if err != nil {
		return fmt.Errorf("%s of pod %s: %w", what, pod.Name, p.Unanswered(caches.Pods, pod.Name, err))
	}
	p.Wrote(caches.Pods, version)
	return nil
}

// tryLast has the API server judge the last of the writes of an update before the
// first, which takes the pod out of service.
func (p *Sync) tryLast(ctx context.Context, pod *corev1.Pod, writes []podpatch.Write) error {
	last := writes[len(writes)-1]
	err := p.Pods.TryPatch(ctx, pod, last.Subresource, types.StrategicMergePatchType, last.Data)
	if last.Subresource == podpatch.Resize {
		err = p.resizeFailure(ctx, pod, false, err)
	}
	if Gone(err) {
		return nil // the first write finds that out
	}
	return err
}
