// SPDX-License-Identifier: Apache-2.0

// Package nodefit tells which nodes fit a pod, for the controllers that run one pod
// on every such node. Node affinity, taints and requests are judged by
// k8s.io/component-helpers, as the scheduler and the kubelet judge them.
package nodefit

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/resource"
	schedulingcorev1 "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"
)

// Misfit says why a node does not fit a pod; empty if it does.
type Misfit string

// Why a node does not fit.
const (
	NodeName        Misfit = "NodeName"        // spec.nodeName of the pod is another node
	NodeAffinity    Misfit = "NodeAffinity"    // nodeSelector or required node affinity
	InvalidAffinity Misfit = "InvalidAffinity" // the required node affinity cannot be read
	Unschedulable   Misfit = "Unschedulable"   // the node is cordoned
	Taint           Misfit = "Taint"           // a NoSchedule or NoExecute taint is not tolerated
	Resources       Misfit = "Resources"       // the requests exceed the allocatable of the empty node
	Gone            Misfit = "Gone"            // there is no such node
)

// Checker tells which nodes fit a pod. New makes one.
type Checker struct {
	nodeName    string // of the spec, or of a pin that nothing stands beside
	affinity    nodeaffinity.RequiredNodeAffinity
	tolerations []corev1.Toleration
	requests    corev1.ResourceList
}

// New returns a Checker of a pod, which reads of it as little as it can: thousands
// of them are made for one plan.
func New(spec *corev1.PodSpec) *Checker {
	c := &Checker{nodeName: spec.NodeName, tolerations: spec.Tolerations}
	selection := corev1.PodSpec{NodeSelector: spec.NodeSelector, Affinity: spec.Affinity}
	if pinned := onlyPinnedTo(spec); pinned != "" && (spec.NodeName == "" || spec.NodeName == pinned) {
		c.nodeName, selection.Affinity = pinned, nil // needs no parser
	}
	c.affinity = nodeaffinity.GetRequiredNodeAffinity(&corev1.Pod{Spec: selection})
	c.requests = requests(spec)
	return c
}

// NewDaemon returns a Checker of a pod that runs on every node: whatever the pod
// requests, a node is no misfit for lack of resources.
func NewDaemon(spec *corev1.PodSpec) *Checker {
	c := New(&corev1.PodSpec{NodeName: spec.NodeName, NodeSelector: spec.NodeSelector, Affinity: spec.Affinity, Tolerations: spec.Tolerations})
	c.requests = nil
	return c
}

// requests returns what a pod requests. What needs no arithmetic costs no memory.
func requests(spec *corev1.PodSpec) corev1.ResourceList {
	if len(spec.Containers) == 1 && len(spec.InitContainers) == 0 && len(spec.Overhead) == 0 && spec.Resources == nil {
		return spec.Containers[0].Resources.Requests
	}
	return resource.PodRequests(&corev1.Pod{Spec: *spec}, resource.PodResourcesOptions{})
}

// Check tells why the pod does not fit a node, empty if it does. Whether the node
// is ready is only seen through its taints; what else runs on it does not count.
func (c *Checker) Check(node *corev1.Node) Misfit {
	if c.nodeName != "" && c.nodeName != node.Name {
		return NodeName
	}
	if matches, err := c.affinity.Match(node); err != nil {
		return InvalidAffinity
	} else if !matches {
		return NodeAffinity
	}
	if node.Spec.Unschedulable && !schedulingcorev1.TolerationsTolerateTaint(klog.Logger{}, c.tolerations, &unschedulable, true) {
		return Unschedulable
	}
	for i := range node.Spec.Taints {
		if taint := &node.Spec.Taints[i]; keepsAway(taint) && !schedulingcorev1.TolerationsTolerateTaint(klog.Logger{}, c.tolerations, taint, true) {
			return Taint
		}
	}
	for name, requested := range c.requests {
		if allocatable := node.Status.Allocatable[name]; !requested.IsZero() && requested.Cmp(allocatable) > 0 {
			return Resources
		}
	}
	return ""
}

