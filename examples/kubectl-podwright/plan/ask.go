// SPDX-License-Identifier: Apache-2.0

// Package plan says what the controller of a workload does next, and why pods wait. It reads from the API server what the
// controller reads from its caches, and asks the controller's own planner.
package plan

import (
	"context"
	"encoding/json"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/podwright/podwright/examples/kubectl-podwright/workload"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/cloneset"
	"github.com/podwright/podwright/workloads/conversion"
	"github.com/podwright/podwright/workloads/daemonset"
	"github.com/podwright/podwright/workloads/statefulset"
	"github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// Plan is what the next reconcile of a workload does.
type Plan struct {
	rollout.Plan
	// Nodes are those that should get a pod of a DaemonSet and do not.
	Nodes []daemonset.NodeWait
	// Pods are those that the plan is about, as they are now.
	Pods []*corev1.Pod
	// History are the revisions that there are.
	History []*appsv1.ControllerRevision
	// Text is all of the plan in words, one decision a line.
	Text string
}

// Planner plans for workloads of a cluster. It writes nothing.
type Planner struct {
	kube      kubernetes.Interface
	workloads client.Interface
	clock     clock.WithTicker
}

// NewPlanner returns a planner for the cluster that a configuration leads to.
func NewPlanner(config *rest.Config, clock clock.WithTicker) (*Planner, error) {
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	workloads, err := client.NewForConfig(config)
	return &Planner{kube, workloads, clock}, err
}

// Plan returns what the next reconcile of a workload does: of the given object, which need not be as the API server has it,
// and of everything else as that has it. The controller's features are its defaults. An error says what could not
// be read, or that the kind is none of CloneSet, StatefulSet and DaemonSet. (KC-19)
func (p *Planner) Plan(ctx context.Context, o *workload.Object) (*Plan, error) {
	read := &reader{ctx: ctx, kube: p.kube}
	key := types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()}
	switch o.GetKind() {
	case "CloneSet":
		return p.cloneSet(read, key, o)
	case "StatefulSet":
		return p.statefulSet(read, key, o)
	case "DaemonSet":
		return p.daemonSet(read, key, o)
	}
	return nil, fmt.Errorf("cannot plan for a %s: only for clonesets, statefulsets.apps.kruise.io and daemonsets.apps.kruise.io", o.GetKind())
}

func (p *Planner) cloneSet(read *reader, key types.NamespacedName, o *workload.Object) (*Plan, error) {
	set := &v1alpha1.CloneSet{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, set); err != nil {
		return nil, err
	}
	r, err := cloneset.NewReconciler(cloneset.Options{
		Kubernetes: p.kube, Workloads: p.workloads, Reader: cloneSetReader{read, set}, AllowStaleReads: true, Clock: p.clock})
	if err != nil {
		return nil, err
	}
	snapshot, err := r.Snapshot(key)
	if err != nil {
		return nil, err
	}
	next := cloneset.NewPlan(snapshot)
	return &Plan{Plan: next.Plan, Pods: snapshot.Pods, History: snapshot.Revisions, Text: next.String()}, nil
}

func (p *Planner) statefulSet(read *reader, key types.NamespacedName, o *workload.Object) (*Plan, error) {
	set, err := statefulSetOf(o)
	if err != nil {
		return nil, err
	}
	r, err := statefulset.NewReconciler(statefulset.Options{
		Kubernetes: p.kube, Workloads: p.workloads, Reader: statefulSetReader{read, set}, AllowStaleReads: true, Clock: p.clock})
	if err != nil {
		return nil, err
	}
	snapshot, err := r.Snapshot(key)
	if err != nil {
		return nil, err
	}
	next := statefulset.NewPlan(snapshot)
	return &Plan{Plan: next.Plan, Pods: snapshot.Pods, History: snapshot.Revisions, Text: next.String()}, nil
}

// statefulSetOf returns a StatefulSet in the version that is planned for.
func statefulSetOf(o *workload.Object) (*v1beta1.StatefulSet, error) {
	document, err := o.MarshalJSON()
	if err != nil {
		return nil, err
	}
	if o.GetAPIVersion() == v1alpha1.SchemeGroupVersion.String() {
		if document, err = conversion.StatefulSet(document, v1beta1.SchemeGroupVersion.String()); err != nil {
			return nil, err
		}
	}
	set := &v1beta1.StatefulSet{}
	return set, json.Unmarshal(document, set)
}

func (p *Planner) daemonSet(read *reader, key types.NamespacedName, o *workload.Object) (*Plan, error) {
	set, err := o.DaemonSet()
	if err != nil {
		return nil, err
	}
	r, err := daemonset.NewReconciler(daemonset.Options{
		Kubernetes: p.kube, Workloads: p.workloads, Reader: daemonSetReader{read, set}, AllowStaleReads: true, Clock: p.clock})
	if err != nil {
		return nil, err
	}
	snapshot, err := r.Snapshot(key)
	if err != nil {
		return nil, err
	}
	next := daemonset.NewPlan(snapshot)
	return &Plan{Plan: next.Plan, Nodes: next.WaitingNodes, Pods: snapshot.Pods, History: snapshot.Revisions, Text: next.String()}, nil
}
