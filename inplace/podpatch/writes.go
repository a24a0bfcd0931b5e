// SPDX-License-Identifier: Apache-2.0

package podpatch

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Writes returns the requests that bring the pod to what the patch asks for,
// in the order in which they must be sent. The status comes first, a resize last. If only
// conditions, labels and annotations change, one request does it. It returns
// none when everything already stands.
//
// A resize follows from what was written before it and takes no labels along, so it is
// always chained to that. Another manager may have gone on with the pod meanwhile.
// It fails if Metadata is not JSON of an object.
func (p *Patch) Writes(pod *corev1.Pod) ([]Write, error) {
	meta, err := p.metadata(pod)
	if err != nil {
		return nil, err
	}
	spec := p.spec(pod)
	conditions := p.conditions(pod)
	whole := spec != nil || !fitsStatus(meta)

	var writes []Write
	if len(conditions) > 0 {
		w := body{Metadata: map[string]any{}, Status: &statusBody{Conditions: conditions}}
		if !whole {
			w.Metadata = meta
		}
		if writes, err = w.append(writes, "status", pod, p.IfUnchanged); err != nil {
			return nil, err
		}
	}
	if whole || len(conditions) == 0 && len(meta) > 0 {
		w := body{Metadata: meta, Spec: spec}
		second := len(writes) > 0
		if writes, err = w.append(writes, "", pod, p.IfUnchanged && !second); err != nil {
			return nil, err
		}
		writes[len(writes)-1].Chained = second && p.IfUnchanged && p.Throughout
	}
	if resize := p.resize(pod); resize != nil {
		w := body{Metadata: map[string]any{}, Spec: resize}
		before := len(writes) > 0
		if writes, err = w.append(writes, Resize, pod, p.IfUnchanged && !before); err != nil {
			return nil, err
		}
		writes[len(writes)-1].Chained = before
	}
	return writes, nil
}

// fitsStatus tells whether the status endpoint takes all of the metadata.
func fitsStatus(meta map[string]any) bool {
	for field := range meta {
		if field != "labels" && field != "annotations" {
			return false
		}
	}
	return true
}

type body struct {
	Metadata map[string]any `json:"metadata"`
	Spec     *specBody      `json:"spec,omitempty"`
	Status   *statusBody    `json:"status,omitempty"`
}

type specBody struct {
	InitContainers []containerBody `json:"initContainers,omitempty"`
	Containers     []containerBody `json:"containers,omitempty"`
}

type containerBody struct {
	Name      string         `json:"name"`
	Image     string         `json:"image,omitempty"`
	Resources *resourcesBody `json:"resources,omitempty"`
}

// resourcesBody has the quantities that change: a patch leaves the others.
type resourcesBody struct {
	Limits   corev1.ResourceList `json:"limits,omitempty"`
	Requests corev1.ResourceList `json:"requests,omitempty"`
}

type statusBody struct {
	Conditions []conditionBody `json:"conditions"`
}

// conditionBody clears the fields that the new condition leaves empty.
type conditionBody struct {
	Type               corev1.PodConditionType `json:"type"`
	Status             corev1.ConditionStatus  `json:"status"`
	Reason             *string                 `json:"reason"`
	Message            *string                 `json:"message"`
	LastProbeTime      *metav1.Time            `json:"lastProbeTime,omitempty"`
	LastTransitionTime metav1.Time             `json:"lastTransitionTime"`
}

func (b body) append(writes []Write, subresource string, pod *corev1.Pod, ifUnchanged bool) ([]Write, error) {
	b.Metadata["uid"] = pod.UID
	if ifUnchanged {
		b.Metadata["resourceVersion"] = pod.ResourceVersion
	}
	data, err := json.Marshal(b)
	if err != nil {
		return nil, fmt.Errorf("encode a patch of pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	return append(writes, Write{Subresource: subresource, Data: data}), nil
}

func (p *Patch) spec(pod *corev1.Pod) *specBody {
	out := specBody{InitContainers: p.replaced(pod.Spec.InitContainers, p.replacesNative), Containers: p.replaced(pod.Spec.Containers, p.replaces)}
	if out.InitContainers == nil && out.Containers == nil {
		return nil
	}
	return &out
}

// replaced are those of the containers that get another image.
func (p *Patch) replaced(containers []corev1.Container, replaces func(*corev1.Container) bool) (out []containerBody) {
	for i := range containers {
		if c := &containers[i]; replaces(c) {
			out = append(out, containerBody{Name: c.Name, Image: p.Images[c.Name]})
		}
	}
	return out
}

func (p *Patch) conditions(pod *corev1.Pod) []conditionBody {
	var out []conditionBody
	for i := range p.Conditions {
		c := &p.Conditions[i]
		if stands(pod, c) {
			continue
		}
		body := conditionBody{
			Type: c.Type, Status: c.Status,
			Reason: nonEmpty(c.Reason), Message: nonEmpty(c.Message),
			LastTransitionTime: c.LastTransitionTime,
		}
		if !c.LastProbeTime.IsZero() {
			body.LastProbeTime = &c.LastProbeTime
		}
		out = append(out, body)
	}
	return out
}

// Holds tells whether a pod is still what the patch was made for, after the first write of the patch was made on
// its status. Then the second can follow (see Throughout). It has the labels, annotations, images and, for a
// resize, resources with which it was read. The same containers run, and the conditions of the patch have their
// status.
func (p *Patch) Holds(read, live *corev1.Pod) bool {
	if live.UID != read.UID || (live.DeletionTimestamp == nil) != (read.DeletionTimestamp == nil) ||
		!maps.Equal(live.Labels, read.Labels) || !maps.Equal(live.Annotations, read.Annotations) {
		return false
	}
	sameImage := func(a, b corev1.Container) bool {
		resized := len(p.Resources) > 0 && !equality.Semantic.DeepEqual(a.Resources, b.Resources)
		return a.Name == b.Name && a.Image == b.Image && !resized
	}
	sameContainer := func(a, b corev1.ContainerStatus) bool {
		return a.Name == b.Name && a.ContainerID == b.ContainerID && a.ImageID == b.ImageID && a.Image == b.Image
	}
	for i := range p.Conditions {
		have := func(c corev1.PodCondition) bool {
			return c.Type == p.Conditions[i].Type && c.Status == p.Conditions[i].Status
		}
		if !slices.ContainsFunc(live.Status.Conditions, have) {
			return false
		}
	}
	return slices.EqualFunc(live.Spec.Containers, read.Spec.Containers, sameImage) &&
		slices.EqualFunc(live.Status.ContainerStatuses, read.Status.ContainerStatuses, sameContainer)
}

func stands(pod *corev1.Pod, c *corev1.PodCondition) bool {
	for i := range pod.Status.Conditions {
		if have := &pod.Status.Conditions[i]; have.Type == c.Type {
			return have.Status == c.Status && have.Reason == c.Reason && have.Message == c.Message
		}
	}
	return false
}

func nonEmpty(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
