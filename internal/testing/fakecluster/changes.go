// SPDX-License-Identifier: Apache-2.0

package fakecluster

import "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

// Change is what one write made of an object.
type Change struct {
	// Version is the resourceVersion of the write.
	Version int64
	// Object is the object after the write or, if it is gone, as watches show
	// it last. It must not be changed.
	Object *unstructured.Unstructured
	// Gone says that the write removed the object.
	Gone bool
}

// NewestVersion is the resourceVersion of the last write.
func (s *Server) NewestVersion() int64 {
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.version
}

// Changes returns what happened to a resource after a resourceVersion, in the
// order in which it did. What Compact has forgotten is missing.
func (s *Server) Changes(resource string, after int64) []Change {
	s.lock.Lock()
	defer s.lock.Unlock()
	h := s.of(resource)
	var changes []Change
	for _, e := range h.events[h.since(after)-h.forgotten:] {
		if e.last != nil { // not a bookmark
			changes = append(changes, Change{Version: e.version, Object: e.last, Gone: e.after == nil})
		}
	}
	return changes
}
