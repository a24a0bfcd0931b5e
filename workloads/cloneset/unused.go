// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// attempts notes which pods of a reconcile were created, by instance id. Its zero value is ready for use.
type attempts struct {
	lock   sync.Mutex
	failed map[string]bool // false if the pod was created
}

// note is called by several goroutines.
func (a *attempts) note(pod *corev1.Pod, err error) {
	a.lock.Lock()
	defer a.lock.Unlock()
	if a.failed == nil {
		a.failed = map[string]bool{}
	}
	a.failed[instanceID(pod)] = err != nil
}

// missed returns those of the planned creations that did not come about, or of which it is not known.
func (a *attempts) missed(planned []rollout.PodCreation) (missed []rollout.PodCreation) {
	a.lock.Lock()
	defer a.lock.Unlock()
	for i := range planned {
		if failed, tried := a.failed[instanceID(planned[i].Pod)]; failed || !tried {
			missed = append(missed, planned[i])
		}
	}
	return missed
}

// rememberUnused remembers of which instances no pod could be created. It does so while they have claims that are not to be
// reused, and no pod is seen. If an answer was lost, the pod may be there: the next reconcile waits until it is known. A
// restart of the manager forgets them, and has their claims made again. (CS-39)
func (r *reconciler) rememberUnused(s *Snapshot, tried *attempts) {
	var failed map[string]bool
	if s.Set.Spec.ScaleStrategy.DisablePVCReuse && len(s.Set.Spec.VolumeClaimTemplates) > 0 {
		failed = tried.failed
	}
	if len(s.Unused) == 0 && len(failed) == 0 {
		return
	}
	unused := map[string]bool{}
	for _, claim := range s.Claims {
		if id := claim.Labels[v1alpha1.CloneSetInstanceIDLabel]; s.Unused[id] {
			unused[id] = true
		}
	}
	for _, pod := range s.Pods {
		delete(unused, instanceID(pod))
	}
	for id, failed := range failed {
		if delete(unused, id); failed {
			unused[id] = true
		}
	}
	key := types.NamespacedName{Namespace: s.Set.Namespace, Name: s.Set.Name}
	if len(unused) == 0 {
		r.unused.Forget(key)
		return
	}
	r.unused.Set(key, unused)
}
