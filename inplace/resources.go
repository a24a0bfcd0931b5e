// SPDX-License-Identifier: Apache-2.0

package inplace

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/internal/podstate"
)

// resize pairs the containers of two templates by index and name, and returns the old
// template with the cpu and memory of the new one. What still differs is no resize. Beside
// it come the quantities that change, by container, and what stands in the way of changing
// them in a running pod. (IP-35)
func resize(from, to *corev1.PodTemplateSpec) (rest *corev1.PodTemplateSpec, changes map[string]corev1.ResourceRequirements, obstacles []Obstacle) {
	copied := *from
	copied.Spec.Containers = slices.Clone(from.Spec.Containers)
	first := ""
	for i := range min(len(from.Spec.Containers), len(to.Spec.Containers)) {
		a, b := &copied.Spec.Containers[i], &to.Spec.Containers[i]
		if a.Name != b.Name {
			continue
		}
		changed, removed := resourceChanges(a.Resources, b.Resources)
		path := "/spec/containers/" + strconv.Itoa(i) + "/resources"
		for _, field := range removed {
			obstacles = append(obstacles, Obstacle{Op: opRemove, Path: path + "/" + field, Container: a.Name,
				Reason: "a request or limit cannot be taken from a running container"})
		}
		if !emptyResources(changed) {
			if changes == nil {
				changes, first = map[string]corev1.ResourceRequirements{}, path
			}
			changes[a.Name] = changed
		}
		a.Resources = withCompute(a.Resources, b.Resources)
	}
	if changes != nil {
		if why := resizeForbidden(&from.Spec, &copied.Spec); why != "" {
			obstacles = append(obstacles, Obstacle{Op: opReplace, Path: first, Reason: why})
		}
	}
	return &copied, changes, obstacles
}

// resizeForbidden says why the API server refuses to change the resources of one spec to
// those of the other, whichever they are. It is empty if it does not.
func resizeForbidden(from, to *corev1.PodSpec) string {
	switch before, after := podstate.QOSClass(from), podstate.QOSClass(to); {
	case from.Resources != nil:
		return "the resources of containers cannot be changed if the pod has some of its own, spec.resources"
	case from.OS != nil && from.OS.Name == corev1.Windows:
		return "pods of Windows cannot be resized"
	case before != after:
		return fmt.Sprintf("the QoS class of the pod would change from %s to %s, which that of a running pod cannot", before, after)
	}
	return ""
}

// resourceChanges returns the cpu and memory of a container that change, as they are
// after it, and what is removed, as limits/cpu for example.
func resourceChanges(from, to corev1.ResourceRequirements) (changed corev1.ResourceRequirements, removed []string) {
	before, after := podstate.Effective(from), podstate.Effective(to)
	for _, list := range []struct {
		field         string
		before, after corev1.ResourceList
		into          *corev1.ResourceList
	}{
		{"limits", before.Limits, after.Limits, &changed.Limits},
		{"requests", before.Requests, after.Requests, &changed.Requests},
	} {
		for _, name := range podstate.ComputeResources {
			was, had := list.before[name]
			is, has := list.after[name]
			switch {
			case had && !has:
				removed = append(removed, list.field+"/"+string(name))
			case has && (!had || was.Cmp(is) != 0):
				podstate.SetQuantity(list.into, name, is)
			}
		}
	}
	return changed, removed
}

// withCompute returns resources with the cpu and memory of others.
func withCompute(r, from corev1.ResourceRequirements) corev1.ResourceRequirements {
	r.Limits, r.Requests = r.Limits.DeepCopy(), r.Requests.DeepCopy()
	for _, name := range podstate.ComputeResources {
		delete(r.Limits, name)
		delete(r.Requests, name)
		if q, ok := from.Limits[name]; ok {
			podstate.SetQuantity(&r.Limits, name, q)
		}
		if q, ok := from.Requests[name]; ok {
			podstate.SetQuantity(&r.Requests, name, q)
		}
	}
	return r
}

func emptyResources(r corev1.ResourceRequirements) bool { return len(r.Limits)+len(r.Requests) == 0 }

// mergeResources returns quantities with those of others if they have none.
func mergeResources(own, others corev1.ResourceRequirements) corev1.ResourceRequirements {
	out := *own.DeepCopy()
	for name, q := range others.Limits {
		if _, ok := out.Limits[name]; !ok {
			podstate.SetQuantity(&out.Limits, name, q)
		}
	}
	for name, q := range others.Requests {
		if _, ok := out.Requests[name]; !ok {
			podstate.SetQuantity(&out.Requests, name, q)
		}
	}
	return out
}

// differing returns the quantities that other resources do not have as they are.
func differing(wanted, have corev1.ResourceRequirements) (out corev1.ResourceRequirements) {
	for name, q := range wanted.Limits {
		if is, ok := have.Limits[name]; !ok || is.Cmp(q) != 0 {
			podstate.SetQuantity(&out.Limits, name, q)
		}
	}
	for name, q := range wanted.Requests {
		if is, ok := have.Requests[name]; !ok || is.Cmp(q) != 0 {
			podstate.SetQuantity(&out.Requests, name, q)
		}
	}
	return out
}

// quantitiesOf returns the quantities of others that are named.
func quantitiesOf(named, others corev1.ResourceRequirements) (out corev1.ResourceRequirements) {
	for name := range named.Limits {
		if q, ok := others.Limits[name]; ok {
			podstate.SetQuantity(&out.Limits, name, q)
		}
	}
	for name := range named.Requests {
		if q, ok := others.Requests[name]; ok {
			podstate.SetQuantity(&out.Requests, name, q)
		}
	}
	return out
}

// restartsFor tells whether a container restarts when these resources change, by its
// resize policy. A request counts as well: kubelets restart for it too.
func restartsFor(c *corev1.Container, changed corev1.ResourceRequirements) bool {
	for _, policy := range c.ResizePolicy {
		_, limit := changed.Limits[policy.ResourceName]
		_, request := changed.Requests[policy.ResourceName]
		if policy.RestartPolicy == corev1.RestartContainer && (limit || request) {
			return true
		}
	}
	return false
}

// resourceWords lists quantities, as in limits.cpu 2, requests.cpu 1.
func resourceWords(r corev1.ResourceRequirements) string {
	var words []string
	for _, list := range []struct {
		field string
		of    corev1.ResourceList
	}{{"limits", r.Limits}, {"requests", r.Requests}} {
		for _, name := range podstate.ComputeResources {
			if q, ok := list.of[name]; ok {
				words = append(words, list.field+"."+string(name)+" "+q.String())
			}
		}
	}
	return strings.Join(words, ", ")
}
