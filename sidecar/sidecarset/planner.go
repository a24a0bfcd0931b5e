// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/inplace/revision"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/podplan"
	"github.com/podwright/podwright/internal/podstate"
	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// planner holds what the steps of NewPlan hand to one another.
type planner struct {
	podplan.Planner
	*Snapshot
	plan *Plan

	set       *v1alpha1.SidecarSet // with its defaults
	hashes    injection.Hashes
	content   []byte // what a revision of 1.4 holds of the spec
	hashEnd   string // what follows the hash in a record of the SidecarSet
	ownBegins string // what records begin with, if that of the SidecarSet is the first
	sidecars  []sidecar
	names     []string                     // of their containers in pods
	natives   []*v1alpha1.SidecarContainer // the init containers that go on, unless they count as containers
	ending    []*v1alpha1.SidecarContainer // the other init containers
	selector  *injection.Selector
	chosen    labels.Selector // of the pods to update
	selection v1alpha1.SidecarSetSelection
	// unreadable says why the strategy of updates cannot be read; nil if it can.
	unreadable *rollout.Reason

	pods []*pod // the matched ones, by namespace and name

	plain    plainUpdates
	hashOf   hashOf
	unshared string                 // the last records of which foreign has found nothing
	recorded map[string]recordTexts // what injected has made of records

	differences map[string]*rollout.Reason // why pods cannot be updated, by their hash
	pasts       map[string]*past           // what the history says of hashes
	renames     map[[2]string]bool         // what renamed has found out
}

// sidecar is a container of the SidecarSet.
type sidecar struct {
	name, image             string
	hot                     bool
	native                  bool   // it is a native sidecar: one of the init containers
	first, second           string // names of both hot containers
	firstWorks, secondWorks string // their entries in the annotation of those that work
	empty                   string // the image of the one that does not work
	quoted                  string // its name as records have it
	alike                   []string
}

var zero, one = intstr.FromInt32(0), intstr.FromInt32(1)

// The conditions that report problems, as plans name them.
const (
	failedUpdate  = string(v1alpha1.SidecarSetFailedUpdatePod)
	notInjected   = string(v1alpha1.SidecarSetInjected)
	notUpgradable = string(v1alpha1.SidecarSetNotUpgradable)
	failedPolicy  = string(v1alpha1.SidecarSetFailedPolicy)
)

// read checks and computes what the spec says.
func (p *planner) read() (err error) {
	p.set = p.Set.DeepCopy()
	p.Injection.Default(p.set)
	if p.hashes, err = p.Injection.HashesOf(p.set); err != nil {
		return err
	}
	p.hashEnd, p.ownBegins = `","sidecarSetName":"`+p.Set.Name+`"`, `{"`+p.Set.Name+`":{`
	for c := range p.set.Spec.Containers {
		container := &p.set.Spec.Containers[c]
		s := sidecar{name: container.Name, image: container.Image, hot: container.UpgradeStrategy.UpgradeType == v1alpha1.SidecarContainerHotUpgrade}
		if s.hot {
			s.empty = container.UpgradeStrategy.HotUpgradeEmptyImage
			s.first, s.second = injection.HotContainers(s.name)
			s.firstWorks, s.secondWorks = fmt.Sprintf("%q:%q", s.name, s.first), fmt.Sprintf("%q:%q", s.name, s.second)
			p.names = append(p.names, s.first, s.second)
		} else {
			p.names = append(p.names, s.name)
		}
		p.add(s)
	}
	p.readNatives()
	p.readPlain()
	p.selector = injection.NewSelector(p.set)
	if problem := p.selector.Problem(); problem != "" {
		return fmt.Errorf("%s; it must select the pods to inject into", problem)
	}
	return p.readSelection()
}

func (p *planner) add(s sidecar) {
	s.quoted, s.alike = fmt.Sprintf("%q", s.name), alike(&s)
	p.sidecars = append(p.sidecars, s)
}

// readNatives reads the native sidecars, which count as containers or are told of alone. (SCS-14, SCS-40)
func (p *planner) readNatives() {
	for c := range p.set.Spec.InitContainers {
		switch container := &p.set.Spec.InitContainers[c]; {
		case !podstate.IsNative(&container.Container):
			p.ending = append(p.ending, container)
		case p.Injection.NativeSidecars:
			p.names = append(p.names, container.Name)
			p.add(sidecar{name: container.Name, image: container.Image, native: true})
		default:
			p.natives = append(p.natives, container)
		}
	}
}

