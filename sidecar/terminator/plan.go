// SPDX-License-Identifier: Apache-2.0

package terminator

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/podstate"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// Plan is what to do about a pod now: data, to be looked at, compared and applied. The
// same Snapshot gives the same Plan. What it writes is written in this order: Images,
// Phase, Create. If one write fails, the next is not made. (ST-8)
type Plan struct {
	// Images are the images to set, by container. Empty sets none.
	Images map[string]string
	// Create is the request to create, nil for none.
	Create *lifecyclev1alpha1.ContainerRecreateRequest
	// Phase is the phase to write into the pod's status, unless the pod has changed:
	// Succeeded or Failed, by the main containers. Empty leaves it to the kubelet, and
	// PhaseReason says why it is not.
	Phase       corev1.PodPhase
	PhaseReason string

	// Waiting lists the containers that are waited for, or what the whole pod waits for, each with the reason.
	Waiting []rollout.Wait
	// RequeueAfter is the time after which the plan may be another without any event;
	// 0 when only events can change it.
	RequeueAfter time.Duration

	// Took is the time from the end of the last main container to now, if the pod
	// has ended; 0 otherwise. The first is by the clock of the node, in whole seconds.
	Took time.Duration

	// Problems say why no plan can be made: the Snapshot has no Pod. Empty if one can.
	Problems []rollout.Problem
}

// What the termination of sidecars waits for.
const (
	// ruleNodeUnknown: the node of the pod is not known.
	ruleNodeUnknown rollout.Rule = "NodeUnknown"
	// ruleNotRunning: sidecars are terminated while the pod is Running, which it is not.
	ruleNotRunning rollout.Rule = "NotRunning"
	// ruleKubelet: the kubelet has not told of all containers, or not of their end.
	ruleKubelet rollout.Rule = "Kubelet"
	// ruleMainContainer: a main container has not finished.
	ruleMainContainer rollout.Rule = "MainContainer"
	// ruleStop: the container is stopped by a request.
	ruleStop rollout.Rule = "Stop"
	// ruleNoAgent: a virtual node has no agent that stops the container.
	ruleNoAgent rollout.Rule = "NoAgent"
	// ruleImage: the container exits once it runs another image.
	ruleImage rollout.Rule = "ImageReplaced"
	// ruleRestart: all containers are started again.
	ruleRestart rollout.Rule = "Restart"
)

// nodeRetry is after how long a node that is not known is looked for again. Pods of
// nodes that are gone are deleted by Kubernetes itself.
const nodeRetry = time.Minute

// RequestName is the name of the request that stops the sidecars of a pod. (ST-11)
func RequestName(pod types.UID) string {
	return v1alpha1.SidecarTerminationRequestPrefix + string(pod)
}

// NewPlan decides what to do about the sidecars of a pod. It never fails: a Snapshot without
// a Pod gives an empty plan with that problem.
func NewPlan(s *Snapshot) *Plan {
	p := &planner{Snapshot: s, plan: &Plan{}}
	switch {
	case s == nil || s.Pod == nil:
		p.plan.Problems = rollout.ProblemsOf(errors.New("the Snapshot has no Pod; give it the pod to plan for"))
	case !hasSidecars(s.Pod) || s.Pod.DeletionTimestamp != nil:
	case podstate.Ended(s.Pod):
		p.measure()
		if s.Request == nil && !s.leavesPhase() && isGiven(s.Pod) && p.nodeKnown() {
			p.follow()
		}
	case !isDue(s.Pod):
		p.waitForMains()
	case p.nodeKnown():
		p.terminate()
	}
	return p.plan
}

// nodeKnown tells whether the node is known, which says how sidecars are terminated.
// Otherwise it has it looked for again. (ST-6)
func (p *planner) nodeKnown() bool {
	if p.Node != nil {
		return true
	}
	p.plan.RequeueAfter = nodeRetry
	p.wait(ruleNodeUnknown, "", "node %q is not known", p.Pod.Spec.NodeName)
	return false
}

// planner holds what the steps of NewPlan hand to one another.
type planner struct {
	*Snapshot
	plan *Plan
	// mains are the main containers, all of them finished; left the sidecars that are
	// not.
	mains, left []container
}

// terminate plans what ends the sidecars that are left.
func (p *planner) terminate() {
	mains, sidecars, _ := containersOf(p.Pod)
	p.mains, p.left = mains, unfinished(p.Pod, sidecars)
	p.replaceImages()
	p.request()
	p.decide()
	if p.plan.Phase != "" {
		p.plan.Waiting, p.plan.RequeueAfter = nil, 0
	}
}

// replaceImages plans the image of each sidecar that has one to exit with. An image that
// stands already is not written again. (ST-10)
func (p *planner) replaceImages() {
	for i := range p.left {
		c := &p.left[i]
		_, image := methodsOf(c.Container, p.virtual())
		if image == "" || c.has(image) || c.status.State.Terminated != nil { // ST-9
			continue
		}
		if p.plan.Images == nil {
			p.plan.Images = map[string]string{}
		}
		p.plan.Images[c.Name] = image
	}
}

