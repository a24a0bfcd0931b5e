// SPDX-License-Identifier: Apache-2.0

// Package shares divides the workers of an agent among the namespaces whose pods make them wait.
package shares

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// Again is when to look again if a namespace has its share of the workers.
const Again = 2 * time.Second

// Shares are those of a number of workers, each of which may wait for a long time for a pod. A namespace may hold three quarters of
// what the others leave, and one worker in any case. So of five or more workers one is left for a third namespace, whatever
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

// Holders names the namespaces that hold workers, as [Text] does. Empty if all are free.
func (s *Shares) Holders() string {
	s.lock.Lock()
	defer s.lock.Unlock()
	return Text(s.held)
}

// mostHolders is how many namespaces Text names.
const mostHolders = 3

// Text names namespaces with their numbers, the largest first: "shop (3), bank (1), 2 more namespaces".
func Text(held map[string]int) string {
	names := slices.SortedFunc(maps.Keys(held), func(a, b string) int {
		return cmp.Or(cmp.Compare(held[b], held[a]), cmp.Compare(a, b))
	})
	var words []string
	for _, name := range names[:min(len(names), mostHolders)] {
		words = append(words, fmt.Sprintf("%s (%d)", cmp.Or(name, "no namespace"), held[name]))
	}
	if more := len(names) - len(words); more > 0 {
		words = append(words, fmt.Sprintf("%d more namespaces", more))
	}
	return strings.Join(words, ", ")
}

func (s *Shares) give(namespace string) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.all--
	if s.held[namespace]--; s.held[namespace] == 0 {
		delete(s.held, namespace)
	}
}
