// SPDX-License-Identifier: Apache-2.0

package podpatch

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Resize is the subresource of pods that changes cpu and memory. It takes nothing else:
// neither labels nor annotations.
const Resize = "resize"

// resizes returns the quantities of a container that change; nil if none does.
func (p *Patch) resizes(c *corev1.Container) *resourcesBody {
	wanted, ok := p.Resources[c.Name]
	if !ok {
		return nil
	}
	body := resourcesBody{Limits: differing(wanted.Limits, c.Resources.Limits), Requests: differing(wanted.Requests, c.Resources.Requests)}
	if len(body.Limits)+len(body.Requests) == 0 {
		return nil
	}
	return &body
}

// resize is the spec of the request that changes resources; nil if all stand.
func (p *Patch) resize(pod *corev1.Pod) *specBody {
	var out []containerBody
	for i := range pod.Spec.Containers {
		c := &pod.Spec.Containers[i]
		if body := p.resizes(c); body != nil {
			out = append(out, containerBody{Name: c.Name, Resources: body})
		}
	}
	if out == nil {
		return nil
	}
	return &specBody{Containers: out}
}

func differing(wanted, have corev1.ResourceList) (out corev1.ResourceList) {
	for name, q := range wanted {
		if is, ok := have[name]; ok && is.Cmp(q) == 0 {
			continue
		}
		if out == nil {
			out = corev1.ResourceList{}
		}
		out[name] = q
	}
	return out
}

// with returns a list with the quantities of another one, which win. The lists stay as they are.
func with(list, others corev1.ResourceList) corev1.ResourceList {
	if len(others) == 0 {
		return list
	}
	out := maps.Clone(list)
	if out == nil {
		out = corev1.ResourceList{}
	}
	maps.Copy(out, others)
	return out
}

// describeResources lists quantities, as in limits.cpu 2, requests.cpu 1.
func describeResources(r corev1.ResourceRequirements) string {
	var words []string
	add := func(field string, list corev1.ResourceList) {
		for _, name := range slices.Sorted(maps.Keys(list)) {
			q := list[name]
			words = append(words, fmt.Sprintf("%s.%s %s", field, name, q.String()))
		}
	}
	add("limits", r.Limits)
	add("requests", r.Requests)
	return strings.Join(words, ", ")
}
