// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"

	"github.com/podwright/podwright/internal/manifests"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// PoliciesWithoutWebhooks returns the ValidatingAdmissionPolicies that refuse in the
// stead of Webhooks what a user must not write. With each comes the binding that puts it
// into force. They are for a cluster that serves no webhook of ContainerRecreateRequests:
// what that fills in they would refuse. Every call returns new values, which the caller
// may change. They take Kubernetes 1.30.
//
// Of a new request they refuse what the webhook copies from the pod. That is the preStop hook,
// its ports, and which run of a container is meant. The agents of podwright run no hook of a
// request. Those of OpenKruise run any, with their own rights and in whichever container the
// labels lead to. Without a statusContext an agent ends the request with an error: nothing but
// the webhook makes one that is to be trusted.
func PoliciesWithoutWebhooks() ([]admissionregistrationv1.ValidatingAdmissionPolicy, []admissionregistrationv1.ValidatingAdmissionPolicyBinding) {
	requests := manifests.Resource(v1alpha1.GroupName, "containerrecreaterequests", v1alpha1.SchemeGroupVersion.Version)
	policy := manifests.Policy("podwright-containerrecreaterequests-without-webhooks",
		[]admissionregistrationv1.RuleWithOperations{{Operations: []admissionregistrationv1.OperationType{create}, Rule: requests}}, nil, nil,
		manifests.Check{
			Expression: "object.spec.containers.all(c, !has(c.preStop) && !has(c.ports) && !has(c.statusContext))",
			Message:    "spec.containers: preStop, ports and statusContext are for a webhook to copy from the pod, and none is served: leave them out",
		})
	return []admissionregistrationv1.ValidatingAdmissionPolicy{policy},
		[]admissionregistrationv1.ValidatingAdmissionPolicyBinding{manifests.Binding(&policy)}
}
