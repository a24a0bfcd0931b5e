// SPDX-License-Identifier: Apache-2.0

package app

import (
	"fmt"
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

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

// Policies returns the admission policies for a manager with this configuration: those that protect from deletion, unless their
// gate is closed, and where it serves no webhooks those that stand in for them.
func Policies(config Config) ([]byte, error) {
	gates, err := features.Parse(config.FeatureGates, config.CustomResources)
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
	gates, err := features.Parse(config.FeatureGates, config.CustomResources)
	if err != nil {
		return nil, err
	}
	return (&Manager{config: config, gates: gates}).definitions(), nil
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
	needed := config.Webhook.Permissions(config.OwnNamespace)
	if config.Webhook.Enabled {
		core := kubernetes.NewForConfigOrDie(&rest.Config{}) // which is asked nothing
		if m.sidecars, err = newSidecars(&rest.Config{}, core, config.OwnNamespace); err != nil {
			return nil, err
		}
		if m.budgets, err = newBudgets(&rest.Config{}, core, gates, config.Namespace); err != nil {
			return nil, err
		}
		if m.places, err = newPlaces(&rest.Config{}, core, gates, config.Namespace, config.OwnNamespace); err != nil {
			return nil, err
		}
		inCluster, where := m.places.permissions()
		needed = append(needed, inCluster, where, permissions.Part{Namespace: config.OwnNamespace, Rules: whiteListRules()})
		rules = append(rules, m.sidecars.Rules()...)
		namespace, there := m.sidecars.NamespaceRules()
		needed = append(needed, permissions.Part{Namespace: namespace, Rules: there})
		for _, webhook := range m.webhooks(core, metadata.NewForConfigOrDie(&rest.Config{})) {
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
		inCluster, where := permissions.Part{Name: part.Name}, permissions.Part{Name: part.Name, Namespace: m.config.Namespace}
		for _, rule := range part.Rules {
			if m.config.kinds[kind].inCluster || slices.Contains(withoutNamespace, rule.Resources[0]) {
				inCluster.Rules = append(inCluster.Rules, rule)
			} else {
				where.Rules = append(where.Rules, rule)
			}
		}
		needed = append(needed, inCluster, where)
	}
	return needed, err
}

// withoutNamespace are resources that controllers use which have no namespace.
var withoutNamespace = []string{"nodes", "namespaces", "nodeimages", "nodeimages/status", "nodepodprobes", "sidecarsets", "sidecarsets/status", "sidecarsets/finalizers"}
