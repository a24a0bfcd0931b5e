// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/podplan"
)

// unlike compares the pod that was asked for with another state of it. It says which of the fields that make it a pod of its
// workload differs. It returns nil if none does.
func (p *Sync) unlike(asked, found metav1.Object) error {
	if asked.GetName() != found.GetName() {
		return fmt.Errorf("its name is %q, not %q", found.GetName(), asked.GetName())
	}
	if owner := metav1.GetControllerOfNoCopy(asked); owner != nil {
		if is := metav1.GetControllerOfNoCopy(found); is == nil || is.UID != owner.UID {
			return fmt.Errorf("its controller is not %s %s", owner.Kind, owner.Name)
		}
	}
	keys := append([]string{podplan.RevisionLabel}, p.IdentifiedBy...)
	if p.Selected != nil && !p.Selected.Matches(labels.Set(found.GetLabels())) {
		requirements, _ := p.Selected.Requirements()
		for _, r := range requirements {
			keys = append(keys, r.Key())
		}
	}
	for _, key := range keys {
		wanted, asks := asked.GetLabels()[key]
		is, has := found.GetLabels()[key]
		switch {
		case asks && !has:
			return fmt.Errorf("it has no label %s, wanted %q", key, wanted)
		case asks != has || is != wanted:
			return fmt.Errorf("its label %s is %q, not %q", key, is, wanted)
		}
	}
	return nil
}

// notAsAsked is the error of a pod that came back other than asked for.
type notAsAsked struct{ differs error }

func (e *notAsAsked) Error() string {
	return fmt.Sprintf("the API server made it other than asked for: %v; a mutating webhook or policy changes it, which must leave that as it is. It was deleted again", e.differs)
}

// undo deletes a pod that came back other than asked for, before anything sees it, and has the next creations wait. (CT-5)
func (p *Sync) undo(ctx context.Context, made *metav1.PartialObjectMetadata, differs error) error {
	err := error(&notAsAsked{differs})
	p.misfits.noted(p.Workload, p.now(), err)
	version, deleteErr := p.Pods.Delete(ctx, made)
	if deleteErr != nil {
		return errors.Join(err, fmt.Errorf("delete pod %s: %w", made.Name, p.Unanswered(caches.Pods, made.Name, deleteErr)))
	}
	p.Wrote(caches.Pods, version)
	return err
}

// errUnselected says why pods were deleted that the selector did not match soon after their creation.
var errUnselected = errors.New("the labels of a new pod were changed, so that spec.selector does not match it any more; it was deleted. What changes them must leave those that the selector names")

// unselected takes note that such a pod was deleted, and returns why. (CT-6)
func (p *Sync) unselected(pod *corev1.Pod) error {
	p.misfits.noted(p.Workload, p.now(), errUnselected)
	return fmt.Errorf("pod %s: %w", pod.Name, errUnselected)
}

// misfits remembers workloads of which new pods are not what they were created to be. Pods are created again after a while,
// which doubles each time. The zero value is ready for use, by several goroutines.
type misfits struct {
	lock  sync.Mutex
	known map[types.NamespacedName]misfit
}

type misfit struct {
	refusal
	delay time.Duration
	until time.Time
	err   error
}

// The first and the longest wait, and how long one is remembered after its end.
const (
	firstMisfit  = time.Second
	lastMisfit   = 5 * time.Minute
	forgetMisfit = 2 * lastMisfit
)

// noted takes note of a pod of a workload. Those of the same time count as one.
func (m *misfits) noted(of metav1.Object, now time.Time, err error) {
	m.lock.Lock()
	defer m.lock.Unlock()
	key := keyOf(of)
	known := m.known[key]
	if now.Before(known.until) && known.is(of) {
		return
	}
	if !known.is(of) || now.After(known.until.Add(forgetMisfit)) {
		known.delay = 0
	}
	if m.known == nil {
		m.known = map[types.NamespacedName]misfit{}
	}
	delay := min(max(2*known.delay, firstMisfit), lastMisfit)
	m.known[key] = misfit{refusal: refusalOf(of), delay: delay, until: now.Add(delay), err: err}
}

// waits returns why no pod of a workload is created now; nil if it may be. A new generation may ask for other pods.
func (m *misfits) waits(of metav1.Object, now time.Time) error {
	m.lock.Lock()
	defer m.lock.Unlock()
	if known := m.known[keyOf(of)]; known.is(of) && now.Before(known.until) {
		return known.err
	}
	return nil
}

// forget drops what is remembered of a workload that no longer exists.
func (m *misfits) forget(key types.NamespacedName) {
	m.lock.Lock()
	defer m.lock.Unlock()
	delete(m.known, key)
}
