// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"slices"

	"github.com/podwright/podwright/internal/podstate"
	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// past is what the history says of a hash that pods record.
type past struct {
	revision string               // whose containers have the hash
	set      *v1alpha1.SidecarSet // as the revision has it, with its defaults; nil: the history does not have it
	stands   map[string]bool      // the containers that have the present image in it, by name
}

// pastOf finds out what the history says of a hash, once for all pods that record it. The revision that a pod names is of no
// help: it may be the one before.
func (p *planner) pastOf(hash string) *past {
	if known := p.pasts[hash]; known != nil {
		return known
	}
	if p.pasts == nil {
		p.pasts = map[string]*past{}
	}
	found := p.readPast(hash)
	p.pasts[hash] = found
	return found
}

func (p *planner) readPast(hash string) *past {
	for _, r := range slices.Backward(p.History) { // the newest of several, whatever the order in the cache
		if hash == "" || r.Annotations[v1alpha1.SidecarSetHashAnnotation] != hash {
			continue
		}
		before := p.set.DeepCopy()
		if injection.Read(before, r) != nil {
			continue
		}
		p.Injection.Default(before)
		found := &past{revision: r.Name, set: before, stands: map[string]bool{}}
		for i := range p.sidecars {
			if s := &p.sidecars[i]; imageIn(before, s) == s.image {
				found.stands[s.name] = true
			}
		}
		return found
	}
	return &past{}
}

// imageIn is the image that a SidecarSet has for a container; empty if it lacks that.
func imageIn(set *v1alpha1.SidecarSet, s *sidecar) string {
	list := set.Spec.Containers
	if s.native {
		list = set.Spec.InitContainers
	}
	for i := range list {
		if list[i].Name == s.name {
			return list[i].Image
		}
	}
	return ""
}

// stands tells whether an update leaves a container as a pod has it: its image is that of the pod's revision. Others may
// have replaced the image in the pod. Of a revision that the history does not have nothing is known. (SCS-41)
func (p *planner) stands(pod *pod, s *sidecar) bool {
	// If there is one alone, its image has changed: hashes differ in that.
	return len(p.sidecars) > 1 && p.pastOf(p.recordedHash(pod.Pod, v1alpha1.SidecarSetHashAnnotation)).stands[s.name]
}

// works tells whether the working one of both hot containers has the present image, or stays as a pod has it. If it is
// empty it does neither. (SCS-16, SCS-41)
func (p *planner) works(pod *pod, s *sidecar) bool {
	worker := pod.worker(s)
	return podstate.Container(pod.Pod, worker).Image == s.image || p.stands(pod, s) && !pod.emptied(s, worker)
}
