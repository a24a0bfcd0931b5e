// SPDX-License-Identifier: Apache-2.0

package adapter

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
)

// recorder records events by the API of controller-runtime, in which an event has an action. That is the reason here.
type recorder struct{ events.EventRecorder }

// mostNote is how long the API server allows the text of such an event to be, in bytes.
const mostNote = 1024

// Event records an event.
func (r recorder) Event(object runtime.Object, eventType, reason, message string) {
	if len(message) > mostNote {
		message = strings.ToValidUTF8(message[:mostNote], "")
	}
	r.EventRecorder.Eventf(object, nil, eventType, reason, reason, "%s", message)
}

// Eventf records an event.
func (r recorder) Eventf(object runtime.Object, eventType, reason, format string, args ...any) {
	r.Event(object, eventType, reason, fmt.Sprintf(format, args...))
}

// AnnotatedEventf records an event. The API for it has no annotations.
func (r recorder) AnnotatedEventf(object runtime.Object, _ map[string]string, eventType, reason, format string, args ...any) {
	r.Eventf(object, eventType, reason, format, args...)
}
