// SPDX-License-Identifier: Apache-2.0

package nodefit

import (
	"maps"
	"sync"
	"time"

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
	// others are names that pods of a node had without being derived from the pod before. PodName could derive such a name again. A map
	// that was returned is never changed.
	others map[string]bool
}

// lastPod is what is remembered of a pod.
type lastPod struct {
	name    string
	uid     types.UID
	created time.Time
	look    int // at which it was seen last
}

func lastOf(pod *corev1.Pod, look int) lastPod {
	return lastPod{pod.Name, pod.UID, pod.CreationTimestamp.Time, look}
}

// mostGone is of how many nodes more than there are the last pods are remembered: a node that is
// gone may join again. It is also how many names of other pods are.
const mostGone = 1000

// Look takes note of the pods of an owner, and returns the names of those that are gone by now, by
// their nodes. It returns nil if there are none. If many nodes are gone as well, it forgets their pods. It also returns names that no new
// pod should have, since a node had a pod of that name. A user created such a pod, for example.
func (f *Formers) Look(owner metav1.Object, pods []*corev1.Pod, nodes []*corev1.Node) (gone map[string]string, names map[string]bool) {
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
		now := lastOf(pod, known.looks)
		switch last, seen := known.last[node]; {
		case seen && last.uid == now.uid:
			known.last[node] = now
		case !seen || follows(owner, node, now, last):
			if known.looks > 1 {
				known.note(owner, node, last.name, now.name)
			}
			known.last[node] = now
		case known.looks > 1:
			known.note(owner, node, now.name, last.name) // it came before
		}
	}
	for node, last := range known.last {
		if last.look != known.looks {
			if gone == nil {
				gone = map[string]string{}
			}
			gone[node] = last.name
		}
	}
	if len(gone) > len(nodes)+mostGone {
		there := make(map[string]bool, len(nodes))
		for _, node := range nodes {
			there[node.Name] = true
		}
		maps.DeleteFunc(known.last, func(node string, last lastPod) bool { return last.look != known.looks && !there[node] })
	}
	return gone, known.others
}

// note takes note of the names of two pods that a node had one after the other. The former may be empty. It does nothing if the
// second is derived from the former.
func (k *formers) note(owner metav1.Object, node, former, second string) {
	if second == PodName(owner, node, former, 0) || k.others[second] && k.others[former] {
		return
	}
	others := maps.Clone(k.others)
	if others == nil || len(others) >= mostGone {
		others = map[string]bool{}
	}
	others[second] = true
	if former != "" {
		others[former] = true
	}
	k.others = others
}

// Forget drops what is remembered of an owner that no longer exists.
func (f *Formers) Forget(owner types.NamespacedName) {
	f.lock.Lock()
	defer f.lock.Unlock()
	delete(f.known, owner)
}
