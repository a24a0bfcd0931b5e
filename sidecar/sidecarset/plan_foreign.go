// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/internal/podstate"
	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// foreign says which container of the SidecarSet is another one's in a pod; empty if none is. (SCS-28)
func (p *planner) foreign(pod *corev1.Pod) (why string) {
	text := pod.Annotations[v1alpha1.SidecarSetHashAnnotation]
	if text == p.unshared {
		return ""
	}
	if strings.Count(text, `"sidecarSetName":`) < 2 || !p.mayBeForeign(text) {
		p.unshared = text // the records of pods that were updated together are alike
		return ""
	}
	records, _ := injection.Records(pod, v1alpha1.SidecarSetHashAnnotation) // those that cannot be read name nothing
	for _, name := range p.names {
		if owner := ownerOf(pod, name, records); owner != "" && owner != p.Set.Name && has(records, p.Set.Name) {
			return fmt.Sprintf("its container %s is that of SidecarSet %s, which has one of the same name", name, owner)
		}
	}
	return ""
}

// unrecorded says which hot container of a pod another SidecarSet has injected, if nothing is recorded of this one. The pod has both
// containers of the name. It returns an empty text if there is none. (SCS-28)
func (p *planner) unrecorded(pod *corev1.Pod, s *sidecar) (why string) {
	text := pod.Annotations[v1alpha1.SidecarSetHashAnnotation]
	if !strings.Contains(text, s.quoted) || strings.Contains(text, `"sidecarSetName":"`+p.Set.Name+`"`) {
		return ""
	}
	records, _ := injection.Records(pod, v1alpha1.SidecarSetHashAnnotation) // those that cannot be read name nothing
	if owner := ownerOf(pod, s.first, records); owner != "" && owner != p.Set.Name {
		return fmt.Sprintf("its container %s is that of SidecarSet %s, which has one of the same name", s.first, owner)
	}
	return ""
}

// mayBeForeign tells whether records name a container of the SidecarSet more often than its own does. Most do not, and need not
// be decoded.
func (p *planner) mayBeForeign(records string) bool {
	for i := range p.sidecars {
		s := &p.sidecars[i]
		if strings.Count(records, s.quoted) > 1 || slices.ContainsFunc(s.alike, func(name string) bool { return strings.Contains(records, name) }) {
			return true
		}
	}
	return false
}

// alike are the names, quoted as in records, under which another SidecarSet may have a container of this one. For a hot
// container these are the names of both its containers. For another one it is the name of the hot container to which it could
// belong.
func alike(s *sidecar) (names []string) {
	if s.hot {
		return []string{`"` + s.first + `"`, `"` + s.second + `"`}
	}
	if base := hotBase(s.name); base != "" {
		names = append(names, `"`+base+`"`)
	}
	return names
}

// hotBase is the name of the hot container of which one of this name would be one of both; empty if there is none.
func hotBase(name string) string {
	if base := name[:max(0, len(name)-2)]; base != "" {
		if first, second := injection.HotContainers(base); name == first || name == second {
			return base
		}
	}
	return ""
}

// ownerOf is the SidecarSet to which the container of a name in the pod belongs, by the pod's records. It is empty if they do not
// tell, or if the pod has no such container. (SCS-28)
func ownerOf(pod *corev1.Pod, name string, records map[string]v1alpha1.SidecarSetUpgradeRecord) string {
	c := podstate.Lasting(pod, name)
	if c == nil {
		return ""
	}
	var hot, cold []string
	base := hotBase(name)
	for _, set := range slices.Sorted(maps.Keys(records)) {
		switch list := records[set].SidecarList; {
		case base != "" && slices.Contains(list, base) && !bothKinds(pod, base):
			hot = append(hot, set)
		case slices.Contains(list, name) && !bothKinds(pod, name):
			cold = append(cold, set)
		}
	}
	first, second := cold, hot
	if isHot(c) {
		first, second = hot, cold
	}
	return slices.Concat(first, second, []string{""})[0]
}

// bothKinds tells whether a pod has a hot container of a name, and another one: which one a record means does not stand in it.
func bothKinds(pod *corev1.Pod, name string) bool {
	first, _ := injection.HotContainers(name)
	return podstate.Container(pod, name) != nil && isHot(podstate.Container(pod, first))
}

// isHot tells whether a container is one of both of a hot one. Nil is none.
func isHot(c *corev1.Container) bool {
	return c != nil && slices.ContainsFunc(c.Env, func(e corev1.EnvVar) bool { return e.Name == v1alpha1.SidecarSetVersionEnv })
}
