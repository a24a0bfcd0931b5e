// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"fmt"
	"regexp"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/podwright/podwright/internal/podstate"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// Aggregate is what the targets of a policy have together, of cpu and memory. (SCI-28)
type Aggregate struct {
	// Requests have both resources. What a container does not request is 0.
	Requests corev1.ResourceList
	// Limits lack a resource that any container has no limit of.
	Limits corev1.ResourceList
}

// computed are the resources that a policy is about.
var computed = []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory}

// Sum adds what the containers have.
func Sum(containers []corev1.Container) Aggregate {
	return aggregate(containers, func(total *resource.Quantity, more resource.Quantity) { total.Add(more) })
}

// Max takes the largest that a container has.
func Max(containers []corev1.Container) Aggregate {
	return aggregate(containers, func(total *resource.Quantity, more resource.Quantity) {
		if more.Cmp(*total) > 0 {
			*total = more.DeepCopy()
		}
	})
}

func aggregate(containers []corev1.Container, include func(*resource.Quantity, resource.Quantity)) Aggregate {
	out := Aggregate{Requests: corev1.ResourceList{}, Limits: corev1.ResourceList{}}
	for _, name := range computed {
		requests, limits, unlimited := zero(name), zero(name), len(containers) == 0
		for i := range containers {
			include(&requests, containers[i].Resources.Requests[name])
			limit, ok := containers[i].Resources.Limits[name]
			include(&limits, limit)
			unlimited = unlimited || !ok
		}
		out.Requests[name] = requests
		if !unlimited {
			out.Limits[name] = limits
		}
	}
	return out
}

// zero is none of a resource, in the format in which it is written.
func zero(name corev1.ResourceName) resource.Quantity {
	if name == corev1.ResourceMemory {
		return resource.Quantity{Format: resource.BinarySI}
	}
	return resource.Quantity{Format: resource.DecimalSI}
}

// Policy is a resources policy that has been read. NewPolicy makes one. It may be used by many goroutines.
type Policy struct {
	mode             v1alpha1.TargetContainersMode
	names            *regexp.Regexp
	limits, requests map[corev1.ResourceName]*Expression
}

// NewPolicy reads a policy. An empty regular expression stands for all names, as the API server's default does. (SCI-25)
func NewPolicy(policy *v1alpha1.ResourcesPolicy) (*Policy, error) {
	pattern := policy.TargetContainersNameRegex
	if pattern == "" {
		pattern = ".*"
	}
	names, err := regexp.Compile(pattern)
	if err != nil {
		return nil, fmt.Errorf("invalid regex pattern: %w", err)
	}
	p := &Policy{mode: policy.TargetContainersMode, names: names}
	if p.limits, err = expressions("limits", policy.ResourcesExpr.Limits); err != nil {
		return nil, err
	}
	p.requests, err = expressions("requests", policy.ResourcesExpr.Requests)
	return p, err
}

func expressions(side string, written *v1alpha1.ResourceExpr) (map[corev1.ResourceName]*Expression, error) {
	out := map[corev1.ResourceName]*Expression{}
	if written == nil {
		return out, nil
	}
	for name, text := range map[corev1.ResourceName]string{corev1.ResourceCPU: written.CPU, corev1.ResourceMemory: written.Memory} {
		if text == "" {
			continue
		}
		e, err := Parse(text, string(name))
		if err != nil {
			return nil, fmt.Errorf("%s %s expression: %w", name, side, err)
		}
		out[name] = e
	}
	return out, nil
}

// Targets returns the containers of a pod that the policy is about, in the order of the pod. They are the regular ones and
// the native sidecars with such a name, but none whose name injected holds. (SCI-27)
func (p *Policy) Targets(spec *corev1.PodSpec, injected func(name string) bool) (targets []corev1.Container) {
	for i := range spec.InitContainers {
		if podstate.IsNative(&spec.InitContainers[i]) {
			targets = p.add(targets, spec.InitContainers[i:i+1], injected)
		}
	}
	return p.add(targets, spec.Containers, injected)
}

func (p *Policy) add(targets, containers []corev1.Container, injected func(string) bool) []corev1.Container {
	for i := range containers {
		if name := containers[i].Name; p.names.MatchString(name) && !injected(name) {
			targets = append(targets, containers[i])
		}
	}
	return targets
}

// Compute returns the requests and limits of a sidecar beside the targets. A side without an expression stays nil. It returns an error if
// there is no target, and if an expression has no result. (SCI-25, SCI-28, SCI-29)
func (p *Policy) Compute(targets []corev1.Container) (corev1.ResourceRequirements, error) {
	if len(targets) == 0 {
		return corev1.ResourceRequirements{}, fmt.Errorf("no containers match the regex pattern %q", p.names)
	}
	of := Sum(targets)
	if p.mode == v1alpha1.TargetContainersMax {
		of = Max(targets)
	}
	limits, err := evaluate("limits", p.limits, of.Limits)
	if err != nil {
		return corev1.ResourceRequirements{}, err
	}
	requests, err := evaluate("requests", p.requests, of.Requests)
	if err != nil {
		return corev1.ResourceRequirements{}, err
	}
	for name, limit := range limits {
		if request, ok := requests[name]; ok && request.Cmp(limit) > 0 {
			requests[name] = limit.DeepCopy()
		}
	}
	return corev1.ResourceRequirements{Limits: limits, Requests: requests}, nil
}

// evaluate computes a side: a resource that the targets have together, by its expression.
func evaluate(side string, expressions map[corev1.ResourceName]*Expression, of corev1.ResourceList) (corev1.ResourceList, error) {
	var out corev1.ResourceList
	for _, name := range computed {
		value, has := of[name]
		e := expressions[name]
		if e == nil || !has {
			continue
		}
		result, err := e.Evaluate(value, name == corev1.ResourceMemory)
		if err != nil {
			return nil, fmt.Errorf("failed to evaluate %s %s expression: %w", name, side, err)
		}
		if out == nil {
			out = corev1.ResourceList{}
		}
		out[name] = result
	}
	return out, nil
}

// tried are the values with which an expression is tried at admission: what containers have.
var tried = map[corev1.ResourceName][]string{
	corev1.ResourceCPU:    {"0", "1m", "100m", "1", "64"},
	corev1.ResourceMemory: {"0", "1", "64Mi", "1Gi", "1Ti"},
}

// Try computes every expression for several values, and returns an error if one has no result for any of them. cpu-100m has none for 0,
// and is no error: it has one for most pods. (SCI-26)
func (p *Policy) Try() error {
	for _, side := range []struct {
		name        string
		expressions map[corev1.ResourceName]*Expression
	}{{"limits", p.limits}, {"requests", p.requests}} {
		for _, name := range computed {
			e := side.expressions[name]
			if e == nil {
				continue
			}
			if err := e.try(name); err != nil {
				return fmt.Errorf("%s %s expression: %w", name, side.name, err)
			}
		}
	}
	return nil
}

// try returns the first error of an expression that has no result for any value.
func (e *Expression) try(name corev1.ResourceName) (first error) {
	for _, text := range tried[name] {
		_, err := e.Evaluate(resource.MustParse(text), name == corev1.ResourceMemory)
		if err == nil {
			return nil
		}
		if first == nil {
			first = fmt.Errorf("if %s is %s: %w", name, text, err)
		}
	}
	return first
}
