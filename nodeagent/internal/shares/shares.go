// SPDX-License-Identifier: Apache-2.0

// Package shares divides the workers of an agent among the namespaces whose pods make them wait.
package shares

import "sync"

// Shares are those of a number of workers, each of which may wait for a long time for a pod. A namespace may hold three quarters of
// what the others leave, and one worker in any case: so of five or more workers one is left for a third namespace, whatever
// two others do.
type Shares struct {
	// Workers is how many there are. 0 stands for no limit.
	Workers int

	lock sync.Mutex
	all  int
	held map[string]int // by namespace
}

// Take takes a worker for a namespace, until free is called, once. It returns false if the namespace has its share.
func (s *Shares) Take(namespace string) (free func(), ok bool) {
	s.lock.Lock()
	defer s.lock.Unlock()
	held := s.held[namespace]
	if left := s.Workers - (s.all - held); s.Workers > 0 && held >= max(3*left/4, 1) {
		return nil, false
	}
	if s.held == nil {
		s.held = map[string]int{}
	}
	s.all++
	s.held[namespace]++
	return func() { s.give(namespace) }, true
}

func (s *Shares) give(namespace string) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.all--
	if s.held[namespace]--; s.held[namespace] == 0 {
		delete(s.held, namespace)
	}
}
