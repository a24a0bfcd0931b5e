// SPDX-License-Identifier: Apache-2.0

package app

import (
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/podwright/podwright/examples/manager/crds"
	"github.com/podwright/podwright/examples/manager/features"
	"github.com/podwright/podwright/examples/manager/permissions"
	"github.com/podwright/podwright/examples/manager/registration"
)

// Manifest returns the RBAC objects for a manager with this configuration.
func Manifest(config Config) ([]byte, error) {
	parts, err := Permissions(config)
	if err != nil {
		return nil, err
	}
	return permissions.Manifest(program, config.OwnNamespace, parts)
}

// Permissions returns what a manager with this configuration asks of the API server, by its parts. Rules to read stand
// with the controllers that read, though they share caches, whose requests come from "caches".
func Permissions(config Config) ([]permissions.Part, error) {
	gates, err := features.Parse(config.FeatureGates, config.CustomResources)
	if err != nil {
		return nil, err
	}
	m := &Manager{config: config, gates: gates}
	var rules []rbacv1.PolicyRule // of the program as a whole
	if config.CreateOwnNamespace {
		rules = append(rules, permissions.Rule("create", "", "namespaces"))
	}
	if config.InstallCRDs { // they are applied, and for that the name is known at the creation too
		var names []string
		for _, definition := range m.definitions() {
			names = append(names, definition.GetName())
		}
		rules = append(rules, permissions.Rule("get create patch", crds.Resource.Group, crds.Resource.Resource, names...))
	}
	parts := []permissions.Part{}
	if w := config.Webhook; w.Enabled {
		rules = append(rules, permissions.Rule("get", "", "pods"),
			permissions.Rule("create", "", "podtemplates")) // a dry run has the API server check a template
		if w.Register {
			const group = "admissionregistration.k8s.io"
			rules = append(rules,
				permissions.Rule("create", group, "mutatingwebhookconfigurations"),
				permissions.Rule("list watch update", group, "mutatingwebhookconfigurations", registration.MutatingName),
				permissions.Rule("create", group, "validatingwebhookconfigurations"),
				permissions.Rule("list watch update", group, "validatingwebhookconfigurations", registration.ValidatingName),
				permissions.Rule("list watch patch", crds.Resource.Group, crds.Resource.Resource, registration.ConvertedName))
		}
		if !config.certificatesInFolder() {
			parts = append(parts, permissions.Part{Namespace: config.OwnNamespace, Rules: []rbacv1.PolicyRule{
				permissions.Rule("create", "", "secrets"),
				permissions.Rule("list watch patch", "", "secrets", w.Secret),
			}})
		}
	}
	parts = append(parts, permissions.Part{Rules: rules})
	if l := config.LeaderElection; l.Enabled {
		parts = append(parts, permissions.Part{Name: "leader-election", Namespace: config.leaseNamespace(), Rules: []rbacv1.PolicyRule{
			permissions.Rule("create", "coordination.k8s.io", "leases"),
			permissions.Rule("get update", "coordination.k8s.io", "leases", l.ID),
		}})
	}
	for _, kind := range m.controllers() {
		cluster, namespaced := kind.rules(gates)
		parts = append(parts, permissions.Part{Name: kind.controller, Rules: cluster},
			permissions.Part{Name: kind.controller, Namespace: config.Namespace, Rules: namespaced})
	}
	return parts, nil
}
