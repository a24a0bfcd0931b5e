// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

// TestEvents wants no queue before the first event, all events under the names of their components, and none after the end.
func TestEvents(t *testing.T) {
	client, sent := fake.NewClientset(), make(chan *corev1.Event, 10)
	client.PrependReactor("create", "events", func(action clienttesting.Action) (bool, runtime.Object, error) {
		event := action.(clienttesting.CreateAction).GetObject().(*corev1.Event)
		sent <- event
		return true, event, nil
	})
	e := &events{context: context.Background(), client: client, host: "node-1"}
	one, other := e.recorder("one"), e.recorder("other")
	if e.broadcaster != nil {
		t.Error("the queue is open before there is an event")
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}}
	for _, event := range []func(){
		func() { one.Event(pod, corev1.EventTypeNormal, "A", "a") },
		func() { one.Eventf(pod, corev1.EventTypeWarning, "B", "%s", "b") },
		func() {
			other.AnnotatedEventf(pod, map[string]string{"c": "d"}, corev1.EventTypeNormal, "C", "%s", "c")
		},
	} {
		event()
		select {
		case got := <-sent:
			want := map[string]string{"A": "one", "B": "one", "C": "other"}[got.Reason]
			if got.Source.Component != want || got.Source.Host != "node-1" || got.InvolvedObject.Name != "web" {
				t.Errorf("event %s of %v about %s", got.Reason, got.Source, got.InvolvedObject.Name)
			}
		case <-time.After(time.Minute):
			t.Fatal("an event is not sent")
		}
	}
	e.shutdown()
	one.Event(pod, corev1.EventTypeNormal, "D", "d") // neither panics nor waits
	ended := &events{context: context.Background(), client: client}
	ended.shutdown()
	ended.recorder("late").Event(pod, corev1.EventTypeNormal, "E", "e")
	if len(sent) > 0 {
		t.Errorf("event %s is sent after the end", (<-sent).Reason)
	}
}
