// SPDX-License-Identifier: Apache-2.0

// Package plan says what the controller of a workload does next, and why pods wait. It reads from the API server what the
// controller reads from its caches, and asks the controller's own planner.
package plan

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	admissionv1 "k8s.io/api/admission/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/podwright/podwright/examples/kubectl-podwright/workload"
	"github.com/podwright/podwright/examples/process/features"
	"github.com/podwright/podwright/examples/process/switches"
	"github.com/podwright/podwright/inplace/rollout"
	sidecarclient "github.com/podwright/podwright/sidecar/client"
	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/cloneset"
	"github.com/podwright/podwright/workloads/conversion"
	"github.com/podwright/podwright/workloads/daemonset"
	"github.com/podwright/podwright/workloads/statefulset"
	"github.com/podwright/podwright/workloads/uniteddeployment"
	"github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// Plan is what the next reconcile of a workload does.
type Plan struct {
	rollout.Plan
	// Nodes are those that should get a pod of a DaemonSet and do not.
	Nodes []rollout.Wait
	// Claims are those of a StatefulSet that grow.
	Claims []statefulset.ClaimResize
	// Pods are those that the plan is about, as they are now.
	Pods []*corev1.Pod
	// History are the revisions that there are.
	History []*appsv1.ControllerRevision
	// Text is all of the plan in words, one decision a line.
	Text string
	// Everywhere says that the pods are of several namespaces, so that it takes theirs to name them.
	Everywhere bool
	// Subsets are those of a UnitedDeployment, and Workloads what is done to what it makes of them.
	Subsets   []uniteddeployment.SubsetPlan
	Workloads []Row
}

// NameOf is how rows call a pod.
func (p *Plan) NameOf(pod *corev1.Pod) string {
	switch {
	case pod == nil:
		return "new pods"
	case p.Everywhere:
		return pod.Namespace + "/" + pod.Name
	}
	return pod.Name
}

// Planner plans for workloads of a cluster. It writes nothing.
type Planner struct {
	kube      kubernetes.Interface
	workloads client.Interface
	sidecar   sidecarclient.Interface
	lister    workload.Lister
	clock     clock.WithTicker
	gates     *features.Gates
	settings  *switches.Settings
	lists     map[list][]any // what was read before, if that is remembered
}

// Remember has plans share what they read: from here on every list is read once, however many plans need it.
func (p *Planner) Remember() { p.lists = map[list][]any{} }

// NewPlanner returns a planner for the cluster that a configuration leads to, whose kinds a mapper knows, and whose manager
// has these gates and settings.
func NewPlanner(config *rest.Config, mapper meta.RESTMapper, clock clock.WithTicker, gates *features.Gates, settings *switches.Settings) (*Planner, error) {
	p := &Planner{clock: clock, gates: gates, settings: settings}
	var err error
	if p.kube, err = kubernetes.NewForConfig(config); err != nil {
		return nil, err
	}
	if p.workloads, err = client.NewForConfig(config); err != nil {
		return nil, err
	}
	if p.sidecar, err = sidecarclient.NewForConfig(config); err != nil {
		return nil, err
	}
	p.lister.Mapper = mapper
	p.lister.Dynamic, err = dynamic.NewForConfig(config)
	return p, err
}

// Plan returns what the next reconcile of a workload does. It takes the given object, which need not be as the API server
// has it, and everything else as that has it. The controller's features are those of the gates and settings. If another revision has the
// name of the one that is to be created, the next reconcile does no more than count that. The plan is then that of the
// one after it. New pods of a CloneSet have no names in it then, since these come from its resource version. An error
// says what could not be read, or that the kind is none of those that have a plan. (KC-19)
func (p *Planner) Plan(ctx context.Context, o *workload.Object) (*Plan, error) {
	next, err := p.next(ctx, o)
	for tries := 0; err == nil && next.Revisions.Create != nil; tries++ {
		var taken *appsv1.ControllerRevision
		if taken, err = p.revision(ctx, next.Revisions.Create); err != nil || taken == nil {
			break
		}
		justCreated := tries == 0 && metav1.IsControlledBy(taken, o) && !next.knows(taken) // by the controller
		if !justCreated {
			if o, err = collided(o); err != nil {
				break
			}
		}
		if next, err = p.next(ctx, o); err == nil && !justCreated && o.Kind().NamesPodsBy(workload.NamesOfVersion) {
			next.ForgetNames(o.Kind())
		}
	}
	return next, err
}

