// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	"maps"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/workloads/v1alpha1"
)

// attempts remembers which creations of pods failed: the nodes for which they were, and
// names that other pods have. Neither has to outlive the process: what is forgotten is
// found out by the next attempt. The zero value is ready for use, by several goroutines.
type attempts struct {
	lock  sync.Mutex
	known map[types.NamespacedName]*failedAttempts
}

type failedAttempts struct {
	set   types.UID
	nodes map[string]bool
	names map[string]bool
}

// of returns the nodes whose last creation failed, and names that are taken.
func (a *attempts) of(set *v1alpha1.DaemonSet) (nodes, names map[string]bool) {
	a.lock.Lock()
	defer a.lock.Unlock()
	known := a.known[keyOf(set)]
	if known == nil || known.set != set.UID {
		return nil, nil
	}
	return maps.Clone(known.nodes), maps.Clone(known.names)
}

// ended takes note of how the creation of a pod for a node ended.
func (a *attempts) ended(set *v1alpha1.DaemonSet, node string, err error) {
	a.lock.Lock()
	defer a.lock.Unlock()
	if err == nil {
		if known := a.known[keyOf(set)]; known != nil {
			delete(known.nodes, node)
		}
		return
	}
	a.at(set).nodes[node] = true
}

// taken takes note of a name that is somebody else's.
func (a *attempts) taken(set *v1alpha1.DaemonSet, name string) {
	a.lock.Lock()
	defer a.lock.Unlock()
	a.at(set).names[name] = true
}

func (a *attempts) at(set *v1alpha1.DaemonSet) *failedAttempts {
	key := keyOf(set)
	known := a.known[key]
	if known == nil || known.set != set.UID {
		known = &failedAttempts{set: set.UID, nodes: map[string]bool{}, names: map[string]bool{}}
		if a.known == nil {
			a.known = map[types.NamespacedName]*failedAttempts{}
		}
		a.known[key] = known
	}
	return known
}

func (a *attempts) forget(key types.NamespacedName) {
	a.lock.Lock()
	defer a.lock.Unlock()
	delete(a.known, key)
}

func keyOf(set *v1alpha1.DaemonSet) types.NamespacedName {
	return types.NamespacedName{Namespace: set.Namespace, Name: set.Name}
}
