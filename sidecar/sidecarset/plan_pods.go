// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"encoding/json"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/podplan"
	"github.com/podwright/podwright/internal/podstate"
	"github.com/podwright/podwright/lifecycle"
	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// pod is a pod that a SidecarSet injected into, with what every step wants to know of it.
type pod struct {
	podplan.View
	waiting string // why a container has not taken its image; empty if all have
	// starting says which container the kubelet calls started, and may not know it yet; empty for none. (IP-45)
	starting string
	ready    bool // it serves, and no hot container is still to be emptied
	out      bool // it is out of service because of an update

	states *states // nil: not read yet
}

// shared is the pod as the caches have it.
func (pod *pod) shared() *corev1.Pod { return pod.Pod }

// listed tells whether a pod says that a SidecarSet was injected. Pods without a list, from
// before there was one, say so by their records. (SCS-1)
func listed(pod *corev1.Pod, name string) bool {
	list := pod.Annotations[v1alpha1.SidecarSetInjectedListAnnotation]
	for listed := range strings.SplitSeq(list, ",") {
		if listed == name {
			return true
		}
	}
	if list != "" || pod.Annotations[v1alpha1.SidecarSetHashAnnotation] == "" {
		return false
	}
	records, _ := injection.Records(pod, v1alpha1.SidecarSetHashAnnotation)
	return has(records, name)
}

// view finds out what every step wants to know of a pod. It returns why the pod does not
// have what the SidecarSet injects; empty if it has. (SCS-1, SCS-3, SCS-4)
func (p *planner) view(pod *pod) (incomplete string) {
	if why := p.foreign(pod.Pod); why != "" {
		return why
	}
	for i := range p.sidecars {
		s := &p.sidecars[i]
		if s.native {
			continue // one may be new: SCS-40
		}
		if !s.hot {
			if podstate.Container(pod.Pod, s.name) == nil {
				return fmt.Sprintf("it lacks container %s", s.name)
			}
			continue
		}
		for _, name := range []string{s.first, s.second} {
			if podstate.Container(pod.Pod, name) == nil {
				return fmt.Sprintf("it lacks container %s", name)
			}
		}
		if working := pod.worker(s); working != s.first && working != s.second {
			return fmt.Sprintf("annotation %s names %q for container %s, want %s or %s",
				v1alpha1.SidecarSetWorkingHotUpgradeContainerAnnotation, working, s.name, s.first, s.second)
		}
		if why := p.unrecorded(pod.Pod, s); why != "" {
			return why
		}
	}
	pod.Updated = p.recordedHash(pod.Pod, v1alpha1.SidecarSetHashAnnotation) == p.hashes.Containers
	pod.waiting = p.inconsistent(pod, nil)
	pod.starting = p.starts(pod, nil)
	pod.ready = pod.serves() && !p.flipping(pod)
	pod.Available = pod.ready && pod.waiting == ""
	return ""
}

// starts says which container of the SidecarSet the kubelet calls started, and may not know it yet; empty for none. Without
// counts it is about all of them. (IP-45)
func (p *planner) starts(pod *pod, counts func(name string) bool) (starting string) {
	for _, name := range p.names {
		if counts != nil && !counts(name) {
			continue
		}
		if left := inplace.Starting(pod.Pod, name, p.own(pod), p.Now); left > 0 {
			p.RequeueAfter(left)
			starting = inplace.StartingWords(name)
		}
	}
	return starting
}

// own returns what reads what the SidecarSet has recorded of its updates of a pod; it gives nil for nothing.
func (p *planner) own(pod *pod) func() *inplacev1alpha1.State {
	return func() *inplacev1alpha1.State { return p.statesOf(pod).own }
}

// serves tells whether a pod is in service, whatever its hot containers do.
func (pod *pod) serves() bool { return lifecycle.Ready(pod.Pod) && pod.starting == "" }

// worker names the container of a hot one that works; empty if it is not known. An entry
// in its most common form is read without decoding the others.
func (pod *pod) worker(s *sidecar) string {
	text := pod.Annotations[v1alpha1.SidecarSetWorkingHotUpgradeContainerAnnotation]
	switch first, second := strings.Contains(text, s.firstWorks), strings.Contains(text, s.secondWorks); {
	case first && !second:
		return s.first
	case second && !first:
		return s.second
	}
	working, _ := pod.working()
	return working[s.name]
}

// working reads which hot containers work, those of other SidecarSets too.
func (pod *pod) working() (working map[string]string, err error) {
	const annotation = v1alpha1.SidecarSetWorkingHotUpgradeContainerAnnotation
	if err = json.Unmarshal([]byte(pod.Annotations[annotation]), &working); err != nil {
		return nil, fmt.Errorf("annotation %s is no JSON object of names: %w; correct it", annotation, err)
	}
	return working, nil
}

// idle names the container of a hot one that does not work.
func (pod *pod) idle(s *sidecar) string {
	if pod.worker(s) == s.first {
		return s.second
	}
	return s.first
}

// flipping tells whether a hot container that does not work any more is still to be
// emptied. (SCS-4)
func (p *planner) flipping(pod *pod) bool {
	for i := range p.sidecars { // they are large: none is copied
		if s := &p.sidecars[i]; s.hot && !pod.emptied(s, pod.idle(s)) {
			return true
		}
	}
	return false
}

// emptied tells whether one of both hot containers is empty. Either it has the empty image,
// or its version says that it got the empty image of an earlier spec. That image stays.
// (SCS-18)
func (pod *pod) emptied(s *sidecar, name string) bool {
	return podstate.Container(pod.Pod, name).Image == s.empty || pod.Annotations[v1alpha1.SidecarSetVersionAnnotationPrefix+name] == "0"
}

// inconsistent says why containers of the SidecarSet in a pod do not run the images of
// their spec; empty if they do. Without counts it is about all of them. (SCS-3)
func (p *planner) inconsistent(pod *pod, counts func(name string) bool) (waiting string) {
	if counts == nil && len(pod.Status.ContainerStatuses) != len(pod.Spec.Containers) {
		return "the kubelet has not reported on all containers"
	}
	for _, name := range p.names {
		if counts != nil && !counts(name) {
			continue
		}
		if waiting = p.awaits(pod, name); waiting != "" {
			return waiting
		}
	}
	return ""
}

// awaits says why a container does not run the image of its spec; empty if it does.
func (p *planner) awaits(pod *pod, name string) string {
	waiting, err := inplace.Running(pod.Pod, name, p.own(pod))
	if err != nil { // of the report of a node agent, which will write another one
		return err.Error()
	}
	return waiting
}
