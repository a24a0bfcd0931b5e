// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace"
	"github.com/podwright/podwright/inplace/podpatch"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// recordedHash is the hash that a pod has of the SidecarSet; empty if it has none that
// can be read. Records as they are mostly written are read without decoding all of them.
func (p *planner) recordedHash(pod *corev1.Pod, annotation string) string {
	const begin = `"hash":"`
	text := pod.Annotations[annotation]
	if text != "" && text == p.hashOf.text {
		return p.hashOf.hash
	}
	if end := strings.Index(text, p.hashEnd); end >= 0 {
		if at := strings.LastIndex(text[:end], begin); at >= 0 && !strings.ContainsAny(text[at+len(begin):end], `"\`) {
			p.hashOf = hashOf{text, text[at+len(begin) : end]}
			return p.hashOf.hash
		}
	}
	if text == "" {
		return ""
	}
	records, _ := injection.Records(pod, annotation)
	return records[p.Set.Name].SidecarSetHash
}

// hashOf is what recordedHash has read last: the records of pods that were updated together are alike.
type hashOf struct{ text, hash string }

// states is what SidecarSets have recorded of their updates of a pod.
type states struct {
	all  map[string]v1alpha1.SidecarSetInPlaceUpdateState
	own  *inplacev1alpha1.State // nil: there is none
	some bool                   // there is one of the SidecarSet, or it cannot be told
	// since is since when the pod had not been ready as its last update began; nil: it was.
	since *metav1.Time
}

// noStates is what is recorded of most pods. It never changes.
var noStates states

// statesOf reads what SidecarSets have recorded of their updates of a pod. What cannot be
// read is nothing. (SCS-13)
func (p *planner) statesOf(pod *pod) *states {
	if pod.states != nil {
		return pod.states
	}
	text := pod.Annotations[v1alpha1.SidecarSetInPlaceUpdateStateAnnotation]
	if text == "" {
		pod.states = &noStates
		return pod.states
	}
	pod.states = &states{}
	if json.Unmarshal([]byte(text), &pod.states.all) != nil {
		pod.states.all, pod.states.some = nil, true
	}
	if own, is := pod.states.all[p.Set.Name]; is {
		pod.states.some, pod.states.since = true, own.NotReadySince
		pod.states.own = &inplacev1alpha1.State{LastContainerStatuses: own.LastContainerStatuses, LastContainers: own.LastContainers}
	}
	return pod.states
}

// change collects what is written to a pod, and to its records. Nothing that the planner
// knows of the pod is changed by it.
type change struct {
	*podpatch.Patch
	p     *planner
	pod   *pod
	state *inplacev1alpha1.State // what the containers ran before; nil: not read yet
	since *metav1.Time           // since when it has not been ready; nil: it is
}

// change begins a change of a pod.
func (p *planner) change(pod *pod) change {
	return change{Patch: &podpatch.Patch{IfUnchanged: true}, p: p, pod: pod, since: p.statesOf(pod).since}
}

// replace replaces the image of a container, and notes in the state what it ran before.
func (c *change) replace(name, image string) error {
	if c.state == nil {
		c.state = &inplacev1alpha1.State{}
		if own := c.p.statesOf(c.pod).own; own != nil {
			c.state = own.DeepCopy()
		}
	}
	return inplace.Replace(c.Patch, c.pod.Pod, name, image, c.state)
}

// record writes the records of the images that are replaced. The time and the hash are
// those of the first update. (SCS-13)
func (c *change) record() error {
	if len(c.Images) == 0 {
		return nil
	}
	states := maps.Clone(c.p.statesOf(c.pod).all)
	if states == nil {
		states = map[string]v1alpha1.SidecarSetInPlaceUpdateState{}
	}
	own, is := states[c.p.Set.Name]
	if !is {
		own.Revision, own.UpdateTimestamp = c.p.hashes.Containers, metav1.NewTime(c.p.Now)
	}
	own.NotReadySince = c.since
	own.LastContainers, own.LastContainerStatuses = c.state.LastContainers, c.state.LastContainerStatuses
	if own.LastContainerStatuses == nil {
		own.LastContainerStatuses = map[string]inplacev1alpha1.ContainerStatus{}
	}
	states[c.p.Set.Name] = own
	return c.annotate(v1alpha1.SidecarSetInPlaceUpdateStateAnnotation, states)
}

// injected writes which revision of the SidecarSet the pod has from now on. Records that
// cannot be read are replaced. (SCS-12)
func (c *change) injected() error {
	text := c.pod.Annotations[v1alpha1.SidecarSetHashAnnotation]
	alone := c.p.ownAlone(text)
	if alone {
		text = "" // it is replaced as a whole
	}
	after, known := c.p.recorded[text]
	if !known {
		var err error
		if after, err = c.recordsAfter(alone); err != nil {
			return err
		}
		if c.p.recorded == nil {
			c.p.recorded = map[string]recordTexts{}
		}
		c.p.recorded[text] = after
	}
	if c.pod.Annotations[v1alpha1.SidecarSetInjectedListAnnotation] == "" {
		c.SetAnnotation(v1alpha1.SidecarSetInjectedListAnnotation, after.list)
	}
	c.SetAnnotation(v1alpha1.SidecarSetHashAnnotation, after.text)
	return nil
}

// ownAlone tells whether records are those of this SidecarSet alone. What is no JSON may count as such: it is replaced, too.
func (p *planner) ownAlone(records string) bool {
	return strings.HasPrefix(records, p.ownBegins) && strings.HasSuffix(records, "}}") && strings.Count(records, "{") == 2
}

// recordTexts are the records of the SidecarSets of a pod: as they are written, and their names as the list has them.
type recordTexts struct{ text, list string }

// recordsAfter returns the records that the pod has from now on. They follow from those that it has, unless these are the
// SidecarSet's alone.
func (c *change) recordsAfter(alone bool) (recordTexts, error) {
	name := c.p.Set.Name
	all := map[string]v1alpha1.SidecarSetUpgradeRecord{}
	if !alone {
		if known, err := injection.Records(c.pod.Pod, v1alpha1.SidecarSetHashAnnotation); err == nil {
			all = known
		}
	}
	record := c.p.Injection.NewRecord(c.p.set, c.p.hashes.Containers, c.p.Now)
	record.SidecarSetControllerRevision = c.p.plan.Revisions.Update.Name
	all[name] = record
	text, err := encode(v1alpha1.SidecarSetHashAnnotation, all)
	return recordTexts{text, strings.Join(slices.Sorted(maps.Keys(all)), ",")}, err
}

// annotate writes an annotation as JSON.
func (c *change) annotate(key string, value any) error {
	text, err := encode(key, value)
	if err == nil {
		c.SetAnnotation(key, text)
	}
	return err
}

// encode returns the JSON of an annotation.
func encode(key string, value any) (string, error) {
	data, err := json.Marshal(value)
	if err != nil {
		return "", fmt.Errorf("encode annotation %s: %w", key, err)
	}
	return string(data), nil
}
