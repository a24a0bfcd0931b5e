// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/podplan"
	"github.com/podwright/podwright/internal/podstate"
	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// differs says why a pod cannot be updated in place; nil if it can. (SCS-14)
func (p *planner) differs(pod *pod) *rollout.Reason {
	const annotation = v1alpha1.SidecarSetHashWithoutImageAnnotation
	switch p.recordedHash(pod.Pod, annotation) {
	case p.hashes.WithoutImage:
		return p.initDiffers(pod)
	case "":
		if _, err := injection.Records(pod.Pod, annotation); err != nil {
			p.PodProblem(&pod.View, err)
			return &rollout.Reason{Rule: ruleUnreadable, Message: err.Error()}
		}
		return &rollout.Reason{Rule: ruleNotUpgradable, Message: fmt.Sprintf("annotation %s has no record of the SidecarSet", annotation)}
	}
	return p.difference(p.recordedHash(pod.Pod, v1alpha1.SidecarSetHashAnnotation))
}

// difference says in what the containers with a hash differ from the present ones, once for
// all pods of it. (SCS-14)
func (p *planner) difference(hash string) *rollout.Reason {
	return p.once(hash, func() string {
		if revision, fields := p.changedSince(hash); len(fields) > 0 {
			return fmt.Sprintf("%s changed since revision %s", strings.Join(fields, ", "), revision)
		}
		return "something beside the images has changed"
	})
}

// changedSince names the fields, but for images, in which the containers with a hash differ from the present ones. It
// also names the revision that has that hash. Both are empty if the history does not have it.
func (p *planner) changedSince(hash string) (revision string, fields []string) {
	past := p.pastOf(hash)
	before := past.set
	if before == nil {
		return "", nil
	}
	fields = changedFields("containers", before.Spec.Containers, p.set.Spec.Containers)
	if p.Injection.CoversInitContainers(before) || p.Injection.CoversInitContainers(p.set) {
		fields = append(fields, changedFields("initContainers", before.Spec.InitContainers, p.set.Spec.InitContainers)...)
	}
	return past.revision, fields
}

