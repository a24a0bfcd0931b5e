// SPDX-License-Identifier: Apache-2.0

package injection

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// Input is what an injection depends on. It is not changed.
type Input struct {
	// Pod is the pod that is created. Required. Its namespace may be empty, then it is
	// that of Namespace.
	Pod *corev1.Pod
	// Namespace is the namespace of the pod. Nil: its labels are not known, so that
	// SidecarSets with a namespaceSelector do not match.
	Namespace *corev1.Namespace
	// SidecarSets are all SidecarSets, in any order. Nil ones are left out.
	SidecarSets []*v1alpha1.SidecarSet
	// Revisions are the revisions of the SidecarSets. Those that no injectionStrategy
	// names are not read.
	Revisions []*appsv1.ControllerRevision
	// Features switches what differs between releases.
	Features Features
	// Lots are numbers from 0 to below 1, drawn at random, by the names of the SidecarSets that are [Partial]. One
	// below the share of the partition is of a pod that gets the revision. One that is missing counts as 0.
	// (SCS-31)
	Lots map[string]float64
	// Now is written into the pod as the time of the injection. Required.
	Now time.Time
}

// Result is what an injection gives.
type Result struct {
	// Pod is the pod to create: a copy, or the given one if nothing is injected.
	Pod *corev1.Pod
	// SidecarSets says for each SidecarSet what has become of it, by name.
	SidecarSets []SetResult
}

// SetResult says what an injection did with a SidecarSet.
type SetResult struct {
	// Name is the name of the SidecarSet.
	Name string
	// Skipped is why it does not match the pod; empty if it does.
	Skipped string
	// Revision is the revision that was injected, of those that injectionStrategy names;
	// empty if it names none.
	Revision string
	// InitContainers and Containers are the names of what was injected; of a hot
	// container both.
	InitContainers, Containers []string
	// LeftOut are the names of containers that were not injected. A SidecarSet before this one has
	// injected one of the name. Or the pod has one of it among its init containers and this is
	// none, or the other way round.
	LeftOut []string
	// Kept says of each annotation that MergePatchJson leaves as the pod has it why. (SCI-5)
	Kept []error
}

var errNoSet = errors.New("the SidecarSet is nil")

// Inject injects into a pod what SidecarSets have for it. The error names the SidecarSet
// and what is wrong; the pod must not be created then. (SCI-1 to SCI-16)
func Inject(in Input) (*Result, error) {
	switch {
	case in.Pod == nil:
		return nil, errors.New("Input.Pod is nil; give it the pod that is created")
	case in.Now.IsZero():
		return nil, errors.New("Input.Now is zero, and would be written into the pod; set it to the present time")
	}
	r := &Result{Pod: in.Pod}
	all, err := in.matching(r)
	if err != nil || len(all) == 0 {
		return r, err
	}
	r.Pod = in.Pod.DeepCopy()
	i := injector{pod: r.Pod, own: ownContainers(in.Pod, all), sidecars: sidecarNames(all), features: in.Features, now: in.Now, taken: map[string]bool{}}
	for _, set := range all {
		patchMetadata(r.Pod, set)
	}
	for _, set := range all {
		if err := i.inject(set); err != nil {
			return nil, fmt.Errorf("SidecarSet %s: %w", set.Name, err)
		}
	}
	i.place()
	if err := i.remember(all); err != nil {
		return nil, err
	}
	return r, nil
}

// matched is a SidecarSet that matches the pod, in the revision that is injected.
type matched struct {
	*v1alpha1.SidecarSet        // with its defaults, and what a revision restores
	revision             string // to be written down
	result               *SetResult
}

// matching finds the SidecarSets that match, by name. (SCI-1 to SCI-4)
func (in *Input) matching(r *Result) ([]matched, error) {
	known := slices.DeleteFunc(slices.Clone(in.SidecarSets), func(s *v1alpha1.SidecarSet) bool { return s == nil })
	slices.SortFunc(known, func(a, b *v1alpha1.SidecarSet) int { return cmp.Compare(a.Name, b.Name) })
	r.SidecarSets = make([]SetResult, len(known))
	var all []matched
	for i, set := range known {
		result := &r.SidecarSets[i]
		result.Name = set.Name
		if result.Skipped = Matches(set, in.Pod, in.Namespace); result.Skipped != "" {
			continue
		}
		m := matched{SidecarSet: set.DeepCopy(), revision: set.Status.LatestRevision, result: result}
		earlier, err := in.injectsRevision(set)
		if err != nil {
			return nil, fmt.Errorf("SidecarSet %s: %w", set.Name, err)
		}
		if earlier {
			revision, err := Restore(m.SidecarSet, in.Revisions)
			if err != nil {
				return nil, fmt.Errorf("SidecarSet %s: spec.injectionStrategy.revision: %w", set.Name, err)
			}
			m.revision, result.Revision = revision, revision
		}
		in.Features.Default(m.SidecarSet)
		all = append(all, m)
	}
	return all, nil
}

// injector collects what is injected into a pod.
type injector struct {
	pod *corev1.Pod // with its metadata patched
	own []corev1.Container
	// sidecars are the names of all containers of the SidecarSets that match.
	sidecars sets.Set[string]
	features Features
	now      time.Time

	initBefore, init, before, after []corev1.Container
	hot                             []string        // the names of hot containers, without their number
	taken                           map[string]bool // the names of those that are injected
}