// request plans the request for the sidecars to stop, unless there is one, however
// far it is. What waits for the kubelet takes it back. (ST-11, ST-15.1)
func (p *planner) request() {
	if p.Request != nil {
		return
	}
	var names []string
	running := false
	for i := range p.left {
		c := &p.left[i]
		if byRequest, _ := methodsOf(c.Container, p.virtual()); !byRequest || c.status.State.Terminated != nil || c.status.ContainerID == "" {
			continue
		}
		names = append(names, c.Name)
		running = running || c.running()
	}
	if len(names) == 0 || !running && p.outcome() != "" { // then there is nothing to stop (ST-14)
		return
	}
	slices.Sort(names)
	p.plan.Create = newRequest(p.Pod, names)
}

func newRequest(pod *corev1.Pod, containers []string) *lifecyclev1alpha1.ContainerRecreateRequest {
	r := &lifecyclev1alpha1.ContainerRecreateRequest{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: pod.Namespace, Name: RequestName(pod.UID),
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(pod, corev1.SchemeGroupVersion.WithKind("Pod"))},
		},
		Spec: lifecyclev1alpha1.ContainerRecreateRequestSpec{
			PodName: pod.Name,
			Strategy: &lifecyclev1alpha1.ContainerRecreateRequestStrategy{
				ForceRecreate: true, FailurePolicy: lifecyclev1alpha1.ContainerRecreateRequestFailurePolicyIgnore,
			},
		},
	}
	for _, name := range containers {
		r.Spec.Containers = append(r.Spec.Containers, lifecyclev1alpha1.ContainerRecreateRequestContainer{Name: name})
	}
	return r
}

// measure plans to measure how long a pod took to end. (ST-17)
func (p *planner) measure() {
	mains, _, complete := containersOf(p.Pod)
	if !complete {
		return
	}
	var last time.Time
	for i := range mains {
		ended := mains[i].status.State.Terminated
		if ended == nil {
			return
		}
		if ended.FinishedAt.After(last) {
			last = ended.FinishedAt.Time
		}
	}
	if !last.IsZero() {
		p.plan.Took = max(p.Now.Sub(last), 1)
	}
}

// waitForMains says what keeps the sidecars of a pod running.
func (p *planner) waitForMains() {
	if p.Pod.Status.Phase != corev1.PodRunning {
		p.wait(ruleNotRunning, "", "the pod is %s, and sidecars are terminated while it is Running", phaseOf(p.Pod))
		return
	}
	mains, sidecars, complete := containersOf(p.Pod)
	if !complete {
		p.wait(ruleKubelet, "", "the kubelet has told of %d containers of %d", len(p.Pod.Status.ContainerStatuses), len(p.Pod.Spec.Containers))
		return
	}
	for _, c := range unfinished(p.Pod, mains) {
		p.wait(ruleMainContainer, c.Name, "main container %s", stateOf(&c))
	}
	if restartsAll(p.Pod, mains, sidecars) {
		p.wait(ruleRestart, "", "all containers are about to be started again")
	}
}

func phaseOf(pod *corev1.Pod) string {
	if pod.Status.Phase == "" {
		return "new"
	}
	return string(pod.Status.Phase)
}

// stateOf says why a container is not finished.
func stateOf(c *container) string {
	switch state := c.status.State; {
	case state.Terminated != nil:
		return fmt.Sprintf("has exited with code %d, and is started again", state.Terminated.ExitCode)
	case state.Running != nil:
		return "is running"
	case state.Waiting != nil && state.Waiting.Reason != "":
		return "is waiting: " + state.Waiting.Reason
	}
	return "is waiting"
}

// wait notes what a container, or with an empty name the pod, waits for.
func (p *planner) wait(rule rollout.Rule, container, format string, args ...any) {
	wait := rollout.Wait{Pod: p.Pod, Reason: &rollout.Reason{Rule: rule, Message: fmt.Sprintf(format, args...)}}
	if container != "" {
		wait.Subject = rollout.Subject{Kind: "container", Name: container}
	}
	p.plan.Waiting = append(p.plan.Waiting, wait)
}

// lookAgain has another plan made after a time at the latest.
func (p *planner) lookAgain(after time.Duration) {
	p.plan.RequeueAfter = apply.Soonest(p.plan.RequeueAfter, max(after, 1))
}

// String says what the plan writes, and its problem; empty for nothing.
func (p *Plan) String() string {
	var does []string
	for _, problem := range p.Problems {
		does = append(does, problem.String())
	}
	for _, name := range p.replaced() {
		does = append(does, fmt.Sprintf("image of %s: %s", name, p.Images[name]))
	}
	if p.Create != nil {
		does = append(does, fmt.Sprint("stop ", p.requested()))
	}
	if p.Phase != "" {
		does = append(does, fmt.Sprintf("%s, since %s", p.Phase, p.PhaseReason))
	}
	return strings.Join(does, "; ")
}
