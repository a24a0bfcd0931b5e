// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
)

// request is a request of a process that waits for the seed.
type request struct {
	fakecluster.Request
	process *Process
	answer  chan error // nil: serve it
	number  int        // of those that have arrived
	// admitted is the resourceVersion of the pod for which the webhook has allowed it.
	admitted string
}

// String says what the request is about.
func (r *request) String() string {
	text := strings.TrimSuffix(fmt.Sprintf("%s: %s %s", r.process.Name, r.Request.String(), r.key()), " ")
	if r.DryRun {
		text += " (dry run)"
	}
	return text
}

func (r *request) object() string {
	if r.Verb != "create" {
		return r.Name
	}
	var created metav1.PartialObjectMetadata
	_ = json.Unmarshal(r.Body, &created) // otherwise there is no name
	return created.Name
}

func (r *request) key() string { return keyOf(r.Resource, r.Namespace, r.object()) }

// preconditions are what the request asks the object to have, empty if it does not.
func (r *request) preconditions() *invariants.Preconditions {
	var body struct{ Metadata, Preconditions invariants.Preconditions }
	_ = json.Unmarshal(r.Body, &body) // otherwise it asks for nothing
	if r.Verb == "delete" {
		return &body.Preconditions
	}
	return &body.Metadata
}

// mostOfPatch is how much of a patch a trace shows.
const mostOfPatch = 400

func (r *request) patchInShort() string {
	if r.Verb != "patch" {
		return ""
	}
	if len(r.Body) > mostOfPatch {
		return fmt.Sprintf(" %s…", r.Body[:mostOfPatch])
	}
	return fmt.Sprintf(" %s", r.Body)
}

// requests are those that wait. All its methods but arrive are called while
// no reconcile runs.
type requests struct {
	lock    sync.Mutex
	waiting []*request
	arrived int   // so far
	after   error // in place of the answer to the request that is served now
}

var (
	errLost  = errors.New("connection reset by peer")
	errCrash = errors.New("the process has crashed")
)

// arrive lets a request of a process wait for its turn.
func (q *requests) arrive(p *Process, r fakecluster.Request) error {
	if p.dead {
		return errCrash
	}
	waits := &request{Request: r, process: p, answer: make(chan error)}
	q.lock.Lock()
	q.arrived++
	waits.number = q.arrived
	q.waiting = append(q.waiting, waits)
	q.lock.Unlock()
	return <-waits.answer
}

// inOrder returns those that wait, in an order that says nothing of when they came.
func (q *requests) inOrder() []*request {
	slices.SortFunc(q.waiting, func(a, b *request) int {
		return cmp.Or(cmp.Compare(a.String(), b.String()), cmp.Compare(string(a.Body), string(b.Body)))
	})
	return q.waiting
}

// leave takes a request out of those that wait for their turn.
func (q *requests) leave(r *request) {
	q.waiting = slices.DeleteFunc(q.waiting, func(other *request) bool { return other == r })
}

// release lets a request go on: it is served, or refused with an error.
func (q *requests) release(r *request, err error) {
	q.leave(r)
	r.answer <- err
}

type fate struct {
	name   string
	before error // in place of being served
	after  error // in place of the answer, when it was served
}

func (r *request) fates() []fate {
	resource := schema.GroupResource{Resource: r.Resource}
	fates := []fate{
		{name: "fails: 500", before: apierrors.NewInternalError(errors.New("injected"))},
		{name: "fails: connection lost before it arrived", before: errLost},
		{name: "is served, its answer is lost", after: errLost},
		{name: "is served, and then fails: 500", after: apierrors.NewInternalError(errors.New("injected after the write"))},
		{name: "fails: 429", before: apierrors.NewTooManyRequests("injected", 0)},
	}
	switch r.Verb {
	case "create":
		fates = append(fates, fate{name: "fails: 403", before: apierrors.NewForbidden(corev1.Resource(r.Resource), r.Name, errors.New("exceeded quota"))})
	case "patch", "update":
		fates = append(fates, fate{name: "fails: 409", before: apierrors.NewConflict(resource, r.Name, errors.New("injected"))})
	}
	return fates
}

// inTime has a process wait for an answer only as long as the context of its request lasts, as clients do. The server may come to the request
// later all the same.
func inTime(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		if _, ends := r.Context().Deadline(); !ends {
			return next.RoundTrip(r)
		}
		type result struct {
			answer *http.Response
			err    error
		}
		answered := make(chan result, 1)
		go func() {
			answer, err := next.RoundTrip(r)
			answered <- result{answer, err}
		}()
		select {
		case got := <-answered:
			return got.answer, got.err
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	})
}
