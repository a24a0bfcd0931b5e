// SPDX-License-Identifier: Apache-2.0

package recreate

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// Seen is since when this agent knows of a request what it waits with, on the
// clock of the node. The times in a request are those of other clocks.
type Seen struct {
	// Request is since when it knows of the request.
	Request time.Time
	// Unready is since when it knows that the pod is out of service; zero while
	// it is not.
	Unready time.Time
	// Turn is since when the agent has no other request of the pod to finish first; zero while it has.
	Turn time.Time
}

// memory remembers what was seen of the requests for pods. An agent that is
// started again has forgotten it, and waits anew: longer, never shorter.
type memory struct {
	lock sync.Mutex
	pods map[types.NamespacedName]map[types.UID]Seen
}

// see takes note of all requests there are for a pod, and returns since when
// they are known.
func (m *memory) see(pod types.NamespacedName, requests []*v1alpha1.ContainerRecreateRequest, now time.Time) map[types.UID]Seen {
	m.lock.Lock()
	defer m.lock.Unlock()
	before := m.pods[pod]
	if len(requests) == 0 {
		delete(m.pods, pod)
		return nil
	}
	known := make(map[types.UID]Seen, len(requests))
	first := (&Snapshot{Requests: requests}).chosen()
	for _, r := range requests {
		seen, ok := before[r.UID]
		if !ok {
			seen.Request = now
		}
		if seen.Unready.IsZero() && r.Annotations[v1alpha1.ContainerRecreateRequestUnreadyAcquiredAnnotation] != "" {
			seen.Unready = now
		}
		if r != first {
			seen.Turn = time.Time{}
		} else if seen.Turn.IsZero() {
			seen.Turn = now
		}
		known[r.UID] = seen
	}
	if m.pods == nil {
		m.pods = map[types.NamespacedName]map[types.UID]Seen{}
	}
	m.pods[pod] = known
	return known
}