// changedFields names what differs between containers of a list, but for images, sorted.
func changedFields(of string, before, after []v1alpha1.SidecarContainer) []string {
	old, present := fieldsByName(before), fieldsByName(after)
	changed := map[string]bool{}
	for name := range old {
		if present[name] == nil {
			changed[of+"["+name+"]"] = true
		}
	}
	for name, fields := range present {
		if old[name] == nil {
			changed[of+"["+name+"]"] = true
			continue
		}
		for _, side := range []map[string]any{old[name], fields} {
			for field := range side {
				if !reflect.DeepEqual(old[name][field], fields[field]) {
					changed[of+"["+name+"]."+field] = true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(changed))
}

// fieldsByName are the fields of containers but for images, by the name of the container.
func fieldsByName(containers []v1alpha1.SidecarContainer) map[string]map[string]any {
	all := make(map[string]map[string]any, len(containers))
	for i := range containers {
		var fields map[string]any
		data, err := json.Marshal(&containers[i])
		if err != nil || json.Unmarshal(data, &fields) != nil {
			continue // never: it has come from JSON
		}
		delete(fields, "image")
		all[containers[i].Name] = fields
	}
	return all
}

// initDiffers says that an init container that ends, which hashes cover, had another image when the pod started; nil if none
// had. The pod tells if the history does not: others may have replaced its images, too. (SCS-40)
func (p *planner) initDiffers(pod *pod) *rollout.Reason {
	if len(p.ending) == 0 || !p.Injection.CoversInitContainers(p.set) {
		return nil
	}
	had := pod.Spec.InitContainers
	if before := p.pastOf(p.recordedHash(pod.Pod, v1alpha1.SidecarSetHashAnnotation)).set; before != nil {
		had = nil
		for i := range before.Spec.InitContainers {
			had = append(had, before.Spec.InitContainers[i].Container)
		}
	}
	for _, container := range p.ending {
		i := slices.IndexFunc(had, func(c corev1.Container) bool { return c.Name == container.Name })
		if i < 0 || had[i].Image == container.Image {
			continue
		}
		return p.once("init "+container.Name+" "+had[i].Image, func() string {
			return fmt.Sprintf("initContainers[%s].image was %s before, and has run", container.Name, had[i].Image)
		})
	}
	return nil
}

// judgeNatives lists the pods that have native sidecars of another image: these are
// updated with their pods. (SCS-14)
func (p *planner) judgeNatives() {
	if len(p.natives) == 0 {
		return
	}
	listed := map[*corev1.Pod]bool{}
	for _, w := range p.plan.NotUpgradable {
		listed[w.Pod] = true
	}
	for _, pod := range p.pods {
		for _, native := range p.natives {
			if listed[pod.Pod] {
				break
			}
			i := slices.IndexFunc(pod.Spec.InitContainers, func(c corev1.Container) bool { return c.Name == native.Name })
			if i < 0 || pod.Spec.InitContainers[i].Image == native.Image || p.renamed(native.Image, pod.Spec.InitContainers[i].Image) {
				continue
			}
			p.plan.NotUpgradable = append(p.plan.NotUpgradable, rollout.PodWaits(pod.Pod, p.nativeDiffers(native, pod.Spec.InitContainers[i].Image)))
			break
		}
	}
}

// renamed tells whether an image in a pod is that of the spec under the name of another registry, such as a mirror. It is
// not if the SidecarSet ever had it under that name itself. Records do not tell: which native sidecars a pod got, they lose
// with its first update. (SCS-41)
func (p *planner) renamed(of, image string) bool {
	pair := [2]string{of, image}
	is, known := p.renames[pair]
	if known {
		return is
	}
	quoted := []byte(`"` + image + `"`)
	is = podstate.Renamed(of, image) &&
		!slices.ContainsFunc(p.History, func(r *appsv1.ControllerRevision) bool { return bytes.Contains(r.Data.Raw, quoted) })
	if p.renames == nil {
		p.renames = map[[2]string]bool{}
	}
	p.renames[pair] = is
	return is
}

// nativeDiffers says that a native sidecar has another image, once for all pods of it.
func (p *planner) nativeDiffers(native *v1alpha1.SidecarContainer, image string) *rollout.Reason {
	return p.once("native "+native.Name+" "+image, func() string {
		return fmt.Sprintf("initContainers[%s].image was %s before, and is updated with the pod alone", native.Name, image)
	})
}

// once makes a reason once for all pods that have the same.
func (p *planner) once(key string, message func() string) *rollout.Reason {
	if p.differences[key] == nil {
		if p.differences == nil {
			p.differences = map[string]*rollout.Reason{}
		}
		p.differences[key] = &rollout.Reason{Rule: ruleNotUpgradable, Message: message()}
	}
	return p.differences[key]
}

// reportPods reports the pods that only their owners can help: those that cannot be
// updated in place, and those that were not injected. (SCS-14, SCS-22)
func (p *planner) reportPods() {
	if p.set.Spec.UpdateStrategy.Type != v1alpha1.NotUpdateSidecarSetStrategyType {
		p.judgeNatives()
	}
	if pods := p.plan.NotUpgradable; len(pods) > 0 {
		p.Problem(notUpgradable, fmt.Errorf("%s cannot be updated in place: %s (%s); recreate them, or change it back",
			number(len(pods)), names(pods), pods[0].Reason))
	}
	if pods := p.plan.NotInjected; len(pods) > 0 {
		p.Problem(notInjected, fmt.Errorf("%s without the sidecars: %s (%s)", number(len(pods)), names(pods), pods[0].Reason))
	}
}

// number is a number of pods in words.
func number(n int) string {
	if n == 1 {
		return "1 pod"
	}
	return fmt.Sprintf("%d pods", n)
}

// names names the first of some pods.
func names(pods []rollout.Wait) string {
	all := make([]string, len(pods))
	for i, w := range pods {
		all[i] = w.Pod.Namespace + "/" + w.Pod.Name
	}
	return podplan.FirstNames(all)
}
