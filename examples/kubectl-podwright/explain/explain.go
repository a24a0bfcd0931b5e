// SPDX-License-Identifier: Apache-2.0

// Package explain names what keeps a workload from moving. That is what its plan waits for, and what is wrong around
// it, from a missing manager to a pod whose image cannot be pulled. [Explain] is a pure function of a [Situation].
package explain

import (
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	availabilityv1alpha1 "github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/examples/kubectl-podwright/plan"
	"github.com/podwright/podwright/examples/kubectl-podwright/workload"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// Situation is what an explanation depends on.
type Situation struct {
	Object *workload.Object
	Plan   *plan.Plan
	// Refused says what is wrong with the stored spec by the rules of admission, one field each.
	Refused []string
	// Nodes are those of the cluster by name; nil if they could not be read.
	Nodes map[string]*corev1.Node
	// Lease is that of the manager, and LeaseName what it is called; LeaseMissing says that there is none. Both unset: it
	// could not be read.
	Lease        *coordinationv1.Lease
	LeaseName    string
	LeaseMissing bool
	// Budgets are the PodUnavailableBudgets of the namespace, and Requests its ContainerRecreateRequests; of a SidecarSet
	// those of all namespaces.
	Budgets  []*availabilityv1alpha1.PodUnavailableBudget
	Requests []*lifecyclev1alpha1.ContainerRecreateRequest
	// Agents names the nodes on which a node agent is ready; nil if that could not be read.
	Agents map[string]bool
	Now    time.Time
}

// Blocker is one thing that keeps pods from moving.
type Blocker struct {
	// Code names it, for programs: a rollout.Rule, or one of its own.
	Code string `json:"code"`
	// Pods are those that it keeps; nil if it is the workload.
	Pods []string `json:"pods,omitempty"`
	// Why says what was found, and Ends what ends it.
	Why  string `json:"why"`
	Ends string `json:"ends"`
	// Since is since when, as RFC 3339, if the status says so; empty otherwise.
	Since string `json:"since,omitempty"`
	// Runbook is the URL of the section of the runbook that says what to do about it; empty for what users have asked for.
	Runbook string `json:"runbook,omitempty"`
}

// String says all of it, in two lines or three.
func (b Blocker) String() string {
	about := ""
	if len(b.Pods) > 0 {
		about = " (" + strings.Join(b.Pods, ", ") + ")"
	}
	if b.Since != "" {
		about = " since " + b.Since
	}
	text := fmt.Sprintf("%s%s: %s\n  Ends when %s.", b.Code, about, b.Why, b.Ends)
	if b.Runbook != "" {
		text += "\n  Runbook: " + b.Runbook
	}
	return text
}

// Explain lists what keeps a workload from moving, causes before what follows from them. Nothing: it moves, or nothing
// is left to do. (KC-20)
func Explain(s *Situation) []Blocker {
	kind := s.Object.GroupVersionKind().GroupKind()
	all := append(withRunbook(kind, manager(s)), deletion(s)...)
	for _, find := range []func(*Situation) []Blocker{failures, refused, pods, budgets, requests} {
		all = append(all, withRunbook(kind, find(s))...)
	}
	return append(all, waits(s)...)
}

// slack is how far clocks may be apart.
const slack = time.Minute

// manager finds out whether a manager runs and has seen the spec.
func manager(s *Situation) []Blocker {
	if all := ManagerAbsent(s); all != nil {
		return all
	}
	return notObserved(s)
}

// ManagerAbsent finds out whether a manager runs, by its Lease: nothing if one does, or if the Lease could not be read.
func ManagerAbsent(s *Situation) []Blocker {
	const ends = "a manager runs"
	switch {
	case s.LeaseMissing:
		return []Blocker{{Code: "ManagerAbsent", Why: "there is no Lease " + s.LeaseName + ": no manager has run here", Ends: ends}}
	case s.Lease != nil && s.Lease.Spec.HolderIdentity != nil && *s.Lease.Spec.HolderIdentity == "":
		return []Blocker{{Code: "ManagerAbsent", Why: "no manager holds the Lease " + s.LeaseName + ": the manager has ended", Ends: ends}}
	case s.Lease == nil || s.Lease.Spec.RenewTime == nil || s.Lease.Spec.LeaseDurationSeconds == nil:
	default:
		until := s.Lease.Spec.RenewTime.Add(time.Duration(*s.Lease.Spec.LeaseDurationSeconds) * time.Second)
		if s.Now.After(until.Add(slack)) {
			return []Blocker{{Code: "ManagerAbsent", Why: fmt.Sprintf("the Lease %s ran out at %s", s.LeaseName, until.UTC().Format(time.RFC3339)), Ends: ends}}
		}
	}
	return nil
}

// notObserved finds out whether the controller has seen the spec.
func notObserved(s *Situation) []Blocker {
	observed, _, _ := unstructured.NestedInt64(s.Object.Object, "status", "observedGeneration")
	if observed < s.Object.GetGeneration() && s.Object.GetDeletionTimestamp() == nil {
		by := "manager"
		if !strings.HasSuffix(s.Object.GroupVersionKind().Group, ".kruise.io") {
			by = "controller manager of Kubernetes"
		}
		return []Blocker{{Code: "NotObserved", Why: fmt.Sprintf("the status is of generation %d, and the spec of %d", observed, s.Object.GetGeneration()),
			Ends: "the " + by + " gets to it; its log says what keeps it"}}
	}
	return nil
}

// deletion tells that the workload is being deleted, or that it could not be.
func deletion(s *Situation) []Blocker {
	if s.Object.GetDeletionTimestamp() != nil {
		return []Blocker{{Code: "Deleting", Why: fmt.Sprintf("it is being deleted; finalizers: %v", s.Object.GetFinalizers()), Ends: "the controllers that set its finalizers remove them"}}
	}
	if protection := s.Object.GetLabels()[availabilityv1alpha1.DeletionProtectionLabel]; protection != "" {
		return []Blocker{{Code: "DeletionProtection", Why: fmt.Sprintf("its label %s is %s: a deletion is refused", availabilityv1alpha1.DeletionProtectionLabel, protection),
			Ends: "the label is removed; updates are not concerned"}}
	}
	return nil
}

// refused finds out what has to be mended before the spec can be changed.
func refused(s *Situation) (all []Blocker) {
	for _, field := range s.Refused {
		all = append(all, Blocker{Code: "Refused", Why: field, Ends: "that is mended: until then every change of the spec is refused"})
	}
	return all
}

// bad returns the status of a condition that says that something is refused; empty if the condition never says so.
func bad(condition string) string {
	switch {
	case strings.HasPrefix(condition, "Failed"), condition == string(v1alpha1.SubsetFailure), condition == string(appsv1.DeploymentReplicaFailure):
		return "True"
	case condition == string(v1alpha1.SubsetProvisioned), condition == string(v1alpha1.SubsetUpdated):
		return "False"
	}
	return ""
}

// failures finds what the API server refuses the controller, by the conditions of the status, and what its planner reports.
func failures(s *Situation) []Blocker {
	var all []Blocker
	conditions, _, _ := unstructured.NestedSlice(s.Object.Object, "status", "conditions")
	for _, condition := range conditions {
		fields, _ := condition.(map[string]any)
		kind, _ := fields["type"].(string)
		message, _ := fields["message"].(string)
		if fields["status"] != bad(kind) {
			continue
		}
		b := Blocker{Code: kind, Why: message, Ends: "what the message says is mended; the controller tries again by itself"}
		switch {
		case strings.Contains(message, "exceeded quota"):
			b.Code, b.Ends = "Quota", "the ResourceQuota allows it, or other pods are gone"
		case strings.Contains(message, "admission webhook"):
			b.Code, b.Ends = "Webhook", "the webhook admits it"
		}
		all = append(all, b)
	}
	for _, problem := range s.Plan.Problems {
		if !slices.ContainsFunc(all, func(b Blocker) bool { return strings.Contains(b.Why, problem.Err.Error()) }) {
			all = append(all, Blocker{Code: problem.Condition, Why: problem.Err.Error(), Ends: "the spec is changed"})
		}
	}
	return all
}