// Stays tells whether a pod that runs on a node may go on there: taints that only keep
// new pods away do not count.
func (c *Checker) Stays(node *corev1.Node) bool {
	switch c.Check(node) {
	case "", Resources:
		return true
	case Unschedulable, Taint:
	default:
		return false
	}
	for i := range node.Spec.Taints {
		if taint := &node.Spec.Taints[i]; taint.Effect == corev1.TaintEffectNoExecute && !schedulingcorev1.TolerationsTolerateTaint(klog.Logger{}, c.tolerations, taint, true) {
			return false
		}
	}
	return true
}

// Unreachable tells whether nothing is heard of a node, so that its kubelet acts on no change of a pod, and since when.
// That is zero if no such taint says, which is long ago, and the latest if several do.
func Unreachable(node *corev1.Node) (since time.Time, unreachable bool) {
	for i := range node.Spec.Taints {
		if taint := &node.Spec.Taints[i]; taint.Key == corev1.TaintNodeUnreachable {
			unreachable = true
			if taint.TimeAdded != nil && taint.TimeAdded.After(since) {
				since = taint.TimeAdded.Time
			}
		}
	}
	return since, unreachable
}

var unschedulable = corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}

func keepsAway(taint *corev1.Taint) bool {
	return taint.Effect == corev1.TaintEffectNoSchedule || taint.Effect == corev1.TaintEffectNoExecute
}

// Pin has the scheduler bind a pod to a node. It takes the place of the required node
// affinity of the template, which the node has been found to match. The affinity is
// replaced, not changed: pods of one template may share it.
func Pin(spec *corev1.PodSpec, node string) {
	p := &pin{values: [1]string{node}}
	if spec.Affinity != nil {
		p.affinity = *spec.Affinity
		if spec.Affinity.NodeAffinity != nil {
			p.nodeAffinity = *spec.Affinity.NodeAffinity
		}
	}
	p.fields[0] = corev1.NodeSelectorRequirement{Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpIn, Values: p.values[:]}
	p.terms[0].MatchFields = p.fields[:]
	p.selector.NodeSelectorTerms = p.terms[:]
	p.nodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = &p.selector
	p.affinity.NodeAffinity = &p.nodeAffinity
	spec.Affinity = &p.affinity
}

// pin is what Pin makes, in one piece: it does so for thousands of pods at once.
type pin struct {
	affinity     corev1.Affinity
	nodeAffinity corev1.NodeAffinity
	selector     corev1.NodeSelector
	terms        [1]corev1.NodeSelectorTerm
	fields       [1]corev1.NodeSelectorRequirement
	values       [1]string
}

// NodeOf returns the node that a pod is on, or that Pin has pinned it to. It is empty if it is on
// none and has been pinned to none. What admission has put beside the pin does not count.
func NodeOf(pod *corev1.Pod) string {
	if pod.Spec.NodeName != "" {
		return pod.Spec.NodeName
	}
	return PinnedTo(&pod.Spec)
}

// PinnedTo returns the node that Pin has pinned a pod to. It is that of the first field metadata.name
// that names one node, whatever stands beside it; empty if there is none.
func PinnedTo(spec *corev1.PodSpec) string {
	terms := requiredTerms(spec)
	for i := range terms {
		for j := range terms[i].MatchFields {
			if node := namedBy(&terms[i].MatchFields[j]); node != "" {
				return node
			}
		}
	}
	return ""
}

// onlyPinnedTo is PinnedTo if the pin is all that the affinity requires.
func onlyPinnedTo(spec *corev1.PodSpec) string {
	terms := requiredTerms(spec)
	if len(terms) != 1 || len(terms[0].MatchExpressions) > 0 || len(terms[0].MatchFields) != 1 {
		return ""
	}
	return namedBy(&terms[0].MatchFields[0])
}

func requiredTerms(spec *corev1.PodSpec) []corev1.NodeSelectorTerm {
	if spec.Affinity == nil || spec.Affinity.NodeAffinity == nil || spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return nil
	}
	return spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
}

func namedBy(field *corev1.NodeSelectorRequirement) string {
	if field.Key != metav1.ObjectNameField || field.Operator != corev1.NodeSelectorOpIn || len(field.Values) != 1 {
		return ""
	}
	return field.Values[0]
}
