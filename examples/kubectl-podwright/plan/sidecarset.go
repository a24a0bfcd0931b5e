// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/examples/kubectl-podwright/workload"
	"github.com/podwright/podwright/examples/process/switches"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/sidecar/sidecarset"
	sidecarv1alpha1 "github.com/podwright/podwright/sidecar/v1alpha1"
)

func (p *Planner) sidecarSet(read *reader, key types.NamespacedName, o *workload.Object) (*Plan, error) {
	set := &sidecarv1alpha1.SidecarSet{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, set); err != nil {
		return nil, err
	}
	revisions, err := read.revisionsOf(set)
	if err != nil {
		return nil, err
	}
	namespace := namespaceOf(revisions)
	read.lists = nil // pods and revisions are those of this set alone
	read.keep("controllerrevisions", namespace, untyped(revisions))
	if selector := selectorOf(set); labels.MatchesNothing(selector) {
		read.keep("pods", set.Spec.Namespace, nil)
	} else {
		read.pods.LabelSelector = selector.String()
	}
	r, err := sidecarset.NewReconciler(sidecarset.Options{
		Kubernetes: p.kube, Sidecar: p.sidecar, ManagerNamespace: namespace, ControllerOptions: p.options(read.about("sidecarsets", set)),
		Injection: switches.Injection(p.gates), Features: switches.SidecarSet(p.gates)})
	if err != nil {
		return nil, err
	}
	snapshot, err := r.Snapshot(read.ctx, key)
	if err != nil {
		return nil, err
	}
	next := sidecarset.NewPlan(snapshot)
	plan := &Plan{Plan: next.Plan, Pods: snapshot.Pods, History: snapshot.Revisions, Text: next.String(), Everywhere: true}
	for _, left := range slices.Concat(next.NotUpgradable, next.NotInjected) { // some of them are among those that wait, too
		if !slices.ContainsFunc(plan.Waiting, func(w rollout.Wait) bool { return w.Pod == left.Pod }) {
			plan.Waiting = append(plan.Waiting, left)
		}
	}
	plan.Problems = slices.DeleteFunc(plan.Problems, func(problem rollout.Problem) bool { // they sum up what rows say pod by pod
		return len(next.NotInjected) > 0 && problem.Condition == string(sidecarv1alpha1.SidecarSetInjected) ||
			len(next.NotUpgradable) > 0 && problem.Condition == string(sidecarv1alpha1.SidecarSetNotUpgradable)
	})
	return plan, nil
}

// revisionsOf reads the revisions of a SidecarSet, wherever the manager keeps them.
func (r *reader) revisionsOf(set *sidecarv1alpha1.SidecarSet) (revisions []*appsv1.ControllerRevision, err error) {
	list, err := r.kube.AppsV1().ControllerRevisions(metav1.NamespaceAll).List(r.ctx, metav1.ListOptions{
		LabelSelector: sidecarv1alpha1.SidecarSetNameLabel + "=" + set.Name})
	if err != nil {
		return nil, err
	}
	for i := range list.Items {
		if metav1.IsControlledBy(&list.Items[i], set) {
			revisions = append(revisions, &list.Items[i])
		}
	}
	return revisions, nil
}

// namespaceOf is that of the newest revision: it is where the manager is. If there is none, it is the one where a manager is
// by default.
func namespaceOf(revisions []*appsv1.ControllerRevision) string {
	if len(revisions) == 0 {
		return sidecarset.DefaultRevisionNamespace
	}
	return slices.MaxFunc(revisions, func(a, b *appsv1.ControllerRevision) int { return cmp.Compare(a.Revision, b.Revision) }).Namespace
}

// selectorOf selects the pods of a SidecarSet. One that is wrong selects none, and the plan reports it.
func selectorOf(set *sidecarv1alpha1.SidecarSet) labels.Selector {
	selector, err := metav1.LabelSelectorAsSelector(set.Spec.Selector)
	if err != nil || selector.Empty() {
		return labels.Nothing()
	}
	return selector
}
