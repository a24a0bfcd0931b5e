// SPDX-License-Identifier: Apache-2.0

package app

import (
	"fmt"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"

	"github.com/podwright/podwright/availability/deletion"
	"github.com/podwright/podwright/examples/kit/crds"
	"github.com/podwright/podwright/examples/kit/permissions"
	"github.com/podwright/podwright/examples/process/features"
	"github.com/podwright/podwright/lifecycle"
)

// Manifest returns the RBAC objects for a manager with this configuration.
func Manifest(config Config) ([]byte, error) {
	parts, err := Permissions(config)
	if err != nil {
		return nil, err
	}
	return permissions.Manifest(program, config.OwnNamespace, parts)
}

// Policies returns the admission policies for a manager with this configuration: those that protect from deletion, unless
// their gate is closed. If it serves no webhooks, there are also those that stand in for them.
func Policies(config Config) ([]byte, error) {
	gates, err := config.Features.Parse()
	if err != nil {
		return nil, err
	}
	var policies []admissionregistrationv1.ValidatingAdmissionPolicy
	var bindings []admissionregistrationv1.ValidatingAdmissionPolicyBinding
	if gates.Enabled(features.ResourcesDeletionProtection) {
		if policies, bindings, err = deletion.Policies(deletion.PolicyOptions{LabelGroup: config.DeletionProtectionLabelGroup}); err != nil {
			return nil, fmt.Errorf("--deletion-protection-label-group: %w", err)
		}
	}
	if !config.Webhook.Enabled {
		more, bound := lifecycle.PoliciesWithoutWebhooks()
		policies, bindings = append(policies, more...), append(bindings, bound...)
	}
	return permissions.Policies(policies, bindings)
}

// Definitions returns the CRDs of what a manager with this configuration manages.
func Definitions(config Config) ([]*unstructured.Unstructured, error) {
	gates, err := config.Features.Parse()
	if err != nil {
		return nil, err
	}
	return (&Manager{config: config, gates: gates}).definitions()
}

// Permissions returns what a manager with this configuration asks of the API server, by its parts. Rules to read stand
// with the controllers that read, though they share caches, whose requests come from "caches".
func Permissions(config Config) ([]permissions.Part, error) {
	gates, err := config.Features.Parse()
	if err != nil {
		return nil, err
	}
	m := &Manager{config: config, gates: gates}
	kinds, err := m.describe()
	if err != nil {
		return nil, err
	}
	var rules []rbacv1.PolicyRule // of the program as a whole
	if config.CreateOwnNamespace {
		rules = append(rules, permissions.Rule("create", "", "namespaces"))
	}
	if config.InstallCRDs { // they are applied, and for that the name is known at the creation too
		var names []string
		for _, definition := range kinds.CRDs() {
			names = append(names, definition.GetName())
		}
		rules = append(rules, permissions.Rule("get create patch", crds.Resource.Group, crds.Resource.Resource, names...))
	}
	hooks := config.webhook(gates)
	needed := append(hooks.Permissions(config.OwnNamespace), permissions.Part{Rules: rules})
	if config.Webhook.Enabled {
		m.recorder, m.denials = &record.FakeRecorder{}, &record.FakeRecorder{}
		if m.admissions, err = m.newAdmissions(&rest.Config{}); err != nil { // which is asked nothing
			return nil, err
		}
		served, err := m.webhooks()
		if err != nil {
			return nil, err
		}
		needed = append(needed, served.Permissions()...)
	}
	if l := config.LeaderElection; l.Enabled {
		needed = append(needed, permissions.Part{Name: "leader-election", Namespace: config.leaseNamespace(), Rules: []rbacv1.PolicyRule{
			permissions.Rule("create", "coordination.k8s.io", "leases"),
			permissions.Rule("get update", "coordination.k8s.io", "leases", l.ID),
		}})
	}
	return append(needed, kinds.Permissions()...), nil
}
