// SPDX-License-Identifier: Apache-2.0

package inplace_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/inplace"
	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/testing/patches"
	"github.com/podwright/podwright/lifecycle/readiness"
)

// node plays what others than the manager do:
//
//	kubelet, agent           act: containers are restarted, and reported on
//	resizes                  the node gives containers the resources of their spec
//	pod patch                changes the pod, by a strategic merge patch
//	status c1 patch          changes what the kubelet reports of a container; null takes the report away
//	runs image, id, container
//	                         the same of image, image ID and container of c1; one that has no container is not ready
//	generations has observed
//	says condition reason message
//	                         the kubelet says something about a resize
//	agent c1 patch           changes what the node agent reports of a container
//	hashes n, started-from image n
//	                         the agent reports the n-th hash of all containers, or of a c1 of another image
//	by-openkruise            takes out of the state what OpenKruise does not write
//	note state|grace|old-state|old-grace|report text
//	                         annotates the pod
//	old-names                moves both records to the names that they had before
//	priority c1=10           launch priorities
//	no-gate                  the pod has no readiness gate
//	serve                    another manager puts the pod into service
func (s *podScript) node(verb, rest string) bool {
	first, more, _ := strings.Cut(rest, " ")
	switch verb {
	case "kubelet":
		kubelet(s.pod)
	case "resizes":
		resizes(s.pod)
	case "pod":
		patches.Strategic(s.t, s.pod, rest)
	case "status":
		statuses := &s.pod.Status.ContainerStatuses
		if len(s.pod.Spec.InitContainers) > 0 && s.pod.Spec.InitContainers[0].Name == first {
			statuses = &s.pod.Status.InitContainerStatuses
		}
		i := slices.IndexFunc(*statuses, func(c corev1.ContainerStatus) bool { return c.Name == first })
		if more == "null" {
			*statuses = slices.Delete(*statuses, i, i+1)
			break
		}
		s.merge(more, &(*statuses)[i])
	case "runs":
		c, words := &s.pod.Status.ContainerStatuses[0], strings.Split(rest, ",")
		c.Image, c.ImageID, c.ContainerID = words[0], strings.TrimSpace(words[1]), ""
		if words[2] = strings.TrimSpace(words[2]); words[2] != "" {
			c.ContainerID = "containerd://" + words[2]
		}
		c.Ready = c.ContainerID != ""
	case "generations":
		_, err := fmt.Sscan(rest, &s.pod.Generation, &s.pod.Status.ObservedGeneration)
		s.must(err)
	case "says":
		reason, message, _ := strings.Cut(more, " ")
		s.pod.Status.ObservedGeneration = s.pod.Generation
		s.pod.Status.Conditions = append(s.pod.Status.Conditions, corev1.PodCondition{
			Type: corev1.PodConditionType(first), Status: corev1.ConditionTrue, Reason: reason, Message: message, ObservedGeneration: s.pod.Generation})
	case "agent", "hashes", "started-from":
		s.agent(verb, first, more)
	case "by-openkruise":
		known := state(s.t, s.pod)
		known.LastContainers = nil
		s.pod.Annotations[v1alpha1.StateAnnotation] = patches.JSON(s.t, known)
	case "note":
		s.pod.Annotations[notes[first]] = more
	case "old-names":
		for _, name := range []string{"state", "grace"} {
			s.pod.Annotations[notes["old-"+name]] = s.pod.Annotations[notes[name]]
			delete(s.pod.Annotations, notes[name])
		}
	case "priority":
		for word := range strings.FieldsSeq(rest) {
			s.pod = patches.Changed(words, s.pod, "priority-"+word)
		}
	case "no-gate", "serve":
		s.pod = patches.Changed(words, s.pod, verb)
	default:
		return false
	}
	return true
}

// notes are annotations by the words of scripts for them.
var notes = map[string]string{"state": v1alpha1.StateAnnotation, "grace": v1alpha1.GraceAnnotation, "report": v1alpha1.RuntimeContainersMetaAnnotation,
	"old-state": v1alpha1.LegacyStateAnnotation, "old-grace": v1alpha1.LegacyGraceAnnotation}

// merge puts the fields of a YAML text into an object.
func (s *podScript) merge(text string, into any) {
	data, err := yaml.YAMLToJSON([]byte(text))
	s.must(err)
	s.must(json.Unmarshal(data, into))
}

