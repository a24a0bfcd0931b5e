// SPDX-License-Identifier: Apache-2.0

package broadcastjob

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/nodefit"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// planner holds what the steps of NewPlan hand to one another.
type planner struct {
	*Snapshot
	plan   *Plan
	status v1alpha1.BroadcastJobStatus // the planned one

	nodes  []node        // by name
	active []*corev1.Pod // in any order
	// restarting are those that count as failed because they restarted too often.
	restarting []*corev1.Pod
	// formers are pods that ran on another node of the name, beside the pod that tells how far the node is.
	formers []*corev1.Pod
	// astray is how many pods are not on a node that waits for them. That is unscheduled ones
	// for no node, and all but one of those on the same node.
	astray int
	// late are pods that are to be deleted, and wait for their turn, or for the end of a back-off.
	late []Deletion
	// creating are the nodes for which pods are created.
	creating []string
	// before are the results that stand in the status, and results are those that the nodes will
	// have. Unnamed are those of nodes that are gone, whose names the status does not hold.
	before  *results
	results map[string]v1alpha1.BroadcastJobNodeResult
	unnamed map[uint64]v1alpha1.BroadcastJobNodeResult
}

// node is a node with what every step wants to know of it.
type node struct {
	name     string
	object   *corev1.Node // nil: there is no such node
	pod      *corev1.Pod  // the one that tells how far the node is, nil: none
	state    State        // empty: the job is not about the node
	misfit   nodefit.Misfit
	again    bool   // the node fits the template, and not the pod, which no scheduler has bound
	disowned string // the name of a pod that is the job's no more, and is there
	former   bool   // the pod ran on another node of the name, and tells nothing of this one
}

// desired tells whether the job is for a node. (BJ-7)
func (n *node) desired() bool {
	return n.state == Succeeded || n.state == Failed || n.state != "" && n.misfit == ""
}

// done tells whether a node has a result.
func (n *node) done() bool { return n.state == Succeeded || n.state == Failed }

// observe finds out how far every node is.
func (p *planner) observe() {
	p.nodes = make([]node, 0, len(p.Nodes))
	for _, object := range p.Nodes {
		p.nodes = append(p.nodes, node{name: object.Name, object: object})
	}
	slices.SortFunc(p.nodes, func(a, b node) int { return cmp.Compare(a.name, b.name) })
	p.before = readResults(p.Job.UID, &p.Job.Status)
	p.placePods()
	p.results = make(map[string]v1alpha1.BroadcastJobNodeResult, len(p.Job.Status.NodeResults))
	template := nodefit.New(&p.Job.Spec.Template.Spec)
	for i := range p.nodes {
		n := &p.nodes[i]
		p.judge(n, template)
		if n.done() {
			p.results[n.name] = v1alpha1.BroadcastJobNodeResult(n.state)
		}
		if n.state != "" {
			p.plan.Nodes = append(p.plan.Nodes, Node{n.name, n.state, string(n.misfit)})
		}
	}
	p.findUnnamed()
	p.reportTerminating()
}

// placePods finds the pods of all nodes. (BJ-4)
func (p *planner) placePods() {
	index := make(map[string]int, len(p.nodes)+len(p.Job.Status.NodeResults))
	for i := range p.nodes {
		index[p.nodes[i].name] = i
	}
	known := len(p.nodes)
	at := func(name string) *node {
		i, found := index[name]
		if !found {
			i = len(p.nodes)
			index[name] = i
			p.nodes = append(p.nodes, node{name: name, misfit: nodefit.Gone})
		}
		return &p.nodes[i]
	}
	var twice, nowhere []string
	for _, pod := range p.Pods {
		if !p.owns(pod) {
			if i, there := index[nodefit.NodeOf(pod)]; there && metav1.IsControlledBy(pod, p.Job) {
				p.nodes[i].disowned = pod.Name
			}
			continue
		}
		state := p.take(pod)
		name := nodefit.NodeOf(pod)
		if name == "" { // it counts as active
			if state == Active {
				nowhere = append(nowhere, pod.Name)
			}
			continue
		}
		n := at(name)
		if n.pod != nil {
			twice = append(twice, name)
			if state != Leaving && n.state != Leaving {
				p.astray++
			}
		}
		if n.pod == nil || before(state, pod, n) {
			pod, state, n.pod, n.state = n.pod, n.state, pod, state
		}
		if pod != nil && p.ranElsewhere(n.object, pod, state) {
			p.formers = append(p.formers, pod)
		}
	}
	p.reportNowhere(nowhere)
	if p.always() { // with Never, a result leaves with its node (BJ-15)
		for name := range p.Job.Status.NodeResults {
			at(name)
		}
	}
	gone := p.nodes[known:]
	slices.SortFunc(gone, func(a, b node) int { return cmp.Compare(a.name, b.name) })
	if len(twice) > 0 {
		slices.Sort(twice)
		p.event(Event{Type: corev1.EventTypeWarning, Reason: eventDuplicatePod, Lasting: true,
			Message: fmt.Sprintf("More than one pod on node %s", strings.Join(slices.Compact(twice), ", "))})
	}
}

