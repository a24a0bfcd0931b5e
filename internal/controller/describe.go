// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"net/http"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/podwright/podwright"
)

// Describe returns the kind of a controller: New and Rules are those of its package. The rules are confined to the
// namespace that it works in, as far as they are about what has one. Empty: it works in all.
func Describe[O any, C podwright.Runner](name string, resource schema.GroupVersionResource, namespace string, options O, New func(O) (C, error), Rules func(O) []rbacv1.PolicyRule) podwright.Kind {
	return podwright.Kind{
		Name: name, Resource: resource, Permissions: Confined(namespace, Rules(options)),
		New: func(context.Context) (podwright.Runner, error) { return New(options) },
	}
}

// Confined confines rules to a namespace, as far as they are about what has one.
func Confined(namespace string, rules []rbacv1.PolicyRule) []podwright.Permission {
	if namespace == "" {
		return []podwright.Permission{{Rules: rules}}
	}
	inCluster, where := podwright.Permission{}, podwright.Permission{Namespace: namespace}
	for _, rule := range rules {
		if slices.Contains(withoutNamespace, rule.Resources[0]) {
			inCluster.Rules = append(inCluster.Rules, rule)
		} else {
			where.Rules = append(where.Rules, rule)
		}
	}
	return []podwright.Permission{inCluster, where}
}

// withoutNamespace are resources that controllers use which have no namespace.
var withoutNamespace = []string{"nodes", "namespaces", "nodeimages", "nodeimages/status", "nodepodprobes", "sidecarsets", "sidecarsets/status", "sidecarsets/finalizers"}

// In is what is needed in one namespace; NamespaceRules of a kind's package returns it.
func In(namespace string, rules []rbacv1.PolicyRule) podwright.Permission {
	return podwright.Permission{Namespace: namespace, Rules: rules}
}

// Admission returns what a webhook takes that asks the API server for what the rules say, in the whole cluster.
func Admission(webhook interface {
	Handlers() map[string]http.Handler
}, rules []rbacv1.PolicyRule) *podwright.Admission {
	return &podwright.Admission{Handlers: webhook.Handlers(), Permissions: []podwright.Permission{{Rules: rules}}}
}
