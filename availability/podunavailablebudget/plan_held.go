// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/podwright/podwright/availability/budget"
	"github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/heldup"
	"github.com/podwright/podwright/lifecycle/readiness"
)

// What holds a budget up, beside the state of its pods. (PUB-42)
const (
	// RuleTotalUnknown: it is not known how many pods a workload wants.
	RuleTotalUnknown rollout.Rule = "TotalUnknown"
	// RulePodsElsewhere: pods that the budget is about belong to another one.
	RulePodsElsewhere rollout.Rule = "PodsElsewhere"
	// RuleNotCounted: a pod is ready and does not count as available.
	RuleNotCounted rollout.Rule = "NotCounted"
	// RulePodsMissing: there are fewer pods than the workloads want.
	RulePodsMissing rollout.Rule = "PodsMissing"
	// RuleNotMirrored: there is no PodDisruptionBudget that shows the budget, though it asks for one.
	RuleNotMirrored rollout.Rule = "NotMirrored"
)

// mirrorRefused is why a mirror is not as it should be that was planned before.
const mirrorRefused = "PodDisruptionBudget %s cannot be written, events say why"

// hold lists something that holds the budget up; of the kind "" it is the whole budget.
func (p *Plan) hold(kind, name string, pod *corev1.Pod, rule rollout.Rule, message string) {
	h := rollout.Wait{Subject: rollout.Subject{Kind: kind, Name: cmp.Or(name, string(rule))}, Pod: pod}
	if rule != "" {
		h.Reason = &rollout.Reason{Rule: rule, Message: message}
	}
	p.Held = append(p.Held, h)
}

// tell has the status say what holds the budget up. (PUB-42)
func (s *Snapshot) tell(p *Plan) {
	status := p.Computed
	if status == nil { // what was counted before stays
		status = s.Budget.Status.DeepCopy()
	}
	standing := heldup.Kubernetes.Told(s.Budget.Status.Conditions)
	status.Conditions = heldup.Kubernetes.Put(status.Conditions, heldup.Tell(p.Held, s.HeldSince, standing, s.Now))
	before, after := s.Budget.Status, *status
	before.Conditions, after.Conditions = heldup.Kubernetes.ToCompare(before.Conditions, after.Conditions)
	if !budget.Equal(&before, &after) {
		p.Status = status
	}
}

// holdUncounted lists why a budget cannot be counted.
func (s *Snapshot) holdUncounted(p *Plan) {
	target := s.Budget.Spec.TargetReference
	if s.Unknown == nil || target == nil {
		p.hold("", "", nil, heldup.BadValue, p.Problem.Error())
		return
	}
	kind := schema.FromAPIVersionAndKind(target.APIVersion, target.Kind).Kind
	p.hold("workload", kind+" "+target.Name, nil, RuleTotalUnknown, s.Unknown.Error())
}

// holdCounted lists what holds up a budget that is counted.
func (s *Snapshot) holdCounted(p *Plan, selection budget.Selection) {
	if message := budget.Unknown(s.Budget, selection); message != "" {
		for _, workload := range selection.Unknown {
			p.hold("workload", workload, nil, RuleTotalUnknown, message)
		}
	}
	var others []string
	for _, pod := range selection.Elsewhere {
		if other := relatedTo(pod); !slices.Contains(others, other) {
			others = append(others, other)
			p.hold("budget", other, nil, RulePodsElsewhere, fmt.Sprintf("pods such as %s belong to it, which protects them: they do not count here", pod.Name))
		}
	}
	s.holdPods(p, selection)
	if message := p.Unmirrored; message != "" {
		p.hold("", "", nil, RuleNotMirrored, message)
	} else if p.CreateMirror != nil || p.UpdateMirror != nil || p.DeleteMirror != nil {
		p.hold("", "", nil, RuleNotMirrored, fmt.Sprintf(mirrorRefused, s.Budget.Name))
	}
}

// holdPods lists the pods for which a budget allows nothing that would allow something. A budget that allows nothing
// with all of its pods was asked for.
func (s *Snapshot) holdPods(p *Plan, selection budget.Selection) {
	status := p.Computed
	if status.UnavailableAllowed > 0 || status.DesiredAvailable == 0 || status.DesiredAvailable >= selection.Total {
		return
	}
	for i := range p.Unavailable {
		pod := p.Unavailable[i].Pod
		if readiness.Ready(pod) {
			p.hold("pod", pod.Name, nil, RuleNotCounted, notCounted(p.Unavailable[i]))
		} else {
			p.hold("pod", pod.Name, pod, "", "")
		}
	}
	if n := len(selection.Pods); n > 0 && int32(n) < selection.Total { // without any, nothing waits
		p.hold("", "", nil, RulePodsMissing, fmt.Sprintf("%d of %d pods are there", n, selection.Total))
	}
}

// notCounted says why a ready pod does not count.
func notCounted(u budget.Unavailable) string {
	var labels []string
	for label := range u.Pod.Labels {
		if strings.HasPrefix(label, v1alpha1.UnavailablePodLabelPrefix) {
			labels = append(labels, label)
		}
	}
	if len(labels) == 0 {
		return u.Reason
	}
	return fmt.Sprintf("label %s takes it out of service", slices.Min(labels))
}
