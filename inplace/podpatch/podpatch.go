// Package podpatch collects what several rules want to change in one pod and
// writes it down as the fewest requests: at most one patch of the pod's status
// and one of the pod itself, and none for what already stands.
//
// The status endpoint of a pod takes labels and annotations too. So a label
// that changes together with a condition costs no request of its own.
package podpatch

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

// Patch is a set of wanted changes to one pod. The zero value changes nothing.
type Patch struct {
	// Labels and Annotations hold the values to set; a nil value removes the key.
	Labels, Annotations map[string]*string

	// AddFinalizers lists finalizers that the pod should have beside its own.
	AddFinalizers []string

	// RemoveOwner is the UID of an owner reference to remove; empty removes none.
	RemoveOwner types.UID

	// Images holds the new images by container name. Names of containers that
	// the pod does not have are ignored.
	Images map[string]string

	// Metadata is a strategic-merge patch of a Pod that holds nothing but
	// metadata, or nil. Labels, Annotations and AddFinalizers win over it.
	Metadata []byte

	// Conditions replace the pod's conditions of the same types. The time of
	// the last transition is kept as given.
	Conditions []corev1.PodCondition

	// IfUnchanged makes the API server refuse the first write with a conflict
	// when the pod has changed since it was read. Needed where the new value
	// was computed from an old one that others write too.
	IfUnchanged bool
}

// Write is one PATCH request for a pod.
type Write struct {
	// Subresource is "status", or empty for the pod itself.
	Subresource string
	// Data is a strategic-merge patch. It names the pod's UID, so that it
	// cannot hit another pod of the same name.
	Data []byte
}

// Empty tells whether the patch asks for nothing at all.
func (p *Patch) Empty() bool {
	return len(p.Labels)+len(p.Annotations)+len(p.AddFinalizers)+len(p.Images)+len(p.Conditions) == 0 &&
		p.RemoveOwner == "" && p.Metadata == nil
}

// SetLabel sets a label.
func (p *Patch) SetLabel(key, value string) { set(&p.Labels, key, &value) }

// SetAnnotation sets an annotation.
func (p *Patch) SetAnnotation(key, value string) { set(&p.Annotations, key, &value) }

// RemoveAnnotation removes an annotation.
func (p *Patch) RemoveAnnotation(key string) { set(&p.Annotations, key, nil) }

// SetImage sets the image of a container.
func (p *Patch) SetImage(container, image string) {
	if p.Images == nil {
		p.Images = map[string]string{}
	}
	p.Images[container] = image
}

// SetCondition sets a condition, in place of one of the same type set before.
func (p *Patch) SetCondition(c corev1.PodCondition) {
	for i := range p.Conditions {
		if p.Conditions[i].Type == c.Type {
			p.Conditions[i] = c
			return
		}
	}
	p.Conditions = append(p.Conditions, c)
}

// Condition returns the condition that the pod will have after the patch; nil
// where it will have none.
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

// Writes returns the requests that bring the pod to what the patch asks for,
// in the order in which they must be sent: the status first. Where only
// conditions, labels and annotations change, one request does it. It returns
// none when everything already stands.
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
		return w.append(writes, "", pod, p.IfUnchanged && len(writes) == 0)
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
	Containers []containerBody `json:"containers"`
}

