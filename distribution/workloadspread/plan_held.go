// SPDX-License-Identifier: Apache-2.0

package workloadspread

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/distribution/spread"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/heldup"
	"github.com/podwright/podwright/lifecycle"
)

// What holds a WorkloadSpread up, beside the state of pods. (WS-32)
const (
	// ruleTargetMissing: the workload is not there.
	ruleTargetMissing rollout.Rule = "TargetMissing"
	// ruleWorkloadTaken: another WorkloadSpread has the workload.
	ruleWorkloadTaken rollout.Rule = "WorkloadTaken"
	// ruleTargetUnread: nothing reads the kind of the workload.
	ruleTargetUnread rollout.Rule = "TargetUnread"
	// rulePatchApplies: the patch of a subset would take its pods away from the workload.
	rulePatchApplies rollout.Rule = "PatchApplies"
	// rulePodNotWritten: a pod does not get its subset or its deletion cost.
	rulePodNotWritten rollout.Rule = "PodNotWritten"
	// rulePodNotDeleted: a pod that is to go elsewhere is not deleted.
	rulePodNotDeleted rollout.Rule = "PodNotDeleted"
	// rulePodOfJob: no node takes a pod of a Job, and it is not sent elsewhere.
	rulePodOfJob rollout.Rule = "PodOfJob"
)

// conditions says how HeldUp stands among the conditions of a subset.
var conditions = heldup.Conditions[v1alpha1.WorkloadSpreadSubsetCondition]{
	Read: func(c *v1alpha1.WorkloadSpreadSubsetCondition) (string, heldup.Told) {
		return string(c.Type), heldup.Told{Reason: c.Reason, Message: c.Message, Since: c.LastTransitionTime.Time}
	},
	Make: func(t heldup.Told) v1alpha1.WorkloadSpreadSubsetCondition {
		return v1alpha1.WorkloadSpreadSubsetCondition{Type: v1alpha1.SubsetHeldUp, Status: corev1.ConditionTrue,
			LastTransitionTime: metav1.NewTime(t.Since), Reason: t.Reason, Message: t.Message}
	},
}

// held is something that holds a subset up.
type held struct {
	subset string
	of     rollout.Subject
}

// hold lists something that holds a subset up, once.
func (p *Plan) hold(subset, kind, name string, pod *corev1.Pod, rule rollout.Rule, message string) {
	is := held{subset, rollout.Subject{Kind: kind, Name: name}}
	if p.holds[is] {
		return
	}
	if p.holds == nil {
		p.holds = map[held]bool{}
	}
	p.holds[is] = true
	h := rollout.Wait{Subject: is.of, In: &rollout.Subject{Kind: "subset", Name: subset}, Pod: pod}
	if pod == nil {
		h.Reason = &rollout.Reason{Rule: rule, Message: message}
	}
	p.Held = append(p.Held, h)
}

// holdTarget lists that the workload is not there, cannot be known, or is that of another WorkloadSpread: that stands with the first subset.
func (s *Snapshot) holdTarget(p *Plan) {
	target := s.Spread.Spec.TargetReference
	if target == nil || len(s.Spread.Spec.Subsets) == 0 || s.Spread.DeletionTimestamp != nil {
		return
	}
	first, workload := s.Spread.Spec.Subsets[0].Name, target.Kind+" "+target.Name
	switch {
	case p.Unrecognized:
		p.hold(first, "", string(heldup.BadValue), nil, heldup.BadValue, fmt.Sprintf("spec.targetRef is %s %s: the kind is not spread", target.APIVersion, workload))
	case s.holder() != nil:
		p.hold(first, kind, s.holder().Name, nil, ruleWorkloadTaken, "it names "+s.named(s.holder(), workload)+", and comes first: this one has no pods")
	case s.Unread:
		p.hold(first, "workload", workload, nil, ruleTargetUnread, "the controller does not read its kind")
	case s.Workload == nil:
		p.hold(first, "workload", workload, nil, ruleTargetMissing, "it is not there")
	case s.Workload.Unknown != nil && !s.Workload.Deleting && (len(spread.ReplicasPaths(s.Spread)) > 0 || spread.InPercent(s.Spread)):
		p.hold(first, "", string(heldup.BadValue), nil, heldup.BadValue, s.Workload.Unknown.Error())
	}
}

