// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/record"
)

// events sends the events of a controller, under the user agent of its client. It opens its queues when the first of them comes:
// most controllers never have one, and each queue has room for a thousand.
type events struct {
	context context.Context // of the log
	client  kubernetes.Interface
	host    string

	lock        sync.Mutex
	broadcaster record.EventBroadcaster // nil before the first event
	ended       bool
}

// recorder returns the recorder of a component.
func (e *events) recorder(component string) record.EventRecorder {
	source := corev1.EventSource{Component: component, Host: e.host}
	return &recorder{open: sync.OnceValue(func() record.EventRecorder { return e.open(source) })}
}

func (e *events) open(source corev1.EventSource) record.EventRecorder {
	e.lock.Lock()
	defer e.lock.Unlock()
	if e.broadcaster == nil {
		e.broadcaster = record.NewBroadcaster(record.WithContext(e.context))
		e.broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: e.client.CoreV1().Events("")})
		if e.ended { // an event that comes now is dropped
			e.broadcaster.Shutdown()
		}
	}
	return e.broadcaster.NewRecorder(eventKinds(), source)
}

// shutdown sends what is in the queues, and nothing that comes later.
func (e *events) shutdown() {
	e.lock.Lock()
	defer e.lock.Unlock()
	e.ended = true
	if e.broadcaster != nil {
		e.broadcaster.Shutdown()
	}
}

// recorder is opened by its first event.
type recorder struct{ open func() record.EventRecorder }

func (r *recorder) Event(object runtime.Object, kind, reason, message string) {
	r.open().Event(object, kind, reason, message)
}

func (r *recorder) Eventf(object runtime.Object, kind, reason, format string, of ...any) {
	r.open().Eventf(object, kind, reason, format, of...)
}

func (r *recorder) AnnotatedEventf(object runtime.Object, annotations map[string]string, kind, reason, format string, of ...any) {
	r.open().AnnotatedEventf(object, annotations, kind, reason, format, of...)
}