// revision returns the revision that has the name of a wanted one; nil if none has.
func (p *Planner) revision(ctx context.Context, wanted *appsv1.ControllerRevision) (*appsv1.ControllerRevision, error) {
	if wanted.Namespace == "" { // that of a manager which has left no trace
		return nil, nil
	}
	found, err := p.kube.AppsV1().ControllerRevisions(wanted.Namespace).Get(ctx, wanted.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return found, err
}

// knows tells whether the plan was made with a revision.
func (p *Plan) knows(r *appsv1.ControllerRevision) bool {
	return slices.ContainsFunc(p.History, func(known *appsv1.ControllerRevision) bool { return known.UID == r.UID })
}

// collided returns a workload whose status counts one collision of names of revisions more.
func collided(o *workload.Object) (*workload.Object, error) {
	counted := &workload.Object{Unstructured: *o.DeepCopy()}
	count, _, err := unstructured.NestedNumberAsFloat64(counted.Object, "status", "collisionCount")
	if err == nil {
		err = unstructured.SetNestedField(counted.Object, int64(count)+1, "status", "collisionCount")
	}
	return counted, err
}

// validator is the webhook of a kind.
type validator interface {
	Validate(context.Context, *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse
}

// plannedKind is a kind that has a plan.
type plannedKind struct {
	next func(p *Planner, read *reader, key types.NamespacedName, o *workload.Object) (*Plan, error)
	// webhook is that of the manager with these gates, and touched a field of the spec that users may always change. Nil and empty
	// for a kind whose stored spec is not judged.
	webhook func(*features.Gates) validator
	touched string
}

// plannedNames name these kinds to users.
const plannedNames = "clonesets, statefulsets.apps.kruise.io, daemonsets.apps.kruise.io, sidecarsets and uniteddeployments"

// planned are the kinds that have a plan: a function, since the plan of a UnitedDeployment has plans of its workloads.
func planned() map[string]plannedKind {
	return map[string]plannedKind{
		"CloneSet": {next: (*Planner).cloneSet, touched: "revisionHistoryLimit", webhook: func(gates *features.Gates) validator {
			return &cloneset.Webhook{InPlaceResize: gates.Enabled(features.InPlaceWorkloadVerticalScaling), PercentSigns: gates.Enabled(features.CloneSetPercentSigns)}
		}},
		"StatefulSet": {next: (*Planner).statefulSet, touched: "replicas", webhook: func(gates *features.Gates) validator {
			return &statefulset.Webhook{InPlaceResize: gates.Enabled(features.InPlaceWorkloadVerticalScaling), Features: switches.StatefulSet(gates)}
		}},
		"DaemonSet": {next: (*Planner).daemonSet, touched: "burstReplicas", webhook: func(gates *features.Gates) validator {
			return &daemonset.Webhook{FixedSelector: gates.Enabled(features.DaemonSetFixedSelector)}
		}},
		"SidecarSet":       {next: (*Planner).sidecarSet},
		"UnitedDeployment": {next: (*Planner).unitedDeployment},
	}
}

// next plans for the very next reconcile.
func (p *Planner) next(ctx context.Context, o *workload.Object) (*Plan, error) {
	read := &reader{ctx: ctx, kube: p.kube, lister: p.lister, lists: p.lists}
	key := types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()}
	if kind, is := planned()[o.GetKind()]; is {
		return kind.next(p, read, key, o)
	}
	return nil, fmt.Errorf("cannot plan for a %s: only for %s", o.GetKind(), plannedNames)
}

func (p *Planner) cloneSet(read *reader, key types.NamespacedName, o *workload.Object) (*Plan, error) {
	set := &v1alpha1.CloneSet{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, set); err != nil {
		return nil, err
	}
	r, err := cloneset.NewReconciler(cloneset.Options{
		Kubernetes: p.kube, Workloads: p.workloads, ControllerOptions: p.options(read.about("clonesets", set)), Features: p.settings.CloneSet(p.gates)})
	if err != nil {
		return nil, err
	}
	snapshot, err := r.Snapshot(read.ctx, key)
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
		Kubernetes: p.kube, Workloads: p.workloads, ControllerOptions: p.options(read.about("statefulsets", set)), Features: switches.StatefulSet(p.gates)})
	if err != nil {
		return nil, err
	}
	snapshot, err := r.Snapshot(read.ctx, key)
	if err != nil {
		return nil, err
	}
	next := statefulset.NewPlan(snapshot)
	return &Plan{Plan: next.Plan, Claims: next.ResizeClaims, Pods: snapshot.Pods, History: snapshot.Revisions, Text: next.String()}, nil
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
		Kubernetes: p.kube, Workloads: p.workloads, ControllerOptions: p.options(read.about("daemonsets", set)), Features: p.settings.DaemonSet(p.gates)})
	if err != nil {
		return nil, err
	}
	snapshot, err := r.Snapshot(read.ctx, key)
	if err != nil {
		return nil, err
	}
	next := daemonset.NewPlan(snapshot)
	return &Plan{Plan: next.Plan, Nodes: next.WaitingNodes, Pods: snapshot.Pods, History: snapshot.Revisions, Text: next.String()}, nil
}
