// SPDX-License-Identifier: Apache-2.0

package fakecluster

import (
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/podwright/podwright/availability"
	"github.com/podwright/podwright/distribution"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/lifecycle"
	"github.com/podwright/podwright/sidecar"
	"github.com/podwright/podwright/workloads"
)

// Resource is a kind of object that a Cluster knows.
type Resource struct {
	schema.GroupVersionKind
	// Plural is the name in URLs, "clonesets" for example.
	Plural string
	// ClusterScoped says that its objects have no namespace.
	ClusterScoped bool
}

// known returns the resources that a server has beside its own: kinds of Kubernetes, those of this library, and those of the caller.
func known(more []Resource) []fakecluster.Resource {
	resources := kubernetesKinds()
	for _, crd := range slices.Concat(workloads.CRDs(), sidecar.CRDs(), availability.CRDs(), distribution.CRDs(), lifecycle.CRDs()) {
		resources = append(resources, resourceOf(crd))
	}
	for _, r := range more {
		resources = append(resources, custom(r))
	}
	return resources
}

func custom(r Resource) fakecluster.Resource {
	resource := fakecluster.CustomResource(r.GroupVersionKind, r.Plural)
	resource.ClusterScoped = r.ClusterScoped
	return resource
}

// resourceOf returns the resource that a definition of this library describes, in the version in which its objects are stored.
func resourceOf(crd *unstructured.Unstructured) fakecluster.Resource {
	text := func(path ...string) string {
		value, _, _ := unstructured.NestedString(crd.Object, append([]string{"spec"}, path...)...)
		return value
	}
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	for _, item := range versions {
		version, _ := item.(map[string]any)
		if version["storage"] != true {
			continue
		}
		name, _ := version["name"].(string)
		resource := custom(Resource{
			GroupVersionKind: schema.GroupVersionKind{Group: text("group"), Version: name, Kind: text("names", "kind")},
			Plural:           text("names", "plural"), ClusterScoped: text("scope") == "Cluster",
		})
		if paths, found, _ := unstructured.NestedStringMap(version, "subresources", "scale"); found {
			resource.Scale = &fakecluster.Scale{
				Replicas: fields(paths["specReplicasPath"]), StatusReplicas: fields(paths["statusReplicasPath"]), Selector: fields(paths["labelSelectorPath"]),
			}
		}
		return resource
	}
	panic(fmt.Sprintf("%s has no version in which objects are stored", crd.GetName())) // the definitions are the library's own
}

// fields returns the names in a path such as .spec.replicas.
func fields(path string) []string { return strings.Split(strings.TrimPrefix(path, "."), ".") }

// kubernetesKinds returns the kinds of Kubernetes that the library or its webhooks read, and those that operators use.
// No controller acts on them.
func kubernetesKinds() []fakecluster.Resource {
	scaled := func(r fakecluster.Resource) fakecluster.Resource {
		r.Scale = &fakecluster.Scale{Replicas: fields("spec.replicas"), StatusReplicas: fields("status.replicas"), Selector: fields("spec.selector")}
		return r
	}
	global := func(r fakecluster.Resource) fakecluster.Resource {
		r.ClusterScoped = true
		return r
	}
	plain := func(kind schema.GroupVersionKind, name string, object func() any) fakecluster.Resource {
		return fakecluster.Resource{GroupVersionKind: kind, Name: name, Type: object}
	}
	core, apps, batch := corev1.SchemeGroupVersion.WithKind, appsv1.SchemeGroupVersion.WithKind, batchv1.SchemeGroupVersion.WithKind
	storage, policy := storagev1.SchemeGroupVersion.WithKind, policyv1.SchemeGroupVersion.WithKind
	return []fakecluster.Resource{
		plain(eventsv1.SchemeGroupVersion.WithKind("Event"), "events", func() any { return &eventsv1.Event{} }), // apart from those of the core group
		plain(core("ConfigMap"), "configmaps", func() any { return &corev1.ConfigMap{} }),
		plain(core("Secret"), "secrets", func() any { return &corev1.Secret{} }),
		plain(core("ServiceAccount"), "serviceaccounts", func() any { return &corev1.ServiceAccount{} }),
		plain(core("PodTemplate"), "podtemplates", func() any { return &corev1.PodTemplate{} }),
		plain(core("LimitRange"), "limitranges", func() any { return &corev1.LimitRange{} }),
		fakecluster.BuiltIn(core("Service"), "services", func() any { return &corev1.Service{} }),
		fakecluster.BuiltIn(core("ResourceQuota"), "resourcequotas", func() any { return &corev1.ResourceQuota{} }),
		global(fakecluster.BuiltIn(core("Namespace"), "namespaces", func() any { return &corev1.Namespace{} })),
		global(fakecluster.BuiltIn(core("PersistentVolume"), "persistentvolumes", func() any { return &corev1.PersistentVolume{} })),
		scaled(fakecluster.BuiltIn(core("ReplicationController"), "replicationcontrollers", func() any { return &corev1.ReplicationController{} })),
		scaled(fakecluster.BuiltIn(apps("Deployment"), "deployments", func() any { return &appsv1.Deployment{} })),
		scaled(fakecluster.BuiltIn(apps("ReplicaSet"), "replicasets", func() any { return &appsv1.ReplicaSet{} })),
		scaled(fakecluster.BuiltIn(apps("StatefulSet"), "statefulsets", func() any { return &appsv1.StatefulSet{} })),
		fakecluster.BuiltIn(apps("DaemonSet"), "daemonsets", func() any { return &appsv1.DaemonSet{} }),
		fakecluster.BuiltIn(batch("Job"), "jobs", func() any { return &batchv1.Job{} }),
		fakecluster.BuiltIn(batch("CronJob"), "cronjobs", func() any { return &batchv1.CronJob{} }),
		fakecluster.BuiltIn(policy("PodDisruptionBudget"), "poddisruptionbudgets", func() any { return &policyv1.PodDisruptionBudget{} }),
		plain(coordinationv1.SchemeGroupVersion.WithKind("Lease"), "leases", func() any { return &coordinationv1.Lease{} }),
		global(plain(storage("StorageClass"), "storageclasses", func() any { return &storagev1.StorageClass{} })),
		global(plain(schedulingv1.SchemeGroupVersion.WithKind("PriorityClass"), "priorityclasses", func() any { return &schedulingv1.PriorityClass{} })),
	}
}
