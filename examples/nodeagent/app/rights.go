package app

import (
	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/examples/manager/features"
	"github.com/podwright/podwright/examples/manager/permissions"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// Namespace is where the ServiceAccount of the agents stands.
const Namespace = "kruise-system"

// Permissions returns what an agent with this configuration asks of the API
// server, by its features. Rights to read stand with the features that read; the
// requests come from the cache that they share.
func Permissions(config Config) ([]permissions.Part, error) {
	gates, err := features.Parse(config.FeatureGates, "")
	if err != nil {
		return nil, err
	}
	a := &Agent{config: config, gates: gates}
	var needed []permissions.Part
	for _, f := range a.features() {
		if gates.Enabled(f.gate) {
			needed = append(needed, permissions.Part{Name: f.name, Rights: f.rights})
		}
	}
	return needed, nil
}

// Manifest returns the RBAC objects for the agents of all nodes with this
// configuration. RBAC knows no nodes, so each may do its work with all pods.
func Manifest(config Config) ([]byte, error) {
	needed, err := Permissions(config)
	if err != nil {
		return nil, err
	}
	return permissions.Manifest(name, Namespace, needed)
}

func containerMetaRights() []permissions.Right {
	return []permissions.Right{
		{Resource: "pods", Verbs: "list watch"},
		{Resource: "pods/status", Verbs: "patch"},
		{Resource: "events", Verbs: "create patch"},
	}
}

func recreateRights() []permissions.Right {
	return []permissions.Right{
		{Group: lifecyclev1alpha1.GroupName, Resource: "containerrecreaterequests", Verbs: "list watch patch"},
		{Group: lifecyclev1alpha1.GroupName, Resource: "containerrecreaterequests/status", Verbs: "patch"},
		{Resource: "pods", Verbs: "list watch"},
		{Resource: "events", Verbs: "create patch"},
	}
}

func imageRights() []permissions.Right {
	return []permissions.Right{
		{Group: distributionv1alpha1.GroupName, Resource: "nodeimages", Verbs: "list watch"},
		{Group: distributionv1alpha1.GroupName, Resource: "nodeimages/status", Verbs: "patch"},
		{Resource: "secrets", Verbs: "get"}, // those that a task names
		{Resource: "events", Verbs: "create patch"},
	}
}
