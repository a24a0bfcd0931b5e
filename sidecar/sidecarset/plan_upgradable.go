// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/podplan"
	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// differs says why a pod cannot be updated in place; nil where it can. (SCS-14)
func (p *planner) differs(pod *pod) *rollout.Reason {
	const annotation = v1alpha1.SidecarSetHashWithoutImageAnnotation
	switch p.recordedHash(pod.Pod, annotation) {
	case p.hashes.WithoutImage:
		return nil
	case "":
		if _, err := injection.Records(pod.Pod, annotation); err != nil {
			p.PodProblem(&pod.View, err)
			return &rollout.Reason{Rule: RuleUnreadable, Message: err.Error()}
		}
		return &rollout.Reason{Rule: RuleNotUpgradable, Message: fmt.Sprintf("annotation %s has no record of the SidecarSet", annotation)}
	}
	return p.difference(p.recordedHash(pod.Pod, v1alpha1.SidecarSetHashAnnotation))
}

// difference says in what the containers with a hash differ from the present ones, once for
// all pods of it. (SCS-14)
func (p *planner) difference(hash string) *rollout.Reason {
	if reason := p.differences[hash]; reason != nil {
		return reason
	}
	reason := &rollout.Reason{Rule: RuleNotUpgradable, Message: "something beside the images has changed"}
	if revision, fields := p.changedSince(hash); len(fields) > 0 {
		reason.Message = fmt.Sprintf("%s changed since revision %s", strings.Join(fields, ", "), revision)
	}
	if p.differences == nil {
		p.differences = map[string]*rollout.Reason{}
	}
	p.differences[hash] = reason
	return reason
}

// changedSince finds the revision whose containers have a hash, and names the fields, but
// for images, in which they differ from the present ones; none where the history does not
// have it. The revision that a pod names is of no help: it may be the one before.
func (p *planner) changedSince(hash string) (revision string, fields []string) {
	for _, r := range p.History {
		if hash == "" || r.Annotations[v1alpha1.SidecarSetHashAnnotation] != hash {
			continue
		}
		before := p.set.DeepCopy()
		if injection.Read(before, r) != nil {
			continue
		}
		injection.Default(before)
		return r.Name, changedFields(before.Spec.Containers, p.set.Spec.Containers)
	}
	return "", nil
}

// changedFields names what differs between containers, but for images, sorted.
func changedFields(before, after []v1alpha1.SidecarContainer) []string {
	old, present := fieldsByName(before), fieldsByName(after)
	changed := map[string]bool{}
	for name := range old {
		if present[name] == nil {
			changed["containers["+name+"]"] = true
		}
	}
	for name, fields := range present {
		if old[name] == nil {
			changed["containers["+name+"]"] = true
			continue
		}
		for _, side := range []map[string]any{old[name], fields} {
			for field := range side {
				if !reflect.DeepEqual(old[name][field], fields[field]) {
					changed["containers["+name+"]."+field] = true
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

// reportPods reports the pods that only their owners can help: those that cannot be
// updated in place, and those that were not injected. (SCS-14, SCS-22)
func (p *planner) reportPods() {
	if pods := p.plan.NotUpgradable; len(pods) > 0 {
		p.Problem(notUpgradable, fmt.Errorf("%s cannot be updated in place, of a running container only the image can change: %s (%s); recreate them, or change it back",
			number(pods), names(pods), pods[0].Reason))
	}
	if pods := p.plan.NotInjected; len(pods) > 0 {
		p.Problem(notInjected, fmt.Errorf("%s without the sidecars: %s (%s)", number(pods), names(pods), pods[0].Reason))
	}
}

// number says how many pods there are.
func number(pods []rollout.Wait) string {
	if len(pods) == 1 {
		return "1 pod"
	}
	return fmt.Sprintf("%d pods", len(pods))
}

// names names the first of some pods.
func names(pods []rollout.Wait) string {
	all := make([]string, len(pods))
	for i, w := range pods {
		all[i] = w.Pod.Namespace + "/" + w.Pod.Name
	}
	return podplan.FirstNames(all)
}
