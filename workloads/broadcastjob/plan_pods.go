// SPDX-License-Identifier: Apache-2.0

package broadcastjob

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/heldup"
	"github.com/podwright/podwright/internal/nodefit"
	"github.com/podwright/podwright/internal/podplan"
	"github.com/podwright/podwright/internal/podstate"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// deleteActive deletes all active pods: the job has failed. Counted says that the
// status of the plan counts them as active if they cannot be deleted. (BJ-11)
func (p *planner) deleteActive(counted bool) {
	for _, pod := range p.active {
		p.plan.Delete = append(p.plan.Delete, Deletion{Pod: pod, Reason: "the job has failed", Active: counted})
	}
	p.deleteRestarting()
}

// deleteRestarting deletes the pods that have failed and run on: the job has ended. (BJ-11)
func (p *planner) deleteRestarting() {
	for _, pod := range p.restarting {
		p.plan.Delete = append(p.plan.Delete, Deletion{Pod: pod, Reason: "the job has ended, and it restarted too often"})
	}
	p.sortDeletions()
}

// deleteMisfits deletes the pods whose nodes do not fit any more, a few at a time. A finished pod on
// a node that is gone is left to the garbage collector, until another node has its name.
// (BJ-7, BJ-15, BJ-32)
func (p *planner) deleteMisfits() {
	var due []Deletion
	for i := range p.nodes {
		n := &p.nodes[i]
		if n.pod == nil || n.pod.DeletionTimestamp != nil {
			continue
		}
		d := Deletion{Pod: n.pod, Active: n.state == Active, Few: true, Again: n.again}
		switch {
		case n.former:
			d.Reason = "it ran on another node of the name " + n.name
		case n.misfit == "" || n.misfit == nodefit.Gone && n.state != Active:
			continue
		case n.again && p.BackOff[n.name].After(p.Now):
			p.backOff(n, d)
			continue
		default:
			d.Reason = fmt.Sprintf("node %s does not fit any more: %s", n.name, n.misfit)
		}
		due = append(due, d)
	}
	for _, pod := range p.formers {
		if pod.DeletionTimestamp == nil {
			due = append(due, Deletion{Pod: pod, Reason: "it ran on another node of the name " + nodefit.NodeOf(pod), Few: true})
		}
	}
	p.deleteFew(due)
	p.sortDeletions()
}

// backOff leaves a pod that admission has made unfit for a while: the one that takes its place may be made so too. (BJ-7)
func (p *planner) backOff(n *node, d Deletion) {
	until := p.BackOff[n.name]
	p.requeueAfter(until.Sub(p.Now))
	p.late = append(p.late, d)
	p.waitPod(n.pod, &rollout.Reason{Rule: rollout.RuleBackOff,
		Message: fmt.Sprintf("admission has made the pod unfit for node %s, as the one before it: %s; it is replaced at %s", n.name, n.misfit, until.UTC().Format(time.TimeOnly))})
}

// deleteFew deletes as many of the pods as may go at once, first those that are active. The others wait. (BJ-32)
func (p *planner) deleteFew(due []Deletion) {
	pods := 0
	for _, pod := range p.Pods {
		if pod.DeletionTimestamp == nil && p.owns(pod) {
			pods++
		}
	}
	turn := func(d *Deletion) int {
		switch {
		case p.NotDeleted[d.Pod.UID]:
			return 2
		case d.Active:
			return 0
		}
		return 1
	}
	slices.SortFunc(due, func(a, b Deletion) int { return cmp.Or(turn(&a)-turn(&b), cmp.Compare(a.Pod.Name, b.Pod.Name)) })
	may, again := podplan.Few(len(due), pods, p.Deleted, p.Now)
	if again > 0 {
		p.requeueAfter(again)
	}
	p.plan.Delete = append(p.plan.Delete, due[:may]...)
	if may == len(due) {
		return
	}
	p.late = append(p.late, due[may:]...)
	reason := &rollout.Reason{Rule: heldup.FewAtOnce, Limit: int32(may), Observed: int32(len(due)),
		Message: fmt.Sprintf("%d of %d pods are on nodes that do not fit any more, and go a few at a time", len(due), pods)}
	for _, d := range due[may:] {
		p.waitPod(d.Pod, reason)
	}
}

// waitPod records why a pod that does not fit its node stays for now.
func (p *planner) waitPod(pod *corev1.Pod, reason *rollout.Reason) {
	p.plan.Waiting = append(p.plan.Waiting, rollout.Wait{Subject: rollout.Subject{Kind: "pod", Name: pod.Name}, Reason: reason})
}

