// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/examples/kubectl-podwright/workload"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/sidecar/sidecarset"
	sidecarv1alpha1 "github.com/podwright/podwright/sidecar/v1alpha1"
)

func (p *Planner) sidecarSet(read *reader, key types.NamespacedName, o *workload.Object) (*Plan, error) {
	set := &sidecarv1alpha1.SidecarSet{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, set); err != nil {
		return nil, err
	}
	reader := &sidecarSetReader{reader: read, set: set}
	if err := reader.readRevisions(); err != nil {
		return nil, err
	}
	r, err := sidecarset.NewReconciler(sidecarset.Options{
		Kubernetes: p.kube, Sidecar: p.sidecar, ManagerNamespace: reader.namespace(), Reader: reader, ControllerOptions: podwright.ControllerOptions{AllowStaleReads: true, Clock: p.clock}})
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

// sidecarSetReader reads for one SidecarSet.
type sidecarSetReader struct {
	*reader
	set       *sidecarv1alpha1.SidecarSet
	revisions []*appsv1.ControllerRevision
}

// readRevisions reads the revisions, wherever the manager keeps them.
func (r *sidecarSetReader) readRevisions() error {
	list, err := r.kube.AppsV1().ControllerRevisions(metav1.NamespaceAll).List(r.ctx, metav1.ListOptions{
		LabelSelector: sidecarv1alpha1.SidecarSetNameLabel + "=" + r.set.Name})
	if err != nil {
		return err
	}
	r.revisions = chosen(list.Items, func(revision *appsv1.ControllerRevision) bool { return owned(revision, r.set.UID) })
	return nil
}

// namespace is that of the newest revision: it is where the manager is. Empty if there is none.
func (r *sidecarSetReader) namespace() string {
	if len(r.revisions) == 0 {
		return ""
	}
	return slices.MaxFunc(r.revisions, func(a, b *appsv1.ControllerRevision) int { return cmp.Compare(a.Revision, b.Revision) }).Namespace
}

func (r *sidecarSetReader) SidecarSet(string) (*sidecarv1alpha1.SidecarSet, error) { return r.set, nil }

// PodsFor asks for the pods that the selector matches. One that is wrong matches none, and the plan reports it.
func (r *sidecarSetReader) PodsFor(set *sidecarv1alpha1.SidecarSet) ([]*corev1.Pod, error) {
	selector, err := metav1.LabelSelectorAsSelector(set.Spec.Selector)
	if err != nil || selector.Empty() {
		selector = labels.Nothing()
	}
	list, err := r.kube.CoreV1().Pods(set.Spec.Namespace).List(r.ctx, metav1.ListOptions{LabelSelector: selector.String()})
	if err != nil {
		return nil, err
	}
	return chosen(list.Items, func(pod *corev1.Pod) bool { return selector.Matches(labels.Set(pod.Labels)) }), nil
}

func (r *sidecarSetReader) Revisions(types.UID) ([]*appsv1.ControllerRevision, error) {
	return r.revisions, nil
}

func (r *sidecarSetReader) Namespace(name string) (*corev1.Namespace, error) {
	return r.kube.CoreV1().Namespaces().Get(r.ctx, name, metav1.GetOptions{})
}
