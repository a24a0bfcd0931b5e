// SPDX-License-Identifier: Apache-2.0

package fakecluster

import (
	"context"
	"errors"
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Admitter decides about a write, as admission webhooks do. Before is nil for a creation, after for a deletion; of an eviction, after is
// the Eviction. It returns the object to store, which is after or a changed copy, or the error that the writer gets. A new
// object has no UID yet, and no name if the server is to make one.
//
// It may use clients of the server. If what it was asked about has changed meanwhile, it is asked again.
type Admitter func(ctx context.Context, request Request, before, after *unstructured.Unstructured) (*unstructured.Unstructured, error)

// AdmitBy has every write decided about, dry runs too. Nil admits all.
func (s *Server) AdmitBy(admit Admitter) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.admit = admit
}

// errUndecided ends the first try of a write, to ask without the lock.
var errUndecided = errors.New("the write is not decided about")

// admission is what was asked about a write, and the answer.
type admission struct {
	admit         Admitter
	before, after *unstructured.Unstructured
	answered      bool
	answer        *unstructured.Unstructured
	err           error
}

// admitted returns what admission makes of a write. The lock is held.
func (r *Request) admitted(before, after *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	a := r.admission
	if a == nil {
		return after, nil
	}
	equal := (a.after == nil) == (after == nil) && (after == nil || reflect.DeepEqual(a.after.Object, after.Object))
	if !a.answered || a.before != before || !equal {
		a.before, a.after = before, after.DeepCopy()
		return nil, errUndecided
	}
	if a.err != nil || a.answer == nil || r.evicts() {
		return nil, a.err
	}
	return r.storage.known(a.answer.DeepCopy())
}

// admittedEviction is admitted of an eviction, which admission does not change. The lock is held.
func (r *Request) admittedEviction() error {
	eviction := &unstructured.Unstructured{}
	if err := decode(r.Body, &eviction.Object); err != nil {
		return badRequest(err)
	}
	_, err := r.admitted(nil, eviction)
	return err
}

// decide asks about what was found.
func (a *admission) decide(ctx context.Context, r *Request) {
	a.answer, a.err = a.admit(ctx, *r, a.before, a.after)
	a.answered = true
}

// admittedAndServed is serve, with everything that decides about the write.
func (s *Server) admittedAndServed(ctx context.Context, r *Request) ([]byte, error) {
	for {
		data, err := s.serve(r)
		if !errors.Is(err, errUndecided) {
			return data, err
		}
		r.admission.decide(ctx, r)
	}
}
