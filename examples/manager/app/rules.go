// SPDX-License-Identifier: Apache-2.0

package app

import (
	"fmt"
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"

	"github.com/podwright/podwright/availability/deletion"
	"github.com/podwright/podwright/examples/process/controllers"
	"github.com/podwright/podwright/examples/process/crds"
	"github.com/podwright/podwright/examples/process/features"
	"github.com/podwright/podwright/examples/process/permissions"
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
	return (&Manager{config: config, gates: gates}).definitions(), nil
}

// Permissions returns what a manager with this configuration asks of the API server, by its parts. Rules to read stand
// with the controllers that read, though they share caches, whose requests come from "caches".
func Permissions(config Config) ([]permissions.Part, error) {
	gates, err := config.Features.Parse()
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
	needed := config.Webhook.Permissions(config.OwnNamespace)
	if config.Webhook.Enabled {
		m.recorder = &record.FakeRecorder{}
		if m.admissions, err = m.newAdmissions(&rest.Config{}); err != nil { // which is asked nothing
			return nil, err
		}
		needed = append(needed, m.admissions.permissions(config.Namespace)...)
		for _, webhook := range m.webhooks() {
			if asks, ok := webhook.(interface{ Rules() []rbacv1.PolicyRule }); ok {
				rules = append(rules, asks.Rules()...)
			}
		}
	}
	needed = append(needed, permissions.Part{Rules: rules})
	if l := config.LeaderElection; l.Enabled {
		needed = append(needed, permissions.Part{Name: "leader-election", Namespace: config.leaseNamespace(), Rules: []rbacv1.PolicyRule{
			permissions.Rule("create", "coordination.k8s.io", "leases"),
			permissions.Rule("get update", "coordination.k8s.io", "leases", l.ID),
		}})
	}
	ofKinds, err := m.rulesOfKinds()
	return append(needed, ofKinds...), err
}

// rulesOfKinds returns what the controllers ask, in the cluster and in the namespace that the manager works in.
func (m *Manager) rulesOfKinds() (needed []permissions.Part, err error) {
	caches, err := m.newCaches(&rest.Config{}) // which is asked nothing
	if err != nil {
		return nil, err
	}
	all, err := controllers.Permissions(m.controllers(caches))
	for _, part := range all {
		if part.Namespace != "" { // whatever namespace the manager works in
			needed = append(needed, part)
			continue
		}
		kind := slices.IndexFunc(m.config.kinds, func(k kind) bool { return k.name == part.Name })
		if m.config.kinds[kind].inCluster {
			needed = append(needed, part)
		} else {
			needed = append(needed, confined(part.Name, m.config.Namespace, part.Rules)...)
		}
	}
	return needed, err
}

// confined confines the rules of a part to a namespace, as far as they are about what has one.
func confined(name, namespace string, rules []rbacv1.PolicyRule) []permissions.Part {
	inCluster, where := permissions.Part{Name: name}, permissions.Part{Name: name, Namespace: namespace}
	for _, rule := range rules {
		if slices.Contains(withoutNamespace, rule.Resources[0]) {
			inCluster.Rules = append(inCluster.Rules, rule)
		} else {
			where.Rules = append(where.Rules, rule)
		}
	}
	return []permissions.Part{inCluster, where}
}

// withoutNamespace are resources that controllers use which have no namespace.
var withoutNamespace = []string{"nodes", "namespaces", "nodeimages", "nodeimages/status", "nodepodprobes", "sidecarsets", "sidecarsets/status", "sidecarsets/finalizers"}
