// SPDX-License-Identifier: Apache-2.0

package recreate

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// running remembers since when requests are known that were seen before they were
// completed. A manager that is started again has forgotten it.
type running struct {
	lock  sync.Mutex
	known map[types.NamespacedName]sighting
}

type sighting struct {
	request types.UID
	since   time.Time
	turn    string // of the node agent, and since when
	silent  time.Time
}

// saw returns since when a request is known, and takes note of one that is not
// completed; zero for one that was completed before.
func (r *running) saw(key types.NamespacedName, request *v1alpha1.ContainerRecreateRequest, now time.Time) time.Time {
	r.lock.Lock()
	defer r.lock.Unlock()
	known, ok := r.known[key]
	switch {
	case ok && known.request == request.UID:
		return known.since
	case request.Status.CompletionTime != nil:
		return time.Time{}
	case r.known == nil:
		r.known = map[types.NamespacedName]sighting{}
	}
	r.known[key] = sighting{request: request.UID, since: now}
	return now
}

// silent returns since when it has been the same turn of the node agent; zero if it
// is not its turn.
func (r *running) silent(key types.NamespacedName, turn string, now time.Time) time.Time {
	r.lock.Lock()
	defer r.lock.Unlock()
	known, ok := r.known[key]
	if !ok || known.turn == turn {
		return known.silent
	}
	known.turn, known.silent = turn, now
	if turn == "" {
		known.silent = time.Time{}
	}
	r.known[key] = known
	return known.silent
}

func (r *running) forget(key types.NamespacedName) {
	r.lock.Lock()
	defer r.lock.Unlock()
	delete(r.known, key)
}
