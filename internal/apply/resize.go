// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/rollout"
)

// resizeFailure says what the error of a resize means, nil where there is none. A pod that is
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

// The causes by which an API server forbids a resize since the node of the pod can never do it:
// other refusals by admission may pass.
const (
	nodeTooSmall  metav1.CauseType = "NodeCapacity"
	notOnPlatform metav1.CauseType = "UnsupportedPlatform"
)

var errNoResize = errors.New("it does not serve the subresource resize of pods")

// asLeft returns the pod of a patch as it is after the patch failed, as far as that tells
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
