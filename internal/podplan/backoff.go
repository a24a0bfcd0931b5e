// SPDX-License-Identifier: Apache-2.0

package podplan

import (
	"maps"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/podstate"
)

// A pod is replaced at once the first time. If its replacement ends in the same way, the next one waits: first as long as this,
// then twice as long every time.
const (
	first = time.Second
	most  = 5 * time.Minute // unless BackOff.Most says another
)

// delayOf is how long to wait after so many times: first after one, twice as long each time, most at the end.
func delayOf(times int32) time.Duration {
	delay := first
	for ; times > 1 && delay < most; times-- {
		delay *= 2
	}
	return min(delay, most)
}

// BackOff remembers how long to wait before a pod is replaced that has ended
// without any of its containers having run. If a kubelet rejects a pod at once,
// it would otherwise be deleted and created as fast as requests go. It knows pods by
// names that stay the same when one is replaced: the pod's own or its node's. The
// zero value is ready for use, by several goroutines.
type BackOff struct {
	// Most is the longest wait. Default 5 minutes.
	Most time.Duration

	lock  sync.Mutex
	known map[types.NamespacedName]map[string]place
}

type place struct {
	delay time.Duration
	until time.Time
}

// Replaced takes note that the pod of a place, which had never run, is replaced
// now: the next one that does not run either waits.
func (p *BackOff) Replaced(workload types.NamespacedName, name string, now time.Time) {
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.known == nil {
		p.known = map[types.NamespacedName]map[string]place{}
	}
	if p.known[workload] == nil {
		p.known[workload] = map[string]place{}
	}
	delay := min(max(2*p.known[workload][name].delay, first), p.most())
	p.known[workload][name] = place{delay: delay, until: now.Add(delay)}
}

func (p *BackOff) most() time.Duration {
	if p.Most > 0 {
		return p.Most
	}
	return most
}

// Until says when the pods of a workload may be replaced, by the names of their
// places; nil if none has to wait. ran lists places whose pods run. They are
// forgotten, and so are those of which nothing was heard for long.
func (p *BackOff) Until(workload types.NamespacedName, now time.Time, ran func(name string) bool) map[string]time.Time {
	p.lock.Lock()
	defer p.lock.Unlock()
	known := p.known[workload]
	maps.DeleteFunc(known, func(name string, at place) bool { return ran(name) || now.After(at.until.Add(2*p.most())) })
	if len(known) == 0 {
		delete(p.known, workload)
		return nil
	}
	until := make(map[string]time.Time, len(known))
	for name, at := range known {
		until[name] = at.until
	}
	return until
}

// Forget drops what is remembered of a workload that no longer exists.
func (p *BackOff) Forget(workload types.NamespacedName) {
	p.lock.Lock()
	defer p.lock.Unlock()
	delete(p.known, workload)
}

// HasRun tells whether a container of a pod runs or has run, init containers included.
func HasRun(pod *corev1.Pod) bool {
	return podstate.AnyRan(pod.Status.InitContainerStatuses) || podstate.AnyRan(pod.Status.ContainerStatuses)
}