// agent plays what the node agent reports.
func (s *podScript) agent(verb, first, more string) {
	if verb == "agent" && first == "" || verb == "started-from" {
		agent(s.t, s.pod)
	}
	var meta v1alpha1.RuntimeContainersMeta
	s.must(json.Unmarshal([]byte(s.pod.Annotations[v1alpha1.RuntimeContainersMetaAnnotation]), &meta))
	hash := func(c corev1.Container, pick string) uint64 {
		hashes, err := inplace.PlainHashes(&c)
		s.must(err)
		return hashes[patches.Number(s.t, pick)]
	}
	switch {
	case verb == "hashes":
		for i := range meta.Containers {
			meta.Containers[i].Hashes.PlainHash = hash(s.pod.Spec.Containers[i], first)
		}
	case verb == "started-from":
		c := s.pod.Spec.Containers[0]
		c.Image = first
		meta.Containers[0].Hashes.PlainHash = hash(c, more)
	case more == "null":
		meta.Containers = slices.DeleteFunc(meta.Containers, func(c v1alpha1.RuntimeContainer) bool { return c.Name == first })
	case more != "":
		s.merge(more, &meta.Containers[s.index(first)])
	}
	report(s.t, s.pod, meta)
}

// resizes has the node do what the spec says.
func resizes(pod *corev1.Pod) {
	pod.Status.ObservedGeneration = pod.Generation
	for i := range pod.Spec.Containers {
		pod.Status.ContainerStatuses[i].Resources = pod.Spec.Containers[i].Resources.DeepCopy()
	}
	pod.Status.Conditions = slices.DeleteFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodResizePending || c.Type == corev1.PodResizeInProgress
	})
}

// show plays the steps that show something of the pod.
func (s *podScript) show(verb string) bool {
	switch verb {
	case "writes":
		s.print("%s", s.written())
	case "data":
		for _, w := range s.writes {
			s.print("%s", w.Data)
		}
	case "images":
		s.print("%s", images(s.pod))
	case "cpu":
		var out []string
		for _, c := range s.pod.Spec.Containers {
			out = append(out, c.Resources.Requests.Cpu().String())
		}
		s.print("%s", strings.Join(out, " "))
	case "conditions":
		for _, of := range []corev1.PodConditionType{v1alpha1.InPlaceUpdateReady, corev1.PodReady} {
			if c := readiness.Condition(s.pod, of); c != nil {
				s.print("%s since %s: %s", of, c.LastTransitionTime.Sub(start()), condition(s.pod, of))
			} else {
				s.print("no %s", of)
			}
		}
	case "metadata":
		s.print("labels %v", s.pod.Labels)
		shown := map[string]string{}
		for key, value := range s.pod.Annotations {
			if key != notes["state"] && key != notes["grace"] && key != notes["report"] {
				shown[key] = value
			}
		}
		s.print("annotations %v", shown)
		if finalizers := s.pod.Finalizers; len(finalizers) > 0 {
			s.print("finalizers %v", finalizers)
		}
	case "state", "grace":
		s.print("%s", s.pod.Annotations[notes[verb]])
	case "show":
		s.print("%s; gate %s%s", images(s.pod), condition(s.pod, v1alpha1.InPlaceUpdateReady), s.marks())
	default:
		return false
	}
	return true
}

// marks are what else there is to say of the pod.
func (s *podScript) marks() (out string) {
	if inplace.InGrace(s.pod) {
		out += "; in its grace period"
	}
	if inplace.BeingResized(s.pod) {
		if out += "; being resized"; inplace.Settled(s.pod) {
			s.t.Error("a pod that is being resized is settled")
		}
	}
	if consistent, _, err := inplace.Consistent(s.pod); !consistent || err != nil {
		out += "; not consistent"
	}
	if waiting, _ := inplace.Underway(s.pod); waiting != "" {
		out += "; underway: " + waiting
	}
	return out
}

// written shows the last writes.
func (s *podScript) written() string {
	var out []string
	for _, w := range s.writes {
		name := w.Subresource
		if name == "" {
			name = "pod"
		}
		if w.Chained && w.Subresource == podpatch.Resize {
			name += " after that"
		}
		out = append(out, name)
	}
	if len(out) == 0 {
		return "nothing"
	}
	if s.last.Throughout {
		out = append(out, "only if unchanged throughout")
	} else if s.last.IfUnchanged {
		out = append(out, "only if unchanged")
	}
	return strings.Join(out, ", ")
}