// reportNowhere reports pods that are for no node. (BJ-27)
func (p *planner) reportNowhere(pods []string) {
	if p.astray += len(pods); len(pods) > 0 {
		p.event(Event{Type: corev1.EventTypeWarning, Reason: eventPodWithoutNode, Lasting: true,
			Message: fmt.Sprintf("%d pods are on no node, and their affinity names none, as that of pod %s: what changes pods as they are created "+
				"must leave them the field metadata.name of their node affinity; as many nodes wait for a pod", len(pods), slices.Min(pods))})
	}
}

// take takes a pod of the job for one of those that run, if it does, and tells how
// far it is.
func (p *planner) take(pod *corev1.Pod) State {
	state := p.stateOf(pod)
	switch {
	case state == Active:
		p.active = append(p.active, pod)
	case state == Failed && pod.Status.Phase != corev1.PodFailed && pod.DeletionTimestamp == nil:
		p.restarting = append(p.restarting, pod)
	}
	return state
}

// before tells whether a pod tells more about its node than the one found so far. That is
// the one that is further, or else the one whose name comes first. (BJ-22)
func before(state State, pod *corev1.Pod, n *node) bool {
	return cmp.Or(cmp.Compare(rank(state), rank(n.state)), cmp.Compare(n.pod.Name, pod.Name)) > 0
}

func rank(state State) int { return slices.Index([]State{Leaving, Active, Failed, Succeeded}, state) }

// owns tells whether a pod is one of the job's. (BJ-21)
func (p *planner) owns(pod *corev1.Pod) bool {
	return metav1.IsControlledBy(pod, p.Job) && pod.Labels[v1alpha1.BroadcastJobNameLabel] == p.Job.Name &&
		pod.Labels[v1alpha1.BroadcastJobControllerUIDLabel] == string(p.Job.UID)
}

// stateOf tells how far a pod is. (BJ-5)
func (p *planner) stateOf(pod *corev1.Pod) State {
	switch {
	case pod.Status.Phase == corev1.PodSucceeded:
		return Succeeded
	case p.isStuck(pod):
		return Failed
	case pod.DeletionTimestamp != nil: // a container that is killed fails, which says nothing about the job
		return Leaving
	case pod.Status.Phase == corev1.PodFailed,
		pod.Spec.RestartPolicy == corev1.RestartPolicyOnFailure && controller.RestartsOf(pod) > p.Job.Spec.FailurePolicy.RestartLimit:
		return Failed
	}
	return Active
}

