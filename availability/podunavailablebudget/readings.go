// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"sync"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/availability/budget"
)

// readings remembers what pods tell budgets, so that a count reads again what has changed since the last one alone. The
// caches replace an object that changes: what was read of one stays true. The zero value is ready for use.
type readings struct {
	mu         sync.Mutex
	namespaces map[string]*readPods
}

// readPods are those of a namespace.
type readPods struct {
	mu   sync.Mutex
	pods map[*corev1.Pod]*budget.Pod
}

// of returns what the pods of a namespace tell, in their order.
func (r *readings) of(namespace string, pods []*corev1.Pod) []*budget.Pod {
	n := r.namespace(namespace)
	n.mu.Lock()
	defer n.mu.Unlock()
	if most := len(pods) + len(pods)/4 + 10; len(n.pods) > most { // most of the others are gone, or were replaced
		n.keep(pods)
	}
	read := make([]*budget.Pod, len(pods))
	for i, pod := range pods {
		p := n.pods[pod]
		if p == nil {
			p = new(budget.ReadPod(pod))
			n.pods[pod] = p
		}
		read[i] = p
	}
	return read
}

func (r *readings) namespace(name string) *readPods {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := r.namespaces[name]
	if n == nil {
		if r.namespaces == nil {
			r.namespaces = map[string]*readPods{}
		}
		n = &readPods{pods: map[*corev1.Pod]*budget.Pod{}}
		r.namespaces[name] = n
	}
	return n
}

// keep forgets all pods but some.
func (n *readPods) keep(pods []*corev1.Pod) {
	kept := make(map[*corev1.Pod]*budget.Pod, len(pods))
	for _, pod := range pods {
		if p := n.pods[pod]; p != nil {
			kept[pod] = p
		}
	}
	n.pods = kept
}

// forget forgets the pods of a namespace, since a budget of it is gone, perhaps the last one.
func (r *readings) forget(namespace string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.namespaces, namespace)
}