// free tells whether containers of such names can be injected, and says so in the result
// if they cannot. The names are taken then. (SCI-18)
func (i *injector) free(result *SetResult, others []corev1.Container, names ...string) bool {
	for _, name := range names {
		if i.taken[name] || slices.ContainsFunc(others, func(c corev1.Container) bool { return c.Name == name }) {
			result.LeftOut = append(result.LeftOut, names...)
			return false
		}
	}
	for _, name := range names {
		i.taken[name] = true
	}
	return true
}

// inject collects what a SidecarSet injects.
func (i *injector) inject(m matched) error {
	for c := range m.Spec.InitContainers {
		if !i.free(m.result, i.pod.Spec.Containers, m.Spec.InitContainers[c].Name) {
			continue
		}
		container, err := i.initContainer(&m.Spec.InitContainers[c])
		if err != nil {
			return err
		}
		if m.Spec.InitContainers[c].PodInjectPolicy == v1alpha1.BeforeAppContainerType {
			i.initBefore = append(i.initBefore, container)
		} else {
			i.init = append(i.init, container)
		}
		m.result.InitContainers = append(m.result.InitContainers, container.Name)
	}
	for c := range m.Spec.Containers {
		sidecar := &m.Spec.Containers[c]
		if !i.free(m.result, i.pod.Spec.InitContainers, NamesOf(sidecar)...) {
			continue
		}
		containers, err := i.containers(sidecar)
		if err != nil {
			return err
		}
		for _, container := range containers {
			if sidecar.PodInjectPolicy == v1alpha1.AfterAppContainerType {
				i.after = append(i.after, container)
			} else {
				i.before = append(i.before, container)
			}
			m.result.Containers = append(m.result.Containers, container.Name)
		}
	}
	i.volumes(m.SidecarSet)
	i.pullSecrets(m.Spec.ImagePullSecrets)
	return nil
}

// place puts the containers into the pod. One that has the name of another takes its
// place. (SCI-6, SCI-7, SCI-43)
func (i *injector) place() {
	spec, sorted := &i.pod.Spec, [][]corev1.Container{i.initBefore, i.init}
	if i.features.SortContainers {
		sorted = append(sorted, i.before, i.after)
	}
	for _, list := range sorted {
		slices.SortStableFunc(list, func(a, b corev1.Container) int { return cmp.Compare(a.Name, b.Name) })
	}
	tail := injectedTail(spec.InitContainers)
	before := replace(spec.InitContainers, i.initBefore)
	spec.InitContainers = slices.Concat(before, spec.InitContainers[:tail], among(spec.InitContainers[tail:], replace(spec.InitContainers, i.init)))
	before = replace(spec.Containers, i.before)
	after := replace(spec.Containers, i.after)
	spec.Containers = slices.Concat(before, spec.Containers, after)
}

// injectedTail is the index of the first that was injected behind a pod's own init containers. (SCI-6)
func injectedTail(containers []corev1.Container) int {
	n := len(containers)
	for n > 0 && injected(&containers[n-1]) {
		n--
	}
	return n
}

// among puts init containers, sorted by name, each behind as many of those that were injected before as have lesser
// names. The order is the same whichever SidecarSet comes first, and whether a policy or a webhook injects it.
// (SCI-6)
func among(present, added []corev1.Container) (all []corev1.Container) {
	for n := range len(present) + 1 {
		for _, c := range added {
			lesser := 0
			for p := range present {
				if present[p].Name < c.Name {
					lesser++
				}
			}
			if lesser == n {
				all = append(all, c)
			}
		}
		if n < len(present) {
			all = append(all, present[n])
		}
	}
	return all
}

// replace replaces those of the containers that have the name of an injected one, and
// returns the injected ones that are left.
func replace(containers, injected []corev1.Container) (left []corev1.Container) {
	for _, c := range injected {
		at := slices.IndexFunc(containers, func(other corev1.Container) bool { return other.Name == c.Name })
		if at < 0 {
			left = append(left, c)
			continue
		}
		containers[at] = c
	}
	return left
}

// volumes adds the volumes that the containers of a SidecarSet mount by themselves.
// (SCI-11)
func (i *injector) volumes(set *v1alpha1.SidecarSet) {
	mounted := map[string]bool{}
	for _, c := range slices.Concat(set.Spec.InitContainers, set.Spec.Containers) {
		for _, mount := range c.VolumeMounts {
			mounted[mount.Name] = true
		}
		for _, device := range c.VolumeDevices {
			mounted[device.Name] = true
		}
	}
	for _, v := range set.Spec.Volumes {
		if has := slices.ContainsFunc(i.pod.Spec.Volumes, func(other corev1.Volume) bool { return other.Name == v.Name }); mounted[v.Name] && !has {
			i.pod.Spec.Volumes = append(i.pod.Spec.Volumes, v)
		}
	}
}

// pullSecrets adds pull secrets that the pod does not have. (SCI-11)
func (i *injector) pullSecrets(secrets []v1alpha1.SidecarSetPullSecret) {
	for _, s := range secrets {
		if reference := (corev1.LocalObjectReference{Name: s.Name}); !slices.Contains(i.pod.Spec.ImagePullSecrets, reference) {
			i.pod.Spec.ImagePullSecrets = append(i.pod.Spec.ImagePullSecrets, reference)
		}
	}
}