func (p *planner) sortDeletions() {
	slices.SortFunc(p.plan.Delete, func(a, b Deletion) int { return cmp.Compare(a.Pod.Name, b.Pod.Name) })
}

// createPods creates as many pods as the parallelism allows, by the names of the
// nodes. (BJ-12)
func (p *planner) createPods() {
	if p.Job.DeletionTimestamp != nil {
		p.wait(&rollout.Reason{Rule: ruleBeingDeleted, Message: "the job is being deleted"})
		return
	}
	limit, active := p.plan.Parallelism, p.status.Active
	if active > limit {
		p.event(Event{Type: corev1.EventTypeWarning, Reason: eventTooManyActivePods, Lasting: true,
			Message: fmt.Sprintf("%d pods are active, and the parallelism is %d: no pods are created", active, limit)})
	}
	for _, d := range p.plan.Delete { // they make room once they are deleted, which may fail
		if d.Active {
			active++
		}
	}
	room := max(int64(limit)-int64(active), 0)
	forgone := 0
	var held *rollout.Reason
	var names map[string]bool
	var maker *podMaker
	for i := range p.nodes {
		n := &p.nodes[i]
		if n.state != Waiting {
			continue
		}
		if forgone < p.astray { // whatever keeps new pods from their nodes would do so again (BJ-27)
			forgone++
			p.waitNode(n, &rollout.Reason{Rule: ruleAstray, Observed: int32(p.astray),
				Message: fmt.Sprintf("%d pods are for no node, or beside another one, and perhaps for this node", p.astray)})
			continue
		}
		if int64(len(p.plan.Create)) >= room {
			if held == nil {
				held = &rollout.Reason{Rule: ruleParallelism, Limit: limit, Observed: active + int32(room),
					Message: fmt.Sprintf("%d pods are active, spec.parallelism allows %d", active+int32(room), limit)}
			}
			p.waitNode(n, held)
			continue
		}
		if maker == nil {
			maker, names = p.newPodMaker(), p.podNames()
		}
		p.creating = append(p.creating, n.name)
		p.plan.Create = append(p.plan.Create, rollout.PodCreation{Pod: maker.pod(n.name, cmp.Or(p.Former[n.name], n.disowned), names)})
	}
	p.status.Active += int32(len(p.plan.Create))
}

// wait records why the nodes without a pod do not get one.
func (p *planner) wait(reason *rollout.Reason) {
	for i := range p.nodes {
		if p.nodes[i].state == Waiting {
			p.waitNode(&p.nodes[i], reason)
		}
	}
}

// waitNode records why a node without a pod does not get one.
func (p *planner) waitNode(n *node, reason *rollout.Reason) {
	p.plan.Waiting = append(p.plan.Waiting, rollout.Wait{Subject: rollout.Subject{Kind: "node", Name: n.name}, Reason: reason})
}

func (p *planner) podNames() map[string]bool {
	names := make(map[string]bool, len(p.Pods)+len(p.TakenNames))
	maps.Copy(names, p.TakenNames)
	for _, pod := range p.Pods {
		names[pod.Name] = true
	}
	return names
}

// podMaker makes the pods of a plan. What they have in common they share: thousands
// are made at once, and none is changed.
type podMaker struct {
	job    *v1alpha1.BroadcastJob
	pods   corev1.Pod // what they have in common
	direct bool
}

// newPodMaker makes what the pods have in common, without what controllers own in each pod. (CT-7)
func (p *planner) newPodMaker() *podMaker {
	job, template := p.Job, &p.Job.Spec.Template
	labels := make(map[string]string, len(template.Labels)+2)
	maps.Copy(labels, podstate.Unowned(template.Labels))
	labels[v1alpha1.BroadcastJobNameLabel], labels[v1alpha1.BroadcastJobControllerUIDLabel] = job.Name, string(job.UID)
	return &podMaker{job: job, direct: p.AssignDirectly, pods: corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: job.Namespace, GenerateName: job.Name + "-",
			Labels: labels, Annotations: podstate.Unowned(template.Annotations), Finalizers: template.Finalizers,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(job, v1alpha1.SchemeGroupVersion.WithKind(kind))},
		},
		Spec: template.Spec,
	}}
}

// pod makes the pod of a node that had the former one, and takes a name for it. (BJ-12)
func (m *podMaker) pod(node, former string, taken map[string]bool) *corev1.Pod {
	pod := m.pods
	for sequence := 0; pod.Name == "" || taken[pod.Name]; sequence++ {
		pod.Name = nodefit.PodName(m.job, node, former, sequence)
	}
	taken[pod.Name] = true
	if m.direct {
		pod.Spec.NodeName = node
	} else {
		nodefit.Pin(&pod.Spec, node)
	}
	return &pod
}
