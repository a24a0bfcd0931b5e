// SPDX-License-Identifier: Apache-2.0

package nodepodprobe

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/podplan"
	"github.com/podwright/podwright/internal/podstate"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// planner holds what the steps of NewPlan hand to one another.
type planner struct {
	*Snapshot
	plan *Plan

	pods    []*corev1.Pod // by namespace and name
	byName  map[types.NamespacedName]*corev1.Pod
	markers map[string][]marker // by namespace, sorted by name
	wanted  map[types.UID][]*wanted
	stands  map[types.UID]map[string]bool // the markers whose probes a pod has
	room    room
	// serverless says that the node is virtual, and what runs its pods probes them by their annotations. (PPM-3.9)
	serverless bool
}

// marker is a marker with its selector, and with its probes once a pod is selected.
type marker struct {
	*v1alpha1.PodProbeMarker
	selector labels.Selector
	probes   []wanted
}

// wanted is a probe that pods should have, the same for all that a marker selects.
type wanted struct {
	marker *v1alpha1.PodProbeMarker
	of     *v1alpha1.PodContainerProbe
	probe  v1alpha1.ContainerProbe
	// cost is how much room the probe takes, tooLarge why it may take none.
	cost     int
	tooLarge string
}

func newPlanner(s *Snapshot) *planner {
	p := &planner{
		Snapshot: s, plan: &Plan{}, pods: slices.Clone(s.Pods),
		byName:  map[types.NamespacedName]*corev1.Pod{},
		markers: map[string][]marker{}, wanted: make(map[types.UID][]*wanted, len(s.Pods)),
	}
	podplan.SortByName(p.pods, (*corev1.Pod).GetName)
	slices.SortStableFunc(p.pods, func(a, b *corev1.Pod) int { return cmp.Compare(a.Namespace, b.Namespace) })
	for namespace, all := range s.Markers {
		for _, m := range all {
			selector, _ := m.PodSelector()
			p.markers[namespace] = append(p.markers[namespace], marker{PodProbeMarker: m, selector: selector})
		}
		slices.SortFunc(p.markers[namespace], func(a, b marker) int { return cmp.Compare(a.Name, b.Name) })
	}
	p.stands, p.serverless = standing(s.NodePodProbe), s.Serverless && virtual(s.Node)
	if p.serverless {
		p.stands = handedOver(s.Pods)
	}
	wants := map[string]int{} // how much room, by namespace
	for _, pod := range p.pods {
		if s.NodePodProbe != nil { // it names pods
			p.byName[nameOf(pod)] = pod
		}
		if !v1alpha1.CanBeProbed(pod) {
			continue
		}
		all := p.wantedOf(pod)
		p.wanted[pod.UID] = all
		for _, w := range all {
			if w.tooLarge == "" {
				wants[pod.Namespace] += w.cost
			}
		}
	}
	p.measure(wants)
	return p
}

func nameOfStatus(s *v1alpha1.PodProbeStatus) types.NamespacedName {
	return types.NamespacedName{Namespace: s.Namespace, Name: s.Name}
}

func nameOf(pod *corev1.Pod) types.NamespacedName {
	return types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}
}

// wantedOf lists the probes that a pod should have, by the names of their markers, each marker's in its own order. Of two
// of the same name the first counts. (PPM-3.2)
func (p *planner) wantedOf(pod *corev1.Pod) (all []*wanted) {
	for i := range p.markers[pod.Namespace] {
		m := &p.markers[pod.Namespace][i]
		if m.DeletionTimestamp != nil || !m.selector.Matches(labels.Set(pod.Labels)) && !(p.stands[pod.UID][m.Name] && m.Keeps(pod)) {
			continue
		}
		m.measure()
		for i := range m.probes {
			w := &m.probes[i]
			if w.of.Name == "" || find(all, w.probe.Name) != nil {
				continue
			}
			all = append(all, w)
		}
	}
	return all
}

// standing returns the markers whose probes the pods of a NodePodProbe have, by their UIDs.
func standing(n *v1alpha1.NodePodProbe) map[types.UID]map[string]bool {
	markers := map[types.UID]map[string]bool{}
	if n == nil {
		return markers
	}
	for i := range n.Spec.PodProbes {
		entry := &n.Spec.PodProbes[i]
		markers[entry.UID] = map[string]bool{}
		for j := range entry.Probes {
			if marker, _, ok := v1alpha1.SplitProbeName(entry.Probes[j].Name); ok {
				markers[entry.UID][marker] = true
			}
		}
	}
	return markers
}

