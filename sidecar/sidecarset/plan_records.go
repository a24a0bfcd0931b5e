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
	if end := strings.Index(text, p.hashEnd); end >= 0 {
		if at := strings.LastIndex(text[:end], begin); at >= 0 && !strings.ContainsAny(text[at+len(begin):end], `"\`) {
			return text[at+len(begin) : end]
		}
	}
	if text == "" {
		return ""
	}
	records, _ := injection.Records(pod, annotation)
	return records[p.Set.Name].SidecarSetHash
}

// states is what SidecarSets have recorded of their updates of a pod.
type states struct {
	all  map[string]v1alpha1.SidecarSetInPlaceUpdateState
	own  *inplacev1alpha1.State // nil: there is none
	some bool                   // there is one of the SidecarSet, or it cannot be told
	// since is since when the pod had not been ready as its last update began; nil: it was.
	since *metav1.Time
}

// statesOf reads what SidecarSets have recorded of their updates of a pod. What cannot be
// read is nothing. (SCS-13)
func (p *planner) statesOf(pod *pod) *states {
	if pod.states != nil {
		return pod.states
	}
	pod.states = &states{}
	text := pod.Annotations[v1alpha1.SidecarSetInPlaceUpdateStateAnnotation]
	if text == "" {
		return pod.states
	}
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
	state *inplacev1alpha1.State // what the containers ran before
	since *metav1.Time           // since when it has not been ready; nil: it is
}

// change begins a change of a pod.
func (p *planner) change(pod *pod) change {
	c := change{Patch: &podpatch.Patch{IfUnchanged: true}, p: p, pod: pod, state: &inplacev1alpha1.State{}, since: p.statesOf(pod).since}
	if own := p.statesOf(pod).own; own != nil {
		c.state = own.DeepCopy()
	}
	return c
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
	name, pod := c.p.Set.Name, c.pod.Pod
	records, err := injection.Records(pod, v1alpha1.SidecarSetHashAnnotation)
	if err != nil {
		records = map[string]v1alpha1.SidecarSetUpgradeRecord{}
	}
	record := c.p.Injection.NewRecord(c.p.set, c.p.hashes.Containers, c.p.Now)
	record.SidecarSetControllerRevision = c.p.plan.Revisions.Update.Name
	records[name] = record
	if pod.Annotations[v1alpha1.SidecarSetInjectedListAnnotation] == "" {
		c.SetAnnotation(v1alpha1.SidecarSetInjectedListAnnotation, strings.Join(slices.Sorted(maps.Keys(records)), ","))
	}
	return c.annotate(v1alpha1.SidecarSetHashAnnotation, records)
}

// annotate writes an annotation as JSON.
func (c *change) annotate(key string, value any) error {
	data, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("encode annotation %s: %w", key, err)
	}
	c.SetAnnotation(key, string(data))
	return nil
}
