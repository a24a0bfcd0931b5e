package app

import (
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"

	"github.com/podwright/podwright/examples/manager/crds"
	"github.com/podwright/podwright/examples/manager/features"
	"github.com/podwright/podwright/examples/manager/permissions"
	"github.com/podwright/podwright/examples/manager/registration"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// Permissions returns what a manager with this configuration asks of the API
// server, by its parts. Rights to read stand with the controllers that read,
// though most of them share caches, whose requests come from "caches".
func Permissions(config Config) ([]permissions.Part, error) {
	gates, err := features.Parse(config.FeatureGates, config.CustomResources)
	if err != nil {
		return nil, err
	}
	m := &Manager{config: config, gates: gates}
	parts := append(m.installing(), m.serving()...)
	if config.LeaderElection.Enabled {
		parts = append(parts, permissions.Part{Name: "leader-election", Namespace: config.leaseNamespace(), Rights: []permissions.Right{
			{Group: coordinationv1.GroupName, Resource: "leases", Verbs: "create"},
			{Group: coordinationv1.GroupName, Resource: "leases", Verbs: "get update", Names: []string{config.LeaderElection.ID}},
		}})
	}
	for _, c := range m.controllers() {
		parts = append(parts,
			permissions.Part{Name: c.name, Rights: c.rights.cluster},
			permissions.Part{Name: c.name, Namespace: config.Namespace, Rights: c.rights.namespaced})
	}
	return parts, nil
}

// Manifest returns the RBAC objects for a manager with this configuration.
func Manifest(config Config) ([]byte, error) {
	parts, err := Permissions(config)
	if err != nil {
		return nil, err
	}
	return permissions.Manifest(userAgent, config.OwnNamespace, parts)
}

// rights are what a controller needs.
type rights struct {
	// cluster is needed also by a controller that works in one namespace.
	cluster []permissions.Right
	// namespaced is needed where the controller works.
	namespaced []permissions.Right
}

// kruise is the group of the custom resources.
const kruise = v1alpha1.GroupName

func (m *Manager) cloneSetRights() rights {
	return rights{
		cluster:    []permissions.Right{{Resource: "nodes", Verbs: "list watch"}},
		namespaced: m.workloadRights("clonesets", "list watch patch"),
	}
}

func (m *Manager) statefulSetRights() rights {
	return rights{namespaced: m.workloadRights("statefulsets", "get list watch")}
}

// workloadRights are those of a controller that owns pods, claims and revisions.
func (m *Manager) workloadRights(resource, verbs string) []permissions.Right {
	needed := []permissions.Right{
		{Group: kruise, Resource: resource, Verbs: verbs},
		{Group: kruise, Resource: resource + "/status", Verbs: "patch"},
		// Where OwnerReferencesPermissionEnforcement is on, as in OpenShift, this
		// lets a pod block the deletion of its owner; and owners are set only of
		// what may be deleted.
		{Group: kruise, Resource: resource + "/finalizers", Verbs: "update"},
		// get and list find out what became of a write without an answer.
		{Resource: "pods", Verbs: "get list watch create patch delete"},
		{Resource: "pods/status", Verbs: "patch"},
		{Resource: "persistentvolumeclaims", Verbs: "get list watch create patch delete"},
		{Group: appsv1.GroupName, Resource: "controllerrevisions", Verbs: "get list watch create patch delete"},
		{Resource: "events", Verbs: "create patch"},
	}
	if m.gates.Enabled(features.PreDownloadImageForInPlaceUpdate) {
		needed = append(needed, permissions.Right{Group: kruise, Resource: "imagepulljobs", Verbs: "list watch create delete"})
	}
	return needed
}

func launchPriorityRights() rights {
	return rights{namespaced: []permissions.Right{
		{Resource: "pods", Verbs: "list watch"},
		{Resource: "configmaps", Verbs: "get create patch"},
		{Resource: "events", Verbs: "create patch"},
	}}
}

func podReadinessRights() rights {
	return rights{namespaced: []permissions.Right{
		{Resource: "pods", Verbs: "list watch"},
		{Resource: "pods/status", Verbs: "patch"},
	}}
}

func imagePullJobRights() rights {
	return rights{
		cluster: []permissions.Right{{Group: kruise, Resource: "nodeimages", Verbs: "list watch patch"}},
		namespaced: []permissions.Right{
			{Group: kruise, Resource: "imagepulljobs", Verbs: "list watch delete"},
			{Group: kruise, Resource: "imagepulljobs/status", Verbs: "patch"},
			{Group: kruise, Resource: "clonesets", Verbs: "list watch"},
			{Group: kruise, Resource: "statefulsets", Verbs: "list watch"},
			{Resource: "pods", Verbs: "list watch"},
		},
	}
}

func nodeImageRights() rights {
	return rights{cluster: []permissions.Right{
		{Resource: "nodes", Verbs: "get list watch"},
		{Group: kruise, Resource: "nodeimages", Verbs: "list watch create patch delete"},
		{Group: kruise, Resource: "nodeimages/status", Verbs: "patch"},
		{Group: kruise, Resource: "imagepulljobs", Verbs: "get list watch"}, // nodes hold tasks of jobs of all namespaces
		{Resource: "events", Verbs: "create patch"},                         // about NodeImages, in the namespace default, and jobs
	}}
}

func containerRecreateRequestRights() rights {
	return rights{namespaced: []permissions.Right{
		{Group: kruise, Resource: "containerrecreaterequests", Verbs: "list watch patch delete"},
		{Group: kruise, Resource: "containerrecreaterequests/status", Verbs: "patch"},
		{Resource: "pods", Verbs: "get list watch"},
		{Resource: "pods/status", Verbs: "patch"},
	}}
}

// installing is what --create-own-namespace and --install-crds take.
func (m *Manager) installing() []permissions.Part {
	var needed []permissions.Right
	if m.config.CreateOwnNamespace {
		needed = append(needed, permissions.Right{Resource: "namespaces", Verbs: "create"})
	}
	if m.config.InstallCRDs {
		var names []string
		for _, definition := range m.definitions() {
			names = append(names, definition.GetName())
		}
		// They are applied, and for that the name is known at the creation too.
		needed = append(needed, permissions.Right{Group: crds.Resource.Group, Resource: crds.Resource.Resource, Verbs: "get create patch", Names: names})
	}
	return []permissions.Part{{Rights: needed}}
}

// serving is what webhooks, their certificates and their registration take.
func (m *Manager) serving() []permissions.Part {
	if !m.config.Webhook.Enabled {
		return nil
	}
	parts := []permissions.Part{{Rights: []permissions.Right{
		{Resource: "pods", Verbs: "get"},
		{Resource: "podtemplates", Verbs: "create"}, // a dry run has the API server check a template
	}}}
	if m.config.Webhook.Register {
		parts = append(parts, permissions.Part{Rights: registering()})
	}
	if !m.config.certificatesInFolder() {
		parts = append(parts, permissions.Part{Namespace: m.config.OwnNamespace, Rights: []permissions.Right{
			{Resource: "secrets", Verbs: "create"},
			{Resource: "secrets", Verbs: "get list watch patch", Names: []string{m.config.Webhook.Secret}},
		}})
	}
	return parts
}

func registering() []permissions.Right {
	const group = "admissionregistration.k8s.io"
	return []permissions.Right{
		{Group: group, Resource: "mutatingwebhookconfigurations", Verbs: "create"},
		{Group: group, Resource: "mutatingwebhookconfigurations", Verbs: "list watch update", Names: []string{registration.MutatingName}},
		{Group: group, Resource: "validatingwebhookconfigurations", Verbs: "create"},
		{Group: group, Resource: "validatingwebhookconfigurations", Verbs: "list watch update", Names: []string{registration.ValidatingName}},
		{Group: crds.Resource.Group, Resource: crds.Resource.Resource, Verbs: "list watch patch", Names: []string{registration.ConvertedName}},
	}
}
