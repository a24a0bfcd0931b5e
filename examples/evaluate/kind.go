// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"

	"github.com/podwright/podwright/examples/testbed/mirror"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/cloneset"
	"github.com/podwright/podwright/workloads/statefulset"
	"github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// kind is a kind of workload, and the demo of it.
type kind struct {
	// name stands in manifests, such as "CloneSet"; kubectl is how kubectl calls it.
	name, kubectl string
	resource      schema.GroupVersionResource
	// manifest is the object to create, in YAML.
	manifest []byte
	// acts are what happens to the workload.
	acts []act

	// controller makes the controller of such objects in a namespace.
	controller func(core kubernetes.Interface, workloads client.Interface, namespace string) (runner, error)
	// source lists and watches the objects of a namespace.
	source func(workloads client.Interface, namespace string) mirror.Source
	// plan says what the plan for such an object says, which controls these pods and revisions.
	plan func(object metav1.Object, pods []*corev1.Pod, revisions []*appsv1.ControllerRevision, now time.Time) rollout.Plan
}

type runner interface{ Run(context.Context) error }

var (
	//go:embed cloneset.yaml
	cloneSetManifest []byte
	//go:embed statefulset.yaml
	statefulSetManifest []byte
)

// kinds are the kinds of workloads that there is a demo of, as the command line calls them. A new kind is one more entry here.
var kinds = map[string]*kind{
	"cloneset": {
		name: "CloneSet", kubectl: "cloneset", manifest: cloneSetManifest,
		resource: v1alpha1.SchemeGroupVersion.WithResource("clonesets"),
		acts:     []act{creation, update("/spec/updateStrategy/partition", `"50%"`)},
		controller: func(core kubernetes.Interface, workloads client.Interface, namespace string) (runner, error) {
			return cloneset.New(cloneset.Options{Kubernetes: core, Workloads: workloads, Namespace: namespace})
		},
		source: func(workloads client.Interface, namespace string) mirror.Source {
			return mirror.From(workloads.CloneSets(namespace).List, workloads.CloneSets(namespace).Watch)
		},
		plan: func(object metav1.Object, pods []*corev1.Pod, revisions []*appsv1.ControllerRevision, now time.Time) rollout.Plan {
			return cloneset.NewPlan(&cloneset.Snapshot{Set: object.(*v1alpha1.CloneSet), Pods: pods, Revisions: revisions, Now: now}).Plan
		},
	},
	"statefulset": {
		name: "StatefulSet", kubectl: "statefulset.apps.kruise.io", manifest: statefulSetManifest, // without the group it is that of Kubernetes
		resource: v1beta1.SchemeGroupVersion.WithResource("statefulsets"),
		acts:     []act{creation, update("/spec/updateStrategy/rollingUpdate/partition", "5"), mistake},
		controller: func(core kubernetes.Interface, workloads client.Interface, namespace string) (runner, error) {
			return statefulset.New(statefulset.Options{Kubernetes: core, Workloads: workloads, Namespace: namespace})
		},
		source: func(workloads client.Interface, namespace string) mirror.Source {
			return mirror.From(workloads.StatefulSets(namespace).List, workloads.StatefulSets(namespace).Watch)
		},
		plan: func(object metav1.Object, pods []*corev1.Pod, revisions []*appsv1.ControllerRevision, now time.Time) rollout.Plan {
			return statefulset.NewPlan(&statefulset.Snapshot{Set: object.(*v1beta1.StatefulSet), Pods: pods, Revisions: revisions, Now: now}).Plan
		},
	},
}

// state is a workload at one moment, and what the plan that follows from it says.
type state struct {
	generation int64
	replicas   int
	status     status
	pods       []*corev1.Pod
	rollout.Plan
}

// status is what the status of every kind has.
type status struct {
	ObservedGeneration, Replicas, AvailableReplicas, UpdatedReplicas, UpdatedReadyReplicas int64
}

// observe returns the state of an object of this kind.
func (k *kind) observe(object metav1.Object, pods []*corev1.Pod, revisions []*appsv1.ControllerRevision, now time.Time) *state {
	var fields struct {
		Spec   struct{ Replicas int }
		Status status
	}
	data, _ := json.Marshal(object) // what the API server has sent as JSON
	_ = json.Unmarshal(data, &fields)
	return &state{object.GetGeneration(), fields.Spec.Replicas, fields.Status, pods, k.plan(object, pods, revisions, now)}
}

// settled tells whether a workload has settled at this status since the generation of a change.
func (s *state) settled(generation int64, want status) bool {
	want.ObservedGeneration = s.generation
	return s.generation >= generation && s.status == want && s.Empty()
}
