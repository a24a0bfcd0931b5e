// SPDX-License-Identifier: Apache-2.0

package evictionresponder

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// SchemeGroupVersion is the group and version of Evictions.
var SchemeGroupVersion = schema.GroupVersion{Group: "lifecycle.k8s.io", Version: "v1alpha1"}

// Eviction is that of lifecycle.k8s.io, with the fields that a responder reads and writes. It is
// never written as a whole, so that the others stay as they are.
type Eviction struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec says what is to be evicted.
	Spec EvictionSpec `json:"spec"`
	// Status says whose turn it is, and what responders have reported.
	Status EvictionStatus `json:"status,omitempty"`
}

// EvictionSpec says what is to be evicted.
type EvictionSpec struct {
	// Target is what is to be evicted. Its zero value names no pod.
	Target EvictionTarget `json:"target"`
}

// EvictionTarget is what is to be evicted.
type EvictionTarget struct {
	// Pod is nil for a target that is no pod.
	Pod *PodReference `json:"pod,omitempty"`
}

// PodReference names a pod of the Eviction's namespace.
type PodReference struct {
	// Name is that of the pod, and UID its UID: another pod of the name is not meant.
	Name string    `json:"name"`
	UID  types.UID `json:"uid"`
}

// EvictionStatus says whose turn it is, and what responders have reported.
type EvictionStatus struct {
	// TargetResponders is written by the controller of Evictions alone.
	TargetResponders []TargetResponder `json:"targetResponders,omitempty"`
	// Responders has an entry for each of them, which it changes itself while it is Active.
	Responders []ResponderStatus `json:"responders,omitempty"`
}

// TargetResponder is a responder that the target asks for.
type TargetResponder struct {
	// Name is that of the responder.
	Name string `json:"name"`
	// State is how far it is.
	State ResponderState `json:"state"`
}

// ResponderState is how far a responder is.
type ResponderState string

// The states of a responder. If it is Inactive it has yet to begin; of the others only Active lets
// it act.
const (
	ResponderInactive    ResponderState = "Inactive"
	ResponderActive      ResponderState = "Active"
	ResponderCanceled    ResponderState = "Canceled"
	ResponderInterrupted ResponderState = "Interrupted"
	ResponderCompleted   ResponderState = "Completed"
)

// ResponderStatus is what a responder has reported.
type ResponderStatus struct {
	// Name is that of the responder.
	Name string `json:"name"`
	// StartTime is when the responder became Active; it is set by the controller of Evictions.
	StartTime *metav1.Time `json:"startTime,omitempty"`
	// HeartbeatTime is when the responder said last that it is at work.
	HeartbeatTime *metav1.Time `json:"heartbeatTime,omitempty"`
	// CompletionTime is when the responder was through.
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`
	// Message is for humans.
	Message *string `json:"message,omitempty"`
}

// EvictionList is a list of Evictions.
type EvictionList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the Evictions.
	Items []Eviction `json:"items"`
}

// addToScheme registers Evictions.
func addToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(SchemeGroupVersion, &Eviction{}, &EvictionList{})
	metav1.AddToGroupVersion(scheme, SchemeGroupVersion)
	return nil
}

// DeepCopy returns a copy that shares nothing; nil of nil.
func (e *Eviction) DeepCopy() *Eviction {
	if e == nil {
		return nil
	}
	out := *e
	out.ObjectMeta = *e.ObjectMeta.DeepCopy()
	if e.Spec.Target.Pod != nil {
		out.Spec.Target.Pod = new(*e.Spec.Target.Pod)
	}
	out.Status.TargetResponders = append([]TargetResponder(nil), e.Status.TargetResponders...)
	out.Status.Responders = append([]ResponderStatus(nil), e.Status.Responders...)
	for i := range out.Status.Responders {
		r := &out.Status.Responders[i]
		r.StartTime, r.HeartbeatTime, r.CompletionTime = r.StartTime.DeepCopy(), r.HeartbeatTime.DeepCopy(), r.CompletionTime.DeepCopy()
		if r.Message != nil {
			r.Message = new(*r.Message)
		}
	}
	return &out
}

// DeepCopyObject returns a copy that shares nothing.
func (e *Eviction) DeepCopyObject() runtime.Object { return e.DeepCopy() }

// DeepCopyObject returns a copy that shares nothing.
func (l *EvictionList) DeepCopyObject() runtime.Object {
	out := &EvictionList{TypeMeta: l.TypeMeta, ListMeta: *l.ListMeta.DeepCopy(), Items: make([]Eviction, len(l.Items))}
	for i := range l.Items {
		out.Items[i] = *l.Items[i].DeepCopy()
	}
	return out
}