// readSelection finds out since when the SidecarSet selects what it does. (SCS-23)
func (p *planner) readSelection() error {
	s := &p.set.Spec
	data, err := revision.Encode([]any{s.Selector, s.Namespace, s.NamespaceSelector, s.InjectionStrategy.Paused})
	if err != nil {
		return fmt.Errorf("hash of the selection: %w", err)
	}
	p.selection.Hash = revision.Hash(data, nil)
	switch known := p.Set.Status.Selection; {
	case known != nil && known.Hash == p.selection.Hash:
		p.selection.Since = known.Since
	case known == nil && p.Set.Generation <= 1:
		p.selection.Since = p.Set.CreationTimestamp
	default:
		p.selection.Since = metav1.NewTime(p.Now).Rfc3339Copy()
	}
	return nil
}

// readStrategy reads how pods are updated, which depends on how many there are. (SCS-7, SCS-8)
func (p *planner) readStrategy() (err error) {
	const at = "spec.updateStrategy."
	strategy, r := &p.set.Spec.UpdateStrategy, &p.plan.Rollout
	p.chosen = labels.Everything()
	if strategy.Selector != nil {
		if p.chosen, err = metav1.LabelSelectorAsSelector(strategy.Selector); err != nil {
			return fmt.Errorf(at+"selector: %w", err)
		}
	}
	if r.Partition, err = p.Features.Partition(strategy.Partition, r.Matched); err != nil {
		return fmt.Errorf(at+"%w", err)
	}
	r.MaxUnavailable, err = rollout.Count(at+"maxUnavailable", ptr.Deref(strategy.MaxUnavailable, one), r.Matched, rollout.RoundUp)
	return err
}

// classify finds out which pods are the SidecarSet's, and what every step wants to know of
// them. (SCS-1, SCS-2)
func (p *planner) classify() {
	all := make([]pod, 0, len(p.Pods))
	for _, shared := range p.Pods {
		if shared == nil || !podstate.Active(shared) || p.selector.Skips(shared, p.Namespaces[shared.Namespace]) != "" {
			continue
		}
		if !listed(shared, p.Set.Name) {
			p.judgeMissed(shared)
			continue
		}
		all = append(all, pod{View: podplan.View{Pod: shared}})
		if why := p.view(&all[len(all)-1]); why != "" {
			all = all[:len(all)-1]
			p.plan.NotInjected = append(p.plan.NotInjected, rollout.PodWaits(shared, &rollout.Reason{Rule: ruleIncomplete, Message: why}))
		}
	}
	p.pods = make([]*pod, len(all))
	for i := range all {
		p.pods[i] = &all[i]
	}
	sortPods(p.pods)
	slices.SortFunc(p.plan.NotInjected, func(a, b rollout.Wait) int { return byName(a.Pod, b.Pod) })
}

// sortPods sorts pods as byName orders them. Most SidecarSets have pods in few namespaces.
func sortPods(pods []*pod) {
	podplan.SortByName(pods, (*pod).GetName)
	if !slices.ContainsFunc(pods, func(pod *pod) bool { return pod.Namespace != pods[0].Namespace }) {
		return
	}
	in := map[string][]*pod{}
	for _, pod := range pods {
		in[pod.Namespace] = append(in[pod.Namespace], pod)
	}
	sorted := pods[:0]
	for _, namespace := range slices.Sorted(maps.Keys(in)) {
		sorted = append(sorted, in[namespace]...)
	}
}

// byName orders pods by namespace and name.
func byName(a, b *corev1.Pod) int {
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
}

// judgeMissed tells whether a pod that nothing was injected into should have been. (SCS-23)
func (p *planner) judgeMissed(pod *corev1.Pod) {
	namespace := p.Namespaces[pod.Namespace]
	if p.set.Spec.InjectionStrategy.Paused || !pod.CreationTimestamp.After(p.selection.Since.Time) ||
		namespace != nil && has(namespace.Labels, v1alpha1.SidecarSetNoInjectionLabel) {
		return
	}
	p.plan.NotInjected = append(p.plan.NotInjected, rollout.PodWaits(pod, missed))
}

var missed = &rollout.Reason{Rule: ruleNotInjected, Message: "it was created without the sidecars: recreate it once injection works"}

func has[V any](in map[string]V, key string) bool {
	_, is := in[key]
	return is
}

// finishPatches lists what the steps collected about each pod, resets first.
func (p *planner) finishPatches(updates []*pod) {
	for _, pod := range p.pods {
		if pod.Kind == PatchReset {
			p.Finish(&pod.View)
		}
	}
	p.plan.Patch = slices.Grow(p.plan.Patch, len(updates))
	for _, pod := range updates {
		p.Finish(&pod.View)
	}
	for _, pod := range p.pods {
		if pod.Kind == patchUpgradable {
			p.Finish(&pod.View)
		}
	}
}
