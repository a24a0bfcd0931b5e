// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/podwright/podwright/availability/podunavailablebudget"
	"github.com/podwright/podwright/distribution/workloadspread"
	"github.com/podwright/podwright/examples/testbed/mirror"
	"github.com/podwright/podwright/examples/testbed/serve"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/sidecar/policies"
	"github.com/podwright/podwright/sidecar/sidecarset"
	sidecarv1alpha1 "github.com/podwright/podwright/sidecar/v1alpha1"
	"github.com/podwright/podwright/workloads/cloneset"
	"github.com/podwright/podwright/workloads/daemonset"
	"github.com/podwright/podwright/workloads/statefulset"
	"github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// workload is a kind of objects that have pods.
type workload struct {
	name   string    // in manifests, such as "CloneSet"
	image  string    // the field that changes
	counts [3]string // the fields of the status that are its counts
	source func(*demo) mirror.Source
}

const inTemplate = "/spec/template/spec/containers/0/image"

// sets are the workloads that there are demos of, by their resources.
var sets = map[string]*workload{
	"clonesets": {"CloneSet", inTemplate, [3]string{"replicas", "availableReplicas", "updatedReplicas"},
		func(d *demo) mirror.Source { return mirror.Of(d.Workloads.CloneSets(d.namespace)) }},
	"statefulsets": {"StatefulSet", inTemplate, [3]string{"replicas", "availableReplicas", "updatedReplicas"},
		func(d *demo) mirror.Source { return mirror.Of(d.Workloads.StatefulSets(d.namespace)) }},
	"daemonsets": {"DaemonSet", inTemplate, [3]string{"currentNumberScheduled", "numberAvailable", "updatedNumberScheduled"},
		func(d *demo) mirror.Source { return mirror.Of(d.Workloads.DaemonSets(d.namespace)) }},
	"sidecarsets": {"SidecarSet", "/spec/containers/0/image", [3]string{"matchedPods", "readyPods", "updatedPods"},
		func(d *demo) mirror.Source { return mirror.Of(d.Sidecar.SidecarSets()) }},
}

// observed is what a plan follows from: an object, its pods, the revisions that it controls, and all nodes.
type observed struct {
	set       metav1.Object
	pods      []*corev1.Pod
	revisions []*appsv1.ControllerRevision
	nodes     []*corev1.Node
	now       time.Time
}

// plan is the plan of the library for what is observed.
func (o *observed) plan() rollout.Plan {
	switch set := o.set.(type) {
	case *v1alpha1.CloneSet:
		return cloneset.NewPlan(&cloneset.Snapshot{Set: set, Pods: o.pods, Revisions: o.revisions, Now: o.now}).Plan
	case *v1beta1.StatefulSet:
		return statefulset.NewPlan(&statefulset.Snapshot{Set: set, Pods: o.pods, Revisions: o.revisions, Now: o.now}).Plan
	case *v1alpha1.DaemonSet:
		return daemonset.NewPlan(&daemonset.Snapshot{Set: set, Pods: o.pods, Revisions: o.revisions, Nodes: o.nodes, Now: o.now}).Plan
	case *sidecarv1alpha1.SidecarSet: // of a cluster of the demo's own, with its namespace
		return sidecarset.NewPlan(&sidecarset.Snapshot{Set: set, Pods: o.pods, Revisions: o.revisions, RevisionNamespace: metav1.NamespaceDefault, Now: o.now}).Plan
	}
	return rollout.Plan{}
}

// runner is a controller of the library.
type runner interface{ Run(context.Context) error }

// control makes the controllers of a resource, and has them run.
func (d *demo) control(resource schema.GroupVersionResource, run func(runner, error)) {
	switch resource.Resource {
	case "clonesets":
		run(cloneset.New(cloneset.Options{Kubernetes: d.Kubernetes, Workloads: d.Workloads, Namespace: d.namespace, Placement: d.placement}))
	case "statefulsets":
		run(statefulset.New(statefulset.Options{Kubernetes: d.Kubernetes, Workloads: d.Workloads, Namespace: d.namespace}))
	case "daemonsets":
		run(daemonset.New(daemonset.Options{Kubernetes: d.Kubernetes, Workloads: d.Workloads, Namespace: d.namespace}))
	case "sidecarsets":
		run(sidecarset.New(sidecarset.Options{Kubernetes: d.Kubernetes, Sidecar: d.Sidecar, Namespace: d.namespace}))
		run(policies.New(policies.Options{Kubernetes: d.Kubernetes, Sidecar: d.Sidecar, Namespace: d.namespace}))
	case "podunavailablebudgets":
		o := podunavailablebudget.Options{Kubernetes: d.Kubernetes, Availability: d.Availability, Workloads: d.Workloads, Namespace: d.namespace}
		run(&serve.Budgets{Options: o}, nil)
	case "workloadspreads":
		o := workloadspread.Options{Kubernetes: d.Kubernetes, Distribution: d.Distribution, Workloads: d.Workloads, Namespace: d.namespace}
		placer, err := workloadspread.NewPlacer(o)
		d.placement = placer // of the CloneSets whose controller comes later
		run(placer, err)
		run(workloadspread.New(o))
	}
}