// named says what another WorkloadSpread names, which is of the pods of the same workload.
func (s *Snapshot) named(other *v1alpha1.WorkloadSpread, workload string) string {
	if spread.Conflict(s.Spread, other, nil) {
		return workload + " too"
	}
	return other.Spec.TargetReference.Kind + " " + other.Spec.TargetReference.Name + ", which has pods of " + workload
}

// holdSubsets lists what the subsets wait for: pods that no node takes, patches that would take pods away, and writes that do not succeed.
func (s *Snapshot) holdSubsets(p *Plan) {
	if s.Spread.DeletionTimestamp != nil {
		return
	}
	for i, d := range p.Deletions {
		if i >= p.MayDelete && !s.NotMoved[d.Pod.UID] {
			p.hold(d.Subset, "pod", d.Pod.Name, nil, heldup.FewAtOnce, fmt.Sprintf("it is to go to another subset, as %d others, which go a few at a time", len(p.Deletions)-1))
			continue
		}
		p.hold(d.Subset, "pod", d.Pod.Name, nil, rulePodNotDeleted, "it is to go to another subset and cannot be deleted, events say why")
	}
	for _, stay := range p.Staying {
		p.hold(stay.Subset, "pod", stay.Pod.Name, nil, rulePodOfJob,
			"it stays without a node, and is not created again in another subset: its Job counts a deleted pod as failed, and half of its backoffLimit is used up; "+heldup.OfPod(stay.Pod).Why)
	}
	for i := range p.Patches {
		p.hold(p.Patches[i].subset(s.Spread), "pod", p.Patches[i].Pod.Name, nil, rulePodNotWritten, "its subset or its deletion cost cannot be written, events say why")
	}
	for _, pod := range s.Pods {
		if !lifecycle.Unschedulable(pod) { // most are not: their subset need not be read
			continue
		}
		if matched, is := spread.Matched(pod); is && matched.Name == s.Spread.Name {
			p.hold(matched.Subset, "pod", pod.Name, pod, "", "")
		}
	}
	for _, status := range p.Computed.Status.SubsetStatuses {
		for _, c := range status.Conditions {
			if c.Type == v1alpha1.SubsetPatchApplies && c.Status == corev1.ConditionFalse {
				p.hold(status.Name, "subset", status.Name, nil, rulePatchApplies, c.Message)
			}
		}
	}
}

// subset is the name of the subset with which it stands that a pod is not written: the first one for pods of none.
func (p *PodPatch) subset(ws *v1alpha1.WorkloadSpread) string {
	if slices.ContainsFunc(ws.Spec.Subsets, func(s v1alpha1.WorkloadSpreadSubset) bool { return s.Name == p.Subset }) || len(ws.Spec.Subsets) == 0 {
		return p.Subset
	}
	return ws.Spec.Subsets[0].Name
}

// tell has the status say what holds the subsets up. (WS-32)
func (s *Snapshot) tell(p *Plan) {
	status := s.Spread.Status.DeepCopy()
	if p.Computed != nil {
		status = &p.Computed.Status
	} else if len(p.Held) > 0 && len(status.SubsetStatuses) == 0 {
		status.SubsetStatuses = []v1alpha1.WorkloadSpreadSubsetStatus{{Name: p.Held[0].In.Name, MissingReplicas: spread.Unlimited}}
	}
	before, after := s.Spread.Status.DeepCopy(), status.DeepCopy()
	for i := range status.SubsetStatuses {
		subset := &status.SubsetStatuses[i]
		var holds []rollout.Wait
		var at []int
		for i, h := range p.Held {
			if h.In.Name == subset.Name {
				holds, at = append(holds, h), append(at, i)
			}
		}
		subset.Conditions = conditions.Tell(subset.Conditions, holds, s.HeldSince, s.Now)
		for i, h := range holds {
			p.Held[at[i]].Since = h.Since
		}
		after.SubsetStatuses[i].Conditions = subset.Conditions
		if i < len(before.SubsetStatuses) && before.SubsetStatuses[i].Name == subset.Name {
			was := &before.SubsetStatuses[i]
			was.Conditions, after.SubsetStatuses[i].Conditions = conditions.ToCompare(was.Conditions, subset.Conditions)
		}
	}
	if p.Computed == nil && !slices.ContainsFunc(status.SubsetStatuses, func(s v1alpha1.WorkloadSpreadSubsetStatus) bool { return len(s.Conditions) > 0 }) && len(s.Spread.Status.SubsetStatuses) == 0 {
		return // there is nothing to say yet
	}
	if !spread.Equal(before, after) {
		p.Status = status
	}
}
