// SPDX-License-Identifier: Apache-2.0

package fakecluster

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// FailBefore has a function called before every request is served. An error
// refuses the request: an API status error (of k8s.io/apimachinery/pkg/api/errors)
// is the server's answer, any other error fails the connection. Nil takes the
// function away. It may use clients of the same server.
func (s *Server) FailBefore(f func(Request) error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.failFirst = f
}

// FailAfter has a function called after every request that succeeded. An error
// takes the place of the answer: the client does not learn what became of its
// write. Nil takes the function away.
func (s *Server) FailAfter(f func(Request) error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.failAfter = f
}

// Requests returns the requests of a user in the order in which they arrived,
// refused ones too. An empty user stands for all.
func (s *Server) Requests(user string) []Request {
	s.lock.Lock()
	defer s.lock.Unlock()
	return slices.DeleteFunc(slices.Clone(s.requests), func(r Request) bool { return user != "" && r.User != user })
}

// Count counts the requests of a user by Request.String, "create pods" for
// example. An empty user stands for all.
func (s *Server) Count(user string) map[string]int {
	count := map[string]int{}
	for _, r := range s.Requests(user) {
		count[r.String()]++
	}
	return count
}

// ForgetRequests empties the log of requests.
func (s *Server) ForgetRequests() {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.requests = nil
}

// record notes a request and returns the functions that may fail it.
func (s *Server) record(r *Request) (before, after func(Request) error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.requests = append(s.requests, *r)
	if s.admit != nil {
		r.admission = &admission{admit: s.admit}
	}
	return s.failFirst, s.failAfter
}

// Mutate has a function change what a creation or an update is about to store, as mutating webhooks and policies of others do.
// It is called with the request and the object before that is validated, also in dry runs. Nil takes the function away.
// It must not use the server.
func (s *Server) Mutate(f func(request Request, object *unstructured.Unstructured)) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.mutate = f
}
