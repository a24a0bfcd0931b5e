// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	"maps"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/nodefit"
	"github.com/podwright/podwright/lifecycle"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// attempts remembers which creations of pods failed, by the nodes for which they were and
// names that other pods have. It remembers the pods that updates have taken out of service.
// None of that has to outlive the process: what is forgotten is found out by the next
// attempt, or judged by the pods. The zero value is ready for use, by several goroutines.
type attempts struct {
	lock  sync.Mutex
	known map[types.NamespacedName]*attempted
}

type attempted struct {
	set          types.UID
	nodes, names map[string]bool // whose creation failed, and that are taken
	disrupted    map[string]bool // nodes
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

// disrupted returns the nodes whose pods were taken out of service, and takes note of that.
// It leaves out those that are gone or have an available one by now.
func (a *attempts) disrupted(set *v1alpha1.DaemonSet, pods []*corev1.Pod, nodes []*corev1.Node, now time.Time) map[string]bool {
	a.lock.Lock()
	defer a.lock.Unlock()
	known := a.known[keyOf(set)]
	if known == nil || known.set != set.UID || len(known.disrupted) == 0 {
		return nil
	}
	there := make(map[string]bool, len(known.disrupted))
	for _, node := range nodes {
		if known.disrupted[node.Name] {
			there[node.Name] = true
		}
	}
	known.disrupted = there
	for _, pod := range pods {
		if node := nodefit.NodeOf(pod); known.disrupted[node] && pod.DeletionTimestamp == nil && lifecycle.Available(pod, set.Spec.MinReadySeconds, now) {
			delete(known.disrupted, node)
		}
	}
	return maps.Clone(known.disrupted)
}

// disrupts takes note that an update takes the pod of a node out of service.
func (a *attempts) disrupts(set *v1alpha1.DaemonSet, node string) {
	a.lock.Lock()
	defer a.lock.Unlock()
	a.at(set).disrupted[node] = true
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

// taken takes note of a name that is another owner's.
func (a *attempts) taken(set *v1alpha1.DaemonSet, name string) {
	a.lock.Lock()
	defer a.lock.Unlock()
	a.at(set).names[name] = true
}

func (a *attempts) at(set *v1alpha1.DaemonSet) *attempted {
	key := keyOf(set)
	known := a.known[key]
	if known == nil || known.set != set.UID {
		known = &attempted{set: set.UID, nodes: map[string]bool{}, names: map[string]bool{}, disrupted: map[string]bool{}}
		if a.known == nil {
			a.known = map[types.NamespacedName]*attempted{}
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
