// SPDX-License-Identifier: Apache-2.0

package nodefit

import (
	"maps"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Formers remembers which pod each node of an owner had last. What a process has never seen it
// does not know. The first pod that a node gets after a restart may have the name of one that was
// gone by then. The zero value is ready for use, by several goroutines.
type Formers struct {
	lock  sync.Mutex
	known map[types.NamespacedName]*formers
}

type formers struct {
	owner types.UID
	looks int
	last  map[string]lastPod // by node
}

type lastPod struct {
	pod  *corev1.Pod // its name and when it was created
	look int         // at which it was seen last
}

// mostGone is of how many nodes more than there are the last pods are remembered: a node that is
// gone may join again.
const mostGone = 1000

// Look takes note of the pods of an owner, and returns the names of those that are gone by now, by
// their nodes. It returns nil if there are none. Of nodes that are gone too it forgets them when they are many.
func (f *Formers) Look(owner metav1.Object, pods []*corev1.Pod, nodes []*corev1.Node) (gone map[string]string) {
	f.lock.Lock()
	defer f.lock.Unlock()
	key := types.NamespacedName{Namespace: owner.GetNamespace(), Name: owner.GetName()}
	known := f.known[key]
	if known == nil || known.owner != owner.GetUID() {
		known = &formers{owner: owner.GetUID(), last: map[string]lastPod{}}
		if f.known == nil {
			f.known = map[types.NamespacedName]*formers{}
		}
		f.known[key] = known
	}
	known.looks++
	for _, pod := range pods {
		node := NodeOf(pod)
		if node == "" || !metav1.IsControlledBy(pod, owner) {
			continue
		}
		switch last, seen := known.last[node]; {
		case seen && last.pod.UID == pod.UID:
			known.last[node] = lastPod{last.pod, known.looks}
		case !seen || Follows(owner, node, pod, last.pod):
			known.last[node] = lastPod{&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: pod.Name, UID: pod.UID, CreationTimestamp: pod.CreationTimestamp}}, known.looks}
		}
	}
	for node, last := range known.last {
		if last.look != known.looks {
			if gone == nil {
				gone = map[string]string{}
			}
			gone[node] = last.pod.Name
		}
	}
	if len(gone) > len(nodes)+mostGone {
		there := make(map[string]bool, len(nodes))
		for _, node := range nodes {
			there[node.Name] = true
		}
		maps.DeleteFunc(known.last, func(node string, last lastPod) bool { return last.look != known.looks && !there[node] })
	}
	return gone
}

// Forget drops what is remembered of an owner that no longer exists.
func (f *Formers) Forget(owner types.NamespacedName) {
	f.lock.Lock()
	defer f.lock.Unlock()
	delete(f.known, owner)
}
