// SPDX-License-Identifier: Apache-2.0

package imagepulljob

import (
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/images"
)

// planner holds what the steps of NewPlan hand to one another.
type planner struct {
	*Snapshot
	plan *Plan

	image images.Reference
	nodes []node // what plan.Nodes is about

	secretsKnown bool     // whether it is known which pull secrets nodes can have
	leftOut      []string // why they cannot have the others
	heldUp       []string // what else holds up the job
}

// node is a node of the job with what every step wants to know of it.
type node struct {
	*v1alpha1.NodeImage
	state State
	// task is the one that the job owns, nil if it is not synced.
	task *v1alpha1.ImageTagSpec
}

// read finds out what the spec says.
func (p *planner) read() {
	var err error
	if p.image, err = images.ParseReference(p.Job.Spec.Image); err != nil {
		p.problem(fmt.Errorf("spec.%w", err))
	}
	switch t := p.Job.Spec.CompletionPolicy.Type; t {
	case "", v1alpha1.Always, v1alpha1.Never:
	default:
		p.problem(fmt.Errorf("spec.completionPolicy.type: found %q, want Always or Never", t))
	}
	p.plan.Image, p.plan.Tag = p.image.Name(), p.image.Version()
}

// findNodes finds the nodes of the job, and how far each of them is.
func (p *planner) findNodes() {
	names, err := p.names()
	if err != nil {
		p.problem(err)
		return
	}
	for _, name := range names {
		n := p.NodeImages[name]
		if n == nil || n.DeletionTimestamp != nil {
			p.wait(name, &rollout.Reason{Rule: ruleNoNodeImage, Message: "the node has no NodeImage, so no agent pulls images there"})
			continue
		}
		state, task := p.stateOf(n)
		p.nodes = append(p.nodes, node{n, state, task})
		p.plan.Nodes = append(p.plan.Nodes, Node{name, state})
	}
	p.plan.Parallelism, err = parallelism(p.Job.Spec.Parallelism, int32(len(p.nodes)))
	if err != nil {
		p.problem(err)
	}
}

// stateOf tells how far a node is with the job's task. (IMG-1.5)
func (p *planner) stateOf(n *v1alpha1.NodeImage) (State, *v1alpha1.ImageTagSpec) {
	task := images.FindTask(n, p.image)
	if task == nil || !images.IsTaskOwner(task, p.Job.UID) {
		return NotSynced, nil
	}
	status := images.StatusOf(n, p.image.Name(), task.Tag)
	if status == nil || status.Version != task.Version {
		return Active, task
	}
	switch status.Phase {
	case v1alpha1.ImagePhaseSucceeded:
		return Succeeded, task
	case v1alpha1.ImagePhaseFailed:
		return Failed, task
	}
	return Active, task
}

// parallelism is how many of the nodes may pull at the same time. A percentage
// of them is rounded up. (IMG-1.4)
func parallelism(value *intstr.IntOrString, nodes int32) (int32, error) {
	if value == nil {
		return v1alpha1.DefaultImagePullParallelism, nil
	}
	if value.Type == intstr.String && !strings.HasSuffix(value.StrVal, "%") {
		n, err := strconv.ParseInt(value.StrVal, 10, 32)
		if err != nil {
			return 0, fmt.Errorf("spec.parallelism: found %q, want a number such as 3 or a whole percentage such as \"30%%\"", value.StrVal)
		}
		return max(int32(n), 0), nil
	}
	n, err := rollout.Count("parallelism", *value, nodes, rollout.RoundUp)
	if err != nil {
		return 0, fmt.Errorf("spec.%w", err)
	}
	return n, nil
}
