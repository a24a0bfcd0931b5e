// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"errors"
	"maps"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/inplace/rollout"
)

// updates is what came of the updates of a reconcile. The zero value is ready to use.
type updates struct {
	lock  sync.Mutex
	tried map[types.UID]bool
	errs  []error
	at    int // how many failures are reported before the first of them
}

// tries takes note that the update of a pod is tried, or that the pod is deleted for another reason. It is called by several
// goroutines.
func (u *updates) tries(pod *corev1.Pod) {
	u.lock.Lock()
	defer u.lock.Unlock()
	if u.tried == nil {
		u.tried = map[types.UID]bool{}
	}
	u.tried[pod.UID] = true
}

// updated takes note of how an update ended.
func (a *Applier[S]) updated(pod *corev1.Pod, err error) {
	a.updates.tries(pod)
	a.Sync.refusals.ended(a.Sync.Workload, pod, a.Sync.version(pod), a.Now, err)
}

// failedUpdates has an error of updates reported by a condition, and returns it.
func (a *Applier[S]) failedUpdates(err error) error {
	if err == nil {
		return nil
	}
	if len(a.updates.errs) == 0 {
		a.updates.at = len(a.failures)
	}
	a.updates.errs = append(a.updates.errs, err)
	return err
}

// reports are the failures that conditions report. That of updates goes on to name the pods whose updates were refused before
// and are not tried this time. They wait, or a budget denies them. If it named only those whose turn it is, each turn would be a
// write of the status. (CS-32)
func (a *Applier[S]) reports() Failures {
	if len(a.updates.errs) == 0 {
		return a.failures
	}
	left := maps.Clone(a.Sync.Refusals.Pods)
	maps.DeleteFunc(left, func(pod types.UID, _ error) bool { return a.updates.tried[pod] })
	report := summary(errors.Join(errors.Join(a.updates.errs...), errors.Join(slices.Collect(maps.Values(left))...)))
	if report == nil {
		return a.failures
	}
	return slices.Insert(slices.Clone(a.failures), a.updates.at, rollout.Problem{Condition: a.Reporting.FailedUpdate, Err: report})
}
