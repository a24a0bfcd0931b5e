// SPDX-License-Identifier: Apache-2.0

package recreate

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// running remembers the requests that were seen before they were completed.
type running struct {
	lock  sync.Mutex
	known map[types.NamespacedName]types.UID
}

// saw tells whether a request was seen before it was completed, and takes note
// of one that is not.
func (r *running) saw(key types.NamespacedName, request *v1alpha1.ContainerRecreateRequest) bool {
	r.lock.Lock()
	defer r.lock.Unlock()
	if request.Status.CompletionTime != nil {
		return r.known[key] == request.UID
	}
	if r.known == nil {
		r.known = map[types.NamespacedName]types.UID{}
	}
	r.known[key] = request.UID
	return true
}

func (r *running) forget(key types.NamespacedName) {
	r.lock.Lock()
	defer r.lock.Unlock()
	delete(r.known, key)
}
