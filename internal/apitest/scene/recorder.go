package scene

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
)

// Recorder keeps events as "type reason: message".
type Recorder struct {
	lock   sync.Mutex
	events []string
}

// Event keeps an event.
func (r *Recorder) Event(_ runtime.Object, kind, reason, message string) {
	r.lock.Lock()
	defer r.lock.Unlock()
	r.events = append(r.events, kind+" "+reason+": "+message)
}

// Eventf keeps an event.
func (r *Recorder) Eventf(object runtime.Object, kind, reason, format string, args ...any) {
	r.Event(object, kind, reason, fmt.Sprintf(format, args...))
}

// AnnotatedEventf keeps an event.
func (r *Recorder) AnnotatedEventf(object runtime.Object, _ map[string]string, kind, reason, format string, args ...any) {
	r.Eventf(object, kind, reason, format, args...)
}

// All returns the events in the order in which they came.
func (r *Recorder) All() []string {
	r.lock.Lock()
	defer r.lock.Unlock()
	return slices.Clone(r.events)
}

// Forget drops the events so far.
func (r *Recorder) Forget() {
	r.lock.Lock()
	defer r.lock.Unlock()
	r.events = nil
}

// Count counts the events of a reason.
func (r *Recorder) Count(reason string) (n int) {
	for _, event := range r.All() {
		if strings.Contains(event, " "+reason+": ") {
			n++
		}
	}
	return n
}
