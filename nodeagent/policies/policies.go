// SPDX-License-Identifier: Apache-2.0

package policies

import (
	"fmt"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"

	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/manifests"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// NodeNameClaim is a key of the extra information about the user of a request. By it the API
// server tells which node the token is bound to.
const NodeNameClaim = "authentication.kubernetes.io/node-name"

type (
	policy  = admissionregistrationv1.ValidatingAdmissionPolicy
	binding = admissionregistrationv1.ValidatingAdmissionPolicyBinding
	check   = manifests.Check
)

// New returns the policies, and for each the binding that puts it into force, ready to
// be applied in any order. Every call returns new values, which the caller may
// change: bindings that have the action Audit instead of Deny show what would be
// refused. An error names the option that is wrong.
func New(o Options) ([]policy, []binding, error) {
	if err := o.validate(); err != nil {
		return nil, nil, err
	}
	policies := []policy{o.pods(), o.requests(), o.reports(), o.events()}
	bindings := make([]binding, len(policies))
	for i := range policies {
		bindings[i] = manifests.Binding(&policies[i])
	}
	return policies, bindings, nil
}

// pods is about the reports of containermeta. The status endpoint of a pod takes
// labels, annotations and finalizers too. Its spec it does not take, so the node is
// the one that the pod is on.
func (o *Options) pods() policy {
	const what = "an agent reports on a pod in the annotation " + inplacev1alpha1.RuntimeContainersMetaAnnotation + " alone"
	checks := append([]check{o.own("pod ' + request.namespace + '/' + request.name")}, onlyAnnotation(what, inplacev1alpha1.RuntimeContainersMetaAnnotation)...)
	return o.policy("pods", updates("", "v1", "pods/status"),
		append(home("oldObject.spec.?nodeName.orValue('')"), annotations...),
		append(checks, unchanged(what, "", "status"))...)
}

// requests is about recreate, which writes the status, and announces a stop in an
// annotation. The node is that of the stored request: a label that comes with the
// patch says nothing.
func (o *Options) requests() policy {
	const what = "an agent announces what it stops in the annotation " + lifecyclev1alpha1.ContainerRecreateRequestStoppingAnnotation + " alone"
	checks := append([]check{o.own("ContainerRecreateRequest ' + request.namespace + '/' + request.name")},
		onlyAnnotation(what, lifecyclev1alpha1.ContainerRecreateRequestStoppingAnnotation)...)
	return o.policy("containerrecreaterequests",
		updates(lifecyclev1alpha1.GroupName, lifecyclev1alpha1.SchemeGroupVersion.Version, "containerrecreaterequests", "containerrecreaterequests/status"),
		append(home("oldObject.metadata.?labels[?'"+lifecyclev1alpha1.ContainerRecreateRequestNodeNameLabel+"'].orValue('')"), annotations...),
		append(checks, unchanged(what, "", "spec"))...)
}

// reports is about what has the name of its node: NodeImages and NodePodProbes. At
// this endpoint the API server takes nothing but their status.
func (o *Options) reports() policy {
	return o.policy("nodes",
		updates(distributionv1alpha1.GroupName, distributionv1alpha1.SchemeGroupVersion.Version, "nodeimages/status", "nodepodprobes/status"),
		home("request.name"), o.own("' + request.resource.resource + ' ' + request.name"))
}

// events is about the events of all features, which name their source. One is
// changed when it is counted up.
func (o *Options) events() policy {
	rule := updates("", "v1", "events")
	rule.Operations = append(rule.Operations, admissionregistrationv1.Create)
	ofNode := func(event string) string { // of any type: the check of types looks at the Event of events.k8s.io too
		return fmt.Sprintf("dyn(%[1]s).?source.?host.orValue('') == variables.node && dyn(%[1]s).?reportingInstance.orValue('') in ['', variables.node]", event)
	}
	return o.policy("events", rule, nil, check{
		Expression:        o.bound(ofNode("object")),
		MessageExpression: "'an agent records events as its node: want source.host, and reportingInstance if it is set, to be ' + variables.node",
	}, check{
		Expression:        o.bound("oldObject == null || " + ofNode("oldObject")),
		MessageExpression: "'event ' + request.namespace + '/' + request.name + ' was not recorded on node ' + variables.node",
	})
}

// policy is a policy about the account of the agents.
func (o *Options) policy(suffix string, rule admissionregistrationv1.RuleWithOperations, variables []admissionregistrationv1.Variable, checks ...check) policy {
	if !o.UnboundTokens {
		checks = append([]check{{
			Expression: "variables.node != ''",
			Message:    "the token names no node: want one that is bound to a pod or a node, which has the claim " + NodeNameClaim,
		}}, checks...)
	}
	account := "system:serviceaccount:" + o.Namespace + ":" + o.Name
	node := admissionregistrationv1.Variable{Name: "node", Expression: "request.userInfo.?extra[?'" + NodeNameClaim + "'][?0].orValue('')"}
	return manifests.Policy(o.Name+"-"+suffix, []admissionregistrationv1.RuleWithOperations{rule},
		[]admissionregistrationv1.MatchCondition{{Name: "agent", Expression: "request.userInfo.username == '" + account + "'"}},
		append([]admissionregistrationv1.Variable{node}, variables...), checks...)
}

// bound is an expression that counts if a token names a node.
func (o *Options) bound(expression string) string {
	if !o.UnboundTokens {
		return expression
	}
	return "variables.node == '' || " + expression
}

// own wants an object to belong to the node that the token names. Its name ends with an expression.
func (o *Options) own(name string) check {
	return check{
		Expression:        o.bound("variables.node == variables.home"),
		MessageExpression: "'the agent of node ' + variables.node + ' may not write to " + name + " + ', of node ' + variables.home",
	}
}

// home says which node an object belongs to.
func home(expression string) []admissionregistrationv1.Variable {
	return []admissionregistrationv1.Variable{{Name: "home", Expression: expression}}
}

// annotations are those of an object, and those that it had.
var annotations = []admissionregistrationv1.Variable{
	{Name: "annotations", Expression: "object.metadata.?annotations.orValue({})"},
	{Name: "former", Expression: "oldObject.metadata.?annotations.orValue({})"},
}

// onlyAnnotation wants the metadata to stay but for one annotation, with what is
// allowed in words.
func onlyAnnotation(what, key string) []check {
	const metadata = ".metadata"
	return []check{
		unchanged(what, metadata, "labels"), unchanged(what, metadata, "finalizers"), unchanged(what, metadata, "ownerReferences"), {
			Expression: fmt.Sprintf("variables.annotations.all(k, k == '%[1]s' || k in variables.former && variables.annotations[k] == variables.former[k]) && "+
				"variables.former.all(k, k == '%[1]s' || k in variables.annotations)", key),
			Message: what + ": another annotation would change",
		},
	}
}

// unchanged wants a field to stay unchanged. Its parent, which is always there, begins
// with a dot; an object has none.
func unchanged(what, parent, field string) check {
	return check{
		Expression: fmt.Sprintf("object%[1]s.?%[2]s == oldObject%[1]s.?%[2]s", parent, field),
		Message:    what + ": " + field + " would change",
	}
}

// updates are changes of resources, patches among them.
func updates(group, version string, resources ...string) admissionregistrationv1.RuleWithOperations {
	rule := manifests.Resource(group, resources[0], version)
	rule.Resources = resources
	return admissionregistrationv1.RuleWithOperations{Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Update}, Rule: rule}
}
