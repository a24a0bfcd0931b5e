// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/inplace"
	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/caches"
)

// resizeFailure says what the error of a resize means, nil if there is none. A pod that is
// gone and a conflict mean what they mean for every write. begun says that the writes of
// the update before it were made. (IP-39)
func (p *Sync) resizeFailure(ctx context.Context, pod *corev1.Pod, begun bool, err error) error {
	failure := &rollout.ResizeError{Err: err, Begun: begun}
	switch {
	case err == nil, apierrors.IsConflict(err), replaced(err):
		return err
	case apierrors.IsNotFound(err):
		live, readErr := p.Pods.Read(ctx, pod.Namespace, pod.Name)
		if readErr != nil || live.GetUID() != pod.UID {
			return err
		}
		failure.Err, failure.Unsupported = errNoResize, true
	case apierrors.IsInvalid(err), apierrors.IsMethodNotSupported(err),
		apierrors.HasStatusCause(err, nodeTooSmall), apierrors.HasStatusCause(err, notOnPlatform):
		failure.Unsupported = true
	}
	return failure
}

// noteResize records in a pod, which is that of the answer to its resize, that it has got something
// else than what was requested. It returns the version of the pod then. If the pod has changed by
// now that is a conflict, and the next reconcile requests the resize again, to learn the same. (IP-38)
func (p *Sync) noteResize(ctx context.Context, pod *corev1.Pod) (version string, err error) {
	version = pod.ResourceVersion
	var note podpatch.Patch
	if err := inplace.Resized(&note, pod); err != nil {
		return version, err
	}
	writes, err := note.Writes(pod)
	if err != nil {
		return version, err
	}
	for _, w := range writes {
		p.Wrote(caches.Pods, version)
		version, err = p.Pods.Patch(ctx, pod, w.Subresource, types.StrategicMergePatchType, w.Data)
	}
	return version, err
}

// The causes by which an API server forbids a resize since the node of the pod can never do it.
// Other refusals by admission may pass.
const (
	nodeTooSmall  metav1.CauseType = "NodeCapacity"
	notOnPlatform metav1.CauseType = "UnsupportedPlatform"
)

var errNoResize = errors.New("it does not serve the subresource resize of pods")

// asLeft returns a pod after its patch failed, as far as that tells
// whether its update was begun.
func asLeft(patch *rollout.PodPatch, err error) *corev1.Pod {
	var failure *rollout.ResizeError
	if !errors.As(err, &failure) || !failure.Begun {
		return patch.Pod
	}
	after, applyErr := patch.Patch.Apply(patch.Pod)
	if applyErr != nil {
		return patch.Pod // never: its writes were made of it
	}
	return after
}
