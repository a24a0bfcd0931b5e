// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"errors"
	"net/http"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/rollout"
)

// applyStages applies the stages of a plan, each by do, which returns the
// joined errors of what it tried. The second stage follows if the first has
// changed no pod.
func (p *Sync) applyStages(ctx context.Context, stages *rollout.Stages, do func(context.Context, *rollout.Stage) error) error {
	err := do(ctx, &stages.Stage)
	if stages.Otherwise.Empty() || p.podWrites.any(ctx, p) {
		return err
	}
	return errors.Join(err, do(ctx, &stages.Otherwise))
}

// podWrites is what is known of the writes of a reconcile that change pods. Its zero value
// is ready for use, by several goroutines.
type podWrites struct {
	lock  sync.Mutex
	made  bool          // one was made, or may have been or may yet be
	doubt []*corev1.Pod // as they were before writes that the server did not come to an end with
	taken []string      // the names of pods that could not be created since there are such pods
}

// ended takes note of how a write about a pod, as it was observed, ended. A server that
// answers with an error of its own is done with the request, and the pod tells what came
// of it. An admission webhook that is down gives that answer for ever. If there is no
// answer, the write may yet be made. After a conflict nothing is known: the plan was made
// for another state. A name that is taken may be that of a pod which an earlier request
// has created.
func (m *podWrites) ended(pod *corev1.Pod, err error) {
	m.lock.Lock()
	defer m.lock.Unlock()
	var status apierrors.APIStatus
	switch {
	case apierrors.IsAlreadyExists(err):
		m.taken = append(m.taken, pod.Name)
	case err == nil, !errors.As(err, &status), apierrors.IsConflict(err):
		m.made = true
	case status.Status().Code == http.StatusGatewayTimeout, status.Status().Code == http.StatusBadGateway:
		m.made = true
	case status.Status().Code >= http.StatusInternalServerError:
		m.doubt = append(m.doubt, pod)
	}
}

// any tells whether a pod was changed, or may have been or may yet be. It looks at
// those that are in doubt.
func (m *podWrites) any(ctx context.Context, p *Sync) bool {
	if m.made {
		return true
	}
	foreign := Each(ctx, m.taken, func(ctx context.Context, name string) error {
		pod, err := p.Pods.Read(ctx, p.Key.Namespace, name)
		if err == nil && !metav1.IsControlledBy(pod, p.Workload) {
			return nil
		}
		return errors.Join(err, errMoved)
	})
	return foreign != nil || Each(ctx, m.doubt, func(ctx context.Context, pod *corev1.Pod) error {
		found, err := p.Pods.Read(ctx, pod.Namespace, pod.Name)
		if apierrors.IsNotFound(err) && pod.UID == "" || err == nil && found.GetResourceVersion() == pod.ResourceVersion {
			return nil
		}
		return errors.Join(err, errMoved)
	}) != nil
}

var errMoved = errors.New("the pod is not as it was before the write")