type containerBody struct {
	Name  string `json:"name"`
	Image string `json:"image"`
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

// metadata returns the metadata that the pod does not have yet.
func (p *Patch) metadata(pod *corev1.Pod) (map[string]any, error) {
	meta := map[string]any{}
	if p.Metadata != nil {
		var general struct {
			Metadata map[string]any `json:"metadata"`
		}
		if err := json.Unmarshal(p.Metadata, &general); err != nil {
			return nil, fmt.Errorf("metadata patch of pod %s/%s is not JSON: %w", pod.Namespace, pod.Name, err)
		}
		if general.Metadata != nil {
			meta = general.Metadata
		}
	}
	mergeStrings(meta, "labels", p.Labels, pod.Labels)
	mergeStrings(meta, "annotations", p.Annotations, pod.Annotations)
	mergeFinalizers(meta, p.missingFinalizers(pod))
	if p.ownedBy(pod, p.RemoveOwner) {
		meta["ownerReferences"] = []map[string]any{{"$patch": "delete", "uid": p.RemoveOwner}}
	}
	return meta, nil
}

func (p *Patch) missingFinalizers(pod *corev1.Pod) []any {
	var missing []any
	for _, f := range p.AddFinalizers {
		if !slices.Contains(pod.Finalizers, f) {
			missing = append(missing, f)
		}
	}
	return missing
}

func (p *Patch) ownedBy(pod *corev1.Pod, owner types.UID) bool {
	return owner != "" && slices.ContainsFunc(pod.OwnerReferences, func(ref metav1.OwnerReference) bool {
		return ref.UID == owner
	})
}

// mergeFinalizers adds finalizers to those that meta adds already. Where meta
// gives the order of the list, it must name them too.
func mergeFinalizers(meta map[string]any, add []any) {
	if len(add) == 0 {
		return
	}
	const order = "$setElementOrder/finalizers"
	for _, field := range []string{"finalizers", order} {
		list, _ := meta[field].([]any)
		if field == order && list == nil {
			continue
		}
		for _, f := range add {
			if !slices.Contains(list, f) {
				list = append(list, f)
			}
		}
		meta[field] = list
	}
}

// mergeStrings puts the wanted values over those in meta[field] and drops what
// the pod has already.
func mergeStrings(meta map[string]any, field string, wanted map[string]*string, have map[string]string) {
	given, found := meta[field]
	if !found && len(wanted) == 0 {
		return
	}
	out, directive := spellOut(given, found, have)
	for key, value := range wanted {
		if value == nil {
			out[key] = nil
		} else {
			out[key] = *value
		}
	}
	if !directive {
		maps.DeleteFunc(out, func(key string, value any) bool {
			old, found := have[key]
			return found && value == old || !found && value == nil
		})
	}
	if len(out) > 0 {
		meta[field] = out
	} else {
		delete(meta, field)
	}
}

// spellOut copies the labels or annotations of a merge patch. A null removes
// the whole map: it is written out as the removal of each key, so that other
// values can be put over it. The second result tells whether the patch holds a
// directive, under which a value counts even where the pod has it already.
func spellOut(given any, found bool, have map[string]string) (out map[string]any, directive bool) {
	out = map[string]any{}
	if found && given == nil {
		for key := range have {
			out[key] = nil
		}
	}
	values, _ := given.(map[string]any)
	for key, value := range values {
		out[key] = value
		directive = directive || strings.HasPrefix(key, "$")
	}
	return out, directive
}

func (p *Patch) spec(pod *corev1.Pod) *specBody {
	var out []containerBody
	for i := range pod.Spec.Containers {
		c := &pod.Spec.Containers[i]
		if image, ok := p.Images[c.Name]; ok && image != c.Image {
			out = append(out, containerBody{Name: c.Name, Image: image})
		}
	}
	if out == nil {
		return nil
	}
	return &specBody{Containers: out}
}

func (p *Patch) conditions(pod *corev1.Pod) []conditionBody {
	var out []conditionBody
	for i := range p.Conditions {
		c := &p.Conditions[i]
		if stands(pod, c) {
			continue
		}
		out = append(out, conditionBody{
			Type: c.Type, Status: c.Status,
			Reason: nonEmpty(c.Reason), Message: nonEmpty(c.Message),
			LastTransitionTime: c.LastTransitionTime,
		})
	}
	return out
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

// Apply returns a copy of the pod as it will be after the patch. It is meant
// for tests and for tools that show a plan; an API server does the same.
func (p *Patch) Apply(pod *corev1.Pod) (*corev1.Pod, error) {
	writes, err := p.Writes(pod)
	if err != nil {
		return nil, err
	}
	out := pod.DeepCopy()
	for _, w := range writes {
		before, err := json.Marshal(out)
		if err != nil {
			return nil, fmt.Errorf("encode pod %s/%s: %w", pod.Namespace, pod.Name, err)
		}
		after, err := strategicpatch.StrategicMergePatch(before, w.Data, corev1.Pod{})
		if err != nil {
			return nil, fmt.Errorf("apply a patch to pod %s/%s: %w", pod.Namespace, pod.Name, err)
		}
		out = &corev1.Pod{}
		if err := json.Unmarshal(after, out); err != nil {
			return nil, fmt.Errorf("decode pod %s/%s after its patch: %w", pod.Namespace, pod.Name, err)
		}
	}
	return out, nil
}
