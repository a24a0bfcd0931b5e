// SPDX-License-Identifier: Apache-2.0

package fakecluster

import (
	"strconv"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
)

// Server is an API server in memory. New makes one. All methods can be called
// by several goroutines.
type Server struct {
	clock clock.PassiveClock

	lock      sync.Mutex
	changed   *sync.Cond // an event was added, a watch released or ended
	resources map[string]*storage
	version   int64                                      // the newest resourceVersion
	pods      map[*unstructured.Unstructured]*corev1.Pod // the newest objects, and those of them as pods that were asked for
	uids      int
	names     int
	ending    map[string]bool // namespaces that are being deleted

	requests  []Request
	failFirst func(Request) error
	failAfter func(Request) error
	admit     Admitter
	fields    FieldManager
	mutate    func(Request, *unstructured.Unstructured)
}

// storage is one resource with its objects and its past.
type storage struct {
	*Resource
	objects   map[types.NamespacedName]*unstructured.Unstructured
	history   history
	protected bool // new objects are held while a pod mounts them
}

// New returns a server for pods, persistentvolumeclaims, nodes, events,
// controllerrevisions and the given resources. Times come from the clock; nil
// stands for the real one.
func New(c clock.PassiveClock, resources ...Resource) *Server {
	if c == nil {
		c = clock.RealClock{}
	}
	s := &Server{clock: c, resources: map[string]*storage{}, version: 1, ending: map[string]bool{}, pods: map[*unstructured.Unstructured]*corev1.Pod{}}
	s.changed = sync.NewCond(&s.lock)
	for _, r := range append(builtIn(), resources...) {
		s.resources[r.path()] = &storage{
			Resource: &r,
			objects:  map[types.NamespacedName]*unstructured.Unstructured{},
			history:  history{limit: unlimited},
		}
	}
	return s
}

// Config returns a configuration for clients of the server. The user stands in
// the log of requests; it tells the controller under test from the test itself.
// There is no rate limit.
func (s *Server) Config(user string) *rest.Config {
	return &rest.Config{
		Host: "http://fakecluster", Transport: &transport{server: s}, UserAgent: user, QPS: -1,
		ContentConfig: rest.ContentConfig{ContentType: mediaJSON, AcceptContentTypes: mediaJSON},
	}
}

// commit stores what a write made of an object, nil if it was removed. It returns the object with its new
// resourceVersion, which is that of the deletion if the object is gone. The lock is held.
func (s *Server) commit(r *storage, before, after *unstructured.Unstructured) *unstructured.Unstructured {
	s.version++
	last := after
	if after == nil {
		last = before.DeepCopy()
	}
	last.SetResourceVersion(strconv.FormatInt(s.version, 10))
	delete(s.pods, before)
	key := keyOf(last)
	if after == nil {
		delete(r.objects, key)
	} else {
		r.objects[key] = last
		s.pods[last] = nil
	}
	r.history.events = append(r.history.events, event{version: s.version, before: before, after: after, last: last})
	s.late(&r.history)
	s.changed.Broadcast()
	return last
}
