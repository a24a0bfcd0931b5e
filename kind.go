// SPDX-License-Identifier: Apache-2.0

package podwright

import (
	"context"
	"net/http"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Kind is what a program takes that runs a kind. Describe of the kind's package makes one, of the
// options of New and the webhook. Package manager makes handlers, webhook configurations, CRDs, RBAC objects and a
// running program of several. A caller may change what Describe returns.
type Kind struct {
	// Name is that of the controller: events and user agents have it.
	Name string
	// Resource has to be served before the controller runs, and before the caches of the webhook do.
	// Its CRD is the one of CRDs that is installed. Empty: nothing is waited for.
	Resource schema.GroupVersionResource
	// New makes the controller. It is called once, when Resource is served. Nil: there is only a webhook.
	New func(context.Context) (Runner, error)
	// Permissions are what the controller asks of the API server.
	Permissions []Permission
	// Admission is what the webhook takes. Nil: there is none, or the program serves none.
	Admission *Admission

	// CRDs and Webhooks are those of the kind's area. A program takes the CRD of Resource, and the webhooks whose
	// paths it serves. Nil: the area has none.
	CRDs     func() []*unstructured.Unstructured
	Webhooks func() ([]admissionregistrationv1.MutatingWebhook, []admissionregistrationv1.ValidatingWebhook)
	// Policies are admission policies, and Bindings put them into force. They do a part of the webhook's work without it, or
	// keep users from what only a webhook may write.
	Policies []admissionregistrationv1.ValidatingAdmissionPolicy
	Bindings []admissionregistrationv1.ValidatingAdmissionPolicyBinding
}

// Runner is what a program needs of a Controller.
type Runner interface {
	// Run works until the context is done; see Controller.
	Run(ctx context.Context) error
	// HasSynced tells whether the caches have been filled.
	HasSynced() bool
}

// Permission is what is asked of the API server in one place. Rules of a kind's package returns what a controller with some
// options asks for, and nothing beyond. The same holds for methods Rules, of webhooks for example. Every call returns new
// rules.
//
// Reading informers counts, also of those that the caller shares and runs. Recording events counts if there is a recorder.
// The options need not be complete, and no client of them is asked anything: a manifest can be written without a cluster.
// Rules about what has no namespace, such as nodes, take a ClusterRole.
type Permission struct {
	// Namespace is the one in which the rules are needed. Empty: everywhere, which resources without a namespace need.
	Namespace string
	// Rules are what is asked: verbs on resources, as RBAC has them.
	Rules []rbacv1.PolicyRule
}

// Admission is the webhook of a kind, as a program serves it in every replica.
type Admission struct {
	// Handlers answer, by path.
	Handlers map[string]http.Handler
	// Permissions are what they and their caches ask of the API server.
	Permissions []Permission
	// Conditions return, by path, an expression in the Common Expression Language, which is true of all requests that the webhook
	// has to be asked about. With it in the matchConditions, the API server does the others without a webhook. A
	// function waits for caches; its error says that these are not filled yet. Nil: the API server asks about all.
	Conditions map[string]func(context.Context) (string, error)
	// OnMatchChange has a function called whenever a condition may have come to be another. Nil: they stay.
	OnMatchChange func(changed func()) error
	// Run fills the caches until the context is done. Missing is called before, once it is known that the API server does not
	// serve Resource yet. Nil: there are none.
	Run     func(context.Context) error
	Missing func()
}

// WebhookOnly returns the kind without its controller, for what runs in every replica.
func (k Kind) WebhookOnly() Kind {
	k.New, k.Permissions = nil, nil
	return k
}