// find returns the probe of a name, nil if there is none.
func find(all []*wanted, name string) *wanted {
	for _, w := range all {
		if w.probe.Name == name {
			return w
		}
	}
	return nil
}

// planSpec makes the spec what the pods and the markers ask for. (PPM-3.2)
func (p *planner) planSpec() {
	now := p.NodePodProbe.Spec.PodProbes
	if after := p.wantedProbes(now); !equality.Semantic.DeepEqual(now, after) {
		p.plan.Spec = &v1alpha1.NodePodProbeSpec{PodProbes: after}
	}
}

// wantedProbes returns what a spec should ask for that asks for something. What stands keeps its place, and what is new
// follows. So a spec changes only if something has changed. Probes that no marker can have given stay as long as their pod.
func (p *planner) wantedProbes(now []v1alpha1.PodProbe) (after []v1alpha1.PodProbe) {
	placed := map[types.UID]bool{}
	for i := range now {
		entry := &now[i]
		if p.Namespace != "" && entry.Namespace != p.Namespace {
			after = append(after, *entry)
			continue
		}
		pod := p.byName[types.NamespacedName{Namespace: entry.Namespace, Name: entry.Name}]
		if reason := ended(entry, pod, placed); reason != "" {
			p.drop(entry, "", reason)
			continue
		}
		placed[pod.UID] = true
		if kept := p.probesOf(entry); len(kept) > 0 {
			after = append(after, v1alpha1.PodProbe{Namespace: entry.Namespace, Name: entry.Name, UID: entry.UID, IP: cmp.Or(pod.Status.PodIP, entry.IP), Probes: kept})
		}
	}
	for _, pod := range p.pods {
		if !placed[pod.UID] && len(p.wanted[pod.UID]) > 0 {
			entry := v1alpha1.PodProbe{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID, IP: pod.Status.PodIP}
			if entry.Probes = p.probesOf(&entry); len(entry.Probes) > 0 {
				after = append(after, entry)
			}
		}
	}
	return after
}

// ended says why a pod has no probes any more; empty if it may.
func ended(entry *v1alpha1.PodProbe, pod *corev1.Pod, placed map[types.UID]bool) string {
	switch {
	case pod == nil:
		return "the pod is gone"
	case pod.UID != entry.UID:
		return "the pod is gone, and another one has its name"
	case !podstate.Active(pod):
		return "the pod has ended, or is being deleted"
	case placed[pod.UID]:
		return "the pod stands here twice"
	}
	return ""
}

// probesOf returns the probes that a pod should have in place of those that it has.
func (p *planner) probesOf(entry *v1alpha1.PodProbe) (after []v1alpha1.ContainerProbe) {
	all, placed := p.wanted[entry.UID], map[string]bool{}
	if p.serverless {
		all = nil
	}
	for i := range entry.Probes {
		probe := &entry.Probes[i]
		if _, _, ours := v1alpha1.SplitProbeName(probe.Name); !ours {
			after = append(after, *probe)
			continue
		}
		w := find(all, probe.Name)
		switch {
		case p.serverless:
			p.drop(entry, probe.Name, "the node is virtual: what runs its pods probes them by their annotations")
		case w == nil:
			p.drop(entry, probe.Name, "no PodProbeMarker asks for it any more")
		case placed[probe.Name]:
			p.drop(entry, probe.Name, "the probe stands here twice")
		case !p.place(entry, w):
			p.drop(entry, probe.Name, p.room.leftOut[entry.UID][probe.Name])
		case equality.Semantic.DeepEqual(*probe, w.probe):
			after = append(after, *probe)
		default:
			after = append(after, w.probe)
		}
		placed[probe.Name] = true
	}
	for i := range all {
		if !placed[all[i].probe.Name] && p.place(entry, all[i]) {
			after = append(after, all[i].probe)
		}
	}
	return after
}

// drop notes probes that are taken away, all of a pod if no name is given.
func (p *planner) drop(entry *v1alpha1.PodProbe, name, reason string) {
	pod := types.NamespacedName{Namespace: entry.Namespace, Name: entry.Name}
	for i := range entry.Probes {
		if name == "" || entry.Probes[i].Name == name {
			p.plan.Dropped = append(p.plan.Dropped, Dropped{pod, entry.Probes[i].Name, reason})
			if name != "" {
				return
			}
		}
	}
}

func (p *planner) ignore(pod *corev1.Pod, probe, format string, args ...any) {
	p.plan.Ignored = append(p.plan.Ignored, Ignored{nameOf(pod), probe, fmt.Sprintf(format, args...)})
}