// judge finds out how far a node is, by its pod and by the result that stands in the
// status, and whether it fits. (BJ-5, BJ-7)
func (p *planner) judge(n *node, template *nodefit.Checker) {
	result := State(p.before.of(n.name))
	if n.former = p.isFormer(n); n.former {
		n.state = Leaving
	}
	if n.former || n.object == nil && !p.always() || n.pod == nil && result == Failed && p.Job.Spec.FailurePolicy.Type == v1alpha1.FailurePolicyTypePause {
		result = "" // the user has deleted the failed pod to have the node run again (BJ-9)
	}
	switch {
	case n.pod == nil, n.state == Leaving, p.Job.Status.Phase == v1alpha1.PhaseFailed && n.state == Active:
		if result != "" {
			n.state = result
		}
	}
	if n.object == nil {
		n.misfit = nodefit.Gone
		return
	}
	switch {
	case n.pod != nil && n.pod.DeletionTimestamp == nil && !n.former:
		n.misfit = nodefit.New(&n.pod.Spec).Check(n.object)
		n.again = n.misfit != "" && n.pod.Spec.NodeName == "" && template.Check(n.object) == ""
	case n.state == "" || n.state == Leaving:
		n.misfit = template.Check(n.object)
		if n.state == "" && n.misfit == "" {
			n.state = Waiting
		}
	}
}

// findUnnamed finds the results of nodes that are gone, whose names the status does not hold. They stand and go as those of
// others without a node and a pod. (BJ-9, BJ-15, BJ-29)
func (p *planner) findUnnamed() {
	if !p.always() {
		return
	}
	p.unnamed = p.before.without(p.nodes)
	if p.Job.Spec.FailurePolicy.Type == v1alpha1.FailurePolicyTypePause {
		maps.DeleteFunc(p.unnamed, func(_ uint64, result v1alpha1.BroadcastJobNodeResult) bool { return result == v1alpha1.NodeFailed })
	}
}

// isFormer tells whether a finished pod of a job that never ends is older than the node
// of its name. That node has joined in place of the one on which the pod ran. (BJ-15)
func (p *planner) isFormer(n *node) bool {
	return n.pod != nil && p.ranElsewhere(n.object, n.pod, n.state)
}

// ranElsewhere tells the same of any pod for the node.
func (p *planner) ranElsewhere(on *corev1.Node, pod *corev1.Pod, state State) bool {
	return !p.always() && (state == Succeeded || state == Failed) && on != nil && pod.CreationTimestamp.Time.Before(on.CreationTimestamp.Time)
}

// count counts what has been observed. (BJ-8)
func (p *planner) count() {
	s := &p.status
	s.Active, s.Succeeded, s.Failed, s.Desired = int32(len(p.active)), 0, 0, 0
	for i := range p.nodes {
		n := &p.nodes[i]
		if n.desired() {
			s.Desired++
		}
		switch n.state {
		case Succeeded:
			s.Succeeded++
		case Failed:
			s.Failed++
		}
	}
	for _, result := range p.unnamed {
		s.Desired++
		if result == v1alpha1.NodeSucceeded {
			s.Succeeded++
		} else {
			s.Failed++
		}
	}
	for _, d := range p.plan.Delete {
		if d.Active {
			s.Active--
		}
	}
}

// parallelism is how many pods may be active at the same time. A percentage of the
// desired nodes is rounded up. (BJ-12)
func parallelism(value *intstr.IntOrString, desired int32) (int32, error) {
	if value == nil {
		return v1alpha1.DefaultBroadcastJobParallelism, nil
	}
	if value.Type == intstr.String && !strings.HasSuffix(value.StrVal, "%") {
		n, err := strconv.ParseInt(value.StrVal, 10, 32)
		if err != nil {
			return 0, fmt.Errorf("spec.parallelism: found %q, want a number such as 3 or a whole percentage such as \"30%%\"", value.StrVal)
		}
		return max(int32(n), 0), nil
	}
	n, err := rollout.Count("parallelism", *value, desired, rollout.RoundUp)
	if err != nil {
		return 0, fmt.Errorf("spec.%w", err)
	}
	return n, nil
}

func (p *planner) event(e Event) { p.plan.Events = append(p.plan.Events, e) }

// problem reports what is wrong with the spec.
func (p *planner) problem(err error) {
	p.plan.Problems = append(p.plan.Problems, rollout.Problem{Err: err})
	p.event(Event{Type: corev1.EventTypeWarning, Reason: eventInvalidSpec, Message: err.Error(), Lasting: true})
}

// requeueAfter asks for another reconcile after d at the latest.
func (p *planner) requeueAfter(d time.Duration) {
	p.plan.RequeueAfter = apply.Soonest(p.plan.RequeueAfter, max(d, time.Millisecond))
}
