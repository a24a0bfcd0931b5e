// SPDX-License-Identifier: Apache-2.0

package deletion

import (
	"fmt"
	"strings"
	"unicode"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/internal/manifests"
)

type (
	policy  = admissionregistrationv1.ValidatingAdmissionPolicy
	binding = admissionregistrationv1.ValidatingAdmissionPolicyBinding
	rule    = admissionregistrationv1.RuleWithOperations
)

// PolicyOptions say what the policies refuse beside deletions.
type PolicyOptions struct {
	// LabelGroup is the group whose members alone may take protection away. They may remove the
	// label from a protected object, or change it to anything but Always. Empty: all who may change
	// the object may. (DP-12)
	LabelGroup string
}

// Policies returns the ValidatingAdmissionPolicies, and for each the binding that puts it into
// force, ready to be applied in any order. They refuse what Decide refuses without having
// to count; what has to be counted is for the Webhook. Every call returns new values, which the
// caller may change: bindings that have the action Audit instead of Deny show what would be
// refused. They take Kubernetes 1.30. An error says what is wrong with the LabelGroup.
// (DP-11)
func Policies(o PolicyOptions) ([]policy, []binding, error) {
	policies := []policy{ofWorkloads(), ofOthers()}
	if o.LabelGroup != "" {
		if strings.ContainsFunc(o.LabelGroup, func(r rune) bool { return r == '\'' || r == '\\' || unicode.IsControl(r) }) {
			return nil, nil, fmt.Errorf("the LabelGroup %q: want the name of a group without quotes, backslashes and control characters", o.LabelGroup)
		}
		policies = append(policies, ofLabel(o.LabelGroup))
	}
	bindings := make([]binding, len(policies))
	for i := range policies {
		bindings[i] = manifests.Binding(&policies[i])
	}
	return policies, bindings, nil
}

const (
	label     = v1alpha1.DeletionProtectionLabel
	always    = string(v1alpha1.AlwaysDeletionProtection)
	cascading = string(v1alpha1.CascadingDeletionProtection)
	forbidden = "forbidden by ResourcesProtectionDeletion for " + label + "="
)

// ofWorkloads is about the kinds that say themselves how many replicas they want.
func ofWorkloads() policy {
	return protect("podwright-deletion-protection-workloads", workloadRules(remove, false), []admissionregistrationv1.Variable{
		{Name: "subsets", Expression: "oldObject.?spec.?topology.?subsets.orValue([]).map(s, s.?replicas.orValue(0)).filter(n, type(n) == int).map(n, int(n)).sum()"},
		{Name: "replicas", Expression: "oldObject.?spec.?replicas.orValue(variables.subsets)"},
	}, manifests.Check{
		Expression:        "variables.protection != '" + cascading + "' || variables.replicas <= 0",
		MessageExpression: "'" + forbidden + cascading + " and replicas ' + string(variables.replicas) + '>0'",
	})
}

// ofOthers is about the kinds of which something has to be counted, or that have no children.
func ofOthers() policy {
	return protect("podwright-deletion-protection-others", otherRules(remove, false), nil)
}

// protect is a policy about the deletion of what has the label and is not being deleted.
func protect(name string, rules []rule, variables []admissionregistrationv1.Variable, checks ...manifests.Check) policy {
	return labelled(manifests.Policy(name, rules, notDeleted(),
		append([]admissionregistrationv1.Variable{protection("protection", "oldObject")}, variables...),
		append([]manifests.Check{{Expression: "variables.protection != '" + always + "'", Message: forbidden + always}}, checks...)...))
}

// ofLabel leaves it to a group to take the label away.
func ofLabel(group string) policy {
	return labelled(manifests.Policy("podwright-deletion-protection-label", append(workloadRules(update, true), otherRules(update, true)...), notDeleted(),
		[]admissionregistrationv1.Variable{protection("former", "oldObject"), protection("protection", "object")},
		manifests.Check{
			Expression: "!(variables.former in ['" + always + "', '" + cascading + "']) || variables.protection in [variables.former, '" + always + "'] || " +
				"'" + group + "' in request.userInfo.?groups.orValue([])",
			MessageExpression: "'the label " + label + "=' + variables.former + ' protects ' + request.name + ' from deletion: only members of the group " + group + " may take it away'",
		}))
}

// labelled narrows a policy to objects that have the label, or had it.
func labelled(p policy) policy {
	p.Spec.MatchConstraints.ObjectSelector = hasLabel()
	return p
}

func hasLabel() *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: label, Operator: metav1.LabelSelectorOpExists}}}
}

// notDeleted leaves alone what is being deleted already. (DP-4)
func notDeleted() []admissionregistrationv1.MatchCondition {
	return []admissionregistrationv1.MatchCondition{{Name: "not-being-deleted", Expression: "!has(oldObject.metadata.deletionTimestamp)"}}
}

// protection is the value of the label of an object.
func protection(name, object string) admissionregistrationv1.Variable {
	return admissionregistrationv1.Variable{Name: name, Expression: object + ".metadata.?labels[?'" + label + "'].orValue('')"}
}

const (
	remove = admissionregistrationv1.Delete
	update = admissionregistrationv1.Update
)

// workloadRules are requests about workloads; with the status of each, through which labels can be
// written too.
func workloadRules(operation admissionregistrationv1.OperationType, status bool) []rule {
	return []rule{
		requests(operation, status, "apps", "v1", "deployments", "replicasets", "statefulsets"),
		requests(operation, status, kruise, "v1alpha1", "clonesets", "statefulsets", "uniteddeployments"),
		requests(operation, status, kruise, "v1beta1", "statefulsets"),
	}
}

// otherRules are workloadRules for Namespaces, which have one endpoint more, CustomResourceDefinitions, Services and
// Ingresses.
func otherRules(operation admissionregistrationv1.OperationType, status bool) []rule {
	namespaces := requests(operation, status, "", "v1", "namespaces")
	if status {
		namespaces.Resources = append(namespaces.Resources, "namespaces/finalize")
	}
	return []rule{namespaces, requests(operation, status, definition.Group, "v1", "customresourcedefinitions"),
		requests(operation, status, service.Group, "v1", "services"), requests(operation, status, ingress.Group, "v1", "ingresses")}
}

func requests(operation admissionregistrationv1.OperationType, status bool, group, version string, resources ...string) rule {
	r := manifests.Resource(group, resources[0], version)
	r.Resources = resources
	if status {
		for _, resource := range resources {
			r.Resources = append(r.Resources, resource+"/status")
		}
	}
	return rule{Operations: []admissionregistrationv1.OperationType{operation}, Rule: r}
}
