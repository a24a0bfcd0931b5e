// SPDX-License-Identifier: Apache-2.0

// Package podpatch collects what several rules want to change in one pod and
// writes it down as the fewest requests. These are at most one patch of the pod's status
// and one of the pod itself, and none for what already stands.
//
// The status endpoint of a pod takes labels and annotations too. So a label
// that changes together with a condition costs no request of its own.
package podpatch

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/podstate"
)

// Patch is a set of wanted changes to one pod. The zero value changes nothing. It
// is for one goroutine.
type Patch struct {
	// Labels and Annotations hold the values to set; a nil value removes the key.
	Labels, Annotations map[string]*string

	// AddFinalizers lists finalizers that the pod should have beside its own.
	AddFinalizers []string

	// AddOwner is an owner reference to add, unless the pod has one of its UID, which
	// becomes the controller if AddOwner says so. Nil adds none.
	AddOwner *metav1.OwnerReference
	// RemoveOwner is the UID of an owner reference to remove; empty removes none.
	RemoveOwner types.UID

	// Images holds the new images by the name of a container or native sidecar. Names of others, init containers that
	// end among them, are ignored. The map may be that of other patches, too: change it by SetImage.
	Images map[string]string

	// Resources holds new cpu and memory by container name; what is not named stays. They
	// are requested by the subresource resize, last. Names of containers that the pod does
	// not have are ignored.
	Resources map[string]corev1.ResourceRequirements

	// Metadata is a strategic-merge patch of a Pod that holds nothing but
	// metadata, or nil. Labels, Annotations and AddFinalizers win over it.
	Metadata []byte

	// Conditions replace the pod's conditions of the same types. The time of
	// the last transition is written as given; a zero one removes it. A zero time
	// of the last probe leaves that unchanged.
	Conditions []corev1.PodCondition

	// IfUnchanged makes the API server refuse the first write with a conflict
	// when the pod has changed since it was read. Needed if the new value
	// was computed from an old one that others write too.
	IfUnchanged bool
	// Throughout makes it refuse the second write, too, when the pod has changed since the
	// first. The sender may repeat it if the patch still Holds. It means nothing
	// without IfUnchanged.
	Throughout bool
}

// Write is one PATCH request for a pod.
type Write struct {
	// Subresource is "status", "resize", or empty for the pod itself.
	Subresource string
	// Data is a strategic-merge patch. It names the pod's UID, so that it
	// cannot hit another pod of the same name.
	Data []byte
	// Chained says that the write is to be sent as On returns it, for the resourceVersion
	// in the answer to the one before.
	Chained bool
}

// On returns a write that is refused with a conflict unless the pod has that
// resourceVersion. It fails if Data is none that Writes has made.
func (w Write) On(resourceVersion string) (Write, error) {
	var data struct {
		Metadata map[string]any `json:"metadata"`
		Spec     any            `json:"spec,omitempty"`
		Status   any            `json:"status,omitempty"`
	}
	err := json.Unmarshal(w.Data, &data)
	if err == nil && data.Metadata == nil {
		err = errors.New("it has no metadata")
	}
	if err == nil {
		data.Metadata["resourceVersion"] = resourceVersion
		w.Data, err = json.Marshal(data)
	}
	if err != nil {
		return w, fmt.Errorf("make the patch %s conditional: %w", w.Data, err)
	}
	return w, nil
}

// Empty tells whether the patch asks for nothing at all.
func (p *Patch) Empty() bool {
	return len(p.Labels)+len(p.Annotations)+len(p.AddFinalizers)+len(p.Images)+len(p.Resources)+len(p.Conditions) == 0 &&
		p.AddOwner == nil && p.RemoveOwner == "" && p.Metadata == nil
}

// SetLabel sets a label.
func (p *Patch) SetLabel(key, value string) { set(&p.Labels, key, &value) }

// SetAnnotation sets an annotation.
func (p *Patch) SetAnnotation(key, value string) { set(&p.Annotations, key, &value) }

// RemoveAnnotation removes an annotation.
func (p *Patch) RemoveAnnotation(key string) { set(&p.Annotations, key, nil) }

// SetImage sets the image of a container. It never changes the map that it finds in Images: patches may share one.
func (p *Patch) SetImage(container, image string) {
	images := make(map[string]string, len(p.Images)+1)
	maps.Copy(images, p.Images)
	images[container] = image
	p.Images = images
}

// SetResources sets cpu and memory of a container, beside those set before.
func (p *Patch) SetResources(container string, r corev1.ResourceRequirements) {
	if p.Resources == nil {
		p.Resources = map[string]corev1.ResourceRequirements{}
	}
	have := p.Resources[container]
	p.Resources[container] = corev1.ResourceRequirements{Limits: with(have.Limits, r.Limits), Requests: with(have.Requests, r.Requests)}
}

// SetCondition sets a condition, in place of one of the same type set before.
func (p *Patch) SetCondition(c corev1.PodCondition) {
	for i := range p.Conditions {
		if p.Conditions[i].Type == c.Type {
			p.Conditions[i] = c
			return
		}
	}
	if p.Conditions == nil {
		p.Conditions = make([]corev1.PodCondition, 0, 2) // a gate, and Ready with it
	}
	p.Conditions = append(p.Conditions, c)
}

// Condition returns the condition that the pod will have after the patch; nil
// if it will have none.
func (p *Patch) Condition(pod *corev1.Pod, t corev1.PodConditionType) *corev1.PodCondition {
	for i := range p.Conditions {
		if p.Conditions[i].Type == t {
			return &p.Conditions[i]
		}
	}
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == t {
			return &pod.Status.Conditions[i]
		}
	}
	return nil
}

func set(m *map[string]*string, key string, value *string) {
	if *m == nil {
		*m = map[string]*string{}
	}
	(*m)[key] = value
}

// Changes tells whether there is anything to write, which is true also if
// Metadata cannot be read: then Writes says so.
func (p *Patch) Changes(pod *corev1.Pod) bool {
	if p.Metadata != nil {
		writes, err := p.Writes(pod)
		return err != nil || len(writes) > 0
	}
	return differ(p.Labels, pod.Labels) || differ(p.Annotations, pod.Annotations) ||
		slices.ContainsFunc(p.Conditions, func(c corev1.PodCondition) bool { return !stands(pod, &c) }) ||
		p.changesContainers(pod) || len(p.missingFinalizers(pod)) > 0 || len(p.owners(pod)) > 0
}

// changesContainers tells whether a container gets another image, cpu or memory.
func (p *Patch) changesContainers(pod *corev1.Pod) bool {
	for i := range pod.Spec.Containers { // containers are large: none is copied
		if c := &pod.Spec.Containers[i]; p.replaces(c) || p.resizes(c) != nil {
			return true
		}
	}
	for i := range pod.Spec.InitContainers {
		if p.replacesNative(&pod.Spec.InitContainers[i]) {
			return true
		}
	}
	return false
}

func differ(wanted map[string]*string, have map[string]string) bool {
	for key, value := range wanted {
		old, found := have[key]
		if found != (value != nil) || found && old != *value {
			return true
		}
	}
	return false
}

// replaces tells whether a container gets another image.
func (p *Patch) replaces(c *corev1.Container) bool {
	image, ok := p.Images[c.Name]
	return ok && image != c.Image
}

// replacesNative tells whether an init container gets another image: of those that end none does.
func (p *Patch) replacesNative(c *corev1.Container) bool {
	return p.replaces(c) && podstate.IsNative(c)
}
