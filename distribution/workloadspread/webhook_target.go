// SPDX-License-Identifier: Apache-2.0

package workloadspread

import (
	"context"
	"fmt"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/kubernetes"

	"github.com/podwright/podwright/distribution/spread"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/manifests"
	"github.com/podwright/podwright/internal/workload"
	workloadsclient "github.com/podwright/podwright/workloads/client"
	workloadsv1alpha1 "github.com/podwright/podwright/workloads/v1alpha1"
)

// patches says which patches would take pods away from their workload. That need not be there yet. (WS-21.1)
func (w *Webhook) patches(ctx context.Context, ws *v1alpha1.WorkloadSpread, namespace string) (field.ErrorList, error) {
	patched := false
	for i := range ws.Spec.Subsets {
		patched = patched || len(ws.Spec.Subsets[i].Patch.Raw) > 0
	}
	if !patched {
		return nil, nil
	}
	selector, err := w.selector(ctx, ws, namespace)
	if err != nil {
		return nil, fmt.Errorf("read the workload that targetRef names: %w", err)
	}
	return spread.ValidatePatches(ws, selector), nil
}

// selector reads the selector of the workload that a WorkloadSpread names; nil if it is not known.
func (w *Webhook) selector(ctx context.Context, ws *v1alpha1.WorkloadSpread, namespace string) (*metav1.LabelSelector, error) {
	object, err := w.target(ctx, ws, namespace)
	if of := workloadOf(object); err == nil && of != nil {
		return of.Selector, nil
	}
	return nil, err
}

// target reads the workload that a WorkloadSpread names; nil if it is not known.
func (w *Webhook) target(ctx context.Context, ws *v1alpha1.WorkloadSpread, namespace string) (runtime.Object, error) {
	target, known := spread.KindOf(ws)
	if !known {
		return nil, nil
	}
	return readTarget(ctx, w.Kubernetes, w.Workloads, target, namespace, ws.Spec.TargetReference.Name)
}

// above says what controls the workloads of WorkloadSpreads. It asks once for each, and notes the first failure.
func (w *Webhook) above(ctx context.Context, namespace string, failed *error) spread.Above {
	asked := map[workload.Named]*cached{}
	read := func(kind schema.GroupKind, name string) *cached {
		n := workload.Named{GroupKind: kind, Name: name}
		if _, known := asked[n]; !known {
			object, err := readTarget(ctx, w.Kubernetes, w.Workloads, kind, namespace, name)
			if err != nil && *failed == nil {
				*failed = fmt.Errorf("read %s %s: %w", kind.Kind, name, err)
			}
			asked[n] = workloadOf(object)
		}
		return asked[n]
	}
	return func(ws *v1alpha1.WorkloadSpread) []workload.Named {
		kind, _ := spread.KindOf(ws)
		of := read(kind, ws.Spec.TargetReference.Name)
		if of == nil {
			return nil
		}
		return workload.Above(of.object.(metav1.Object), func(kind schema.GroupKind, name string) (types.UID, *metav1.OwnerReference, bool) {
			if owner := read(kind, name); owner != nil {
				return owner.UID, owner.Controller, true
			}
			return "", nil, false
		})
	}
}

// readTarget reads a workload of a kind that is spread, past all caches; nil if it is not there, or its client is nil.
func readTarget(ctx context.Context, k kubernetes.Interface, workloads workloadsclient.Interface, kind schema.GroupKind, namespace, name string) (runtime.Object, error) {
	switch {
	case kind == spread.CloneSets && workloads != nil:
		return oneOf(ctx, name, workloads.CloneSets(namespace).List)
	case kind == spread.AdvancedStatefulSets && workloads != nil:
		return oneOf(ctx, name, workloads.StatefulSets(namespace).List)
	case k == nil:
	case kind == spread.Deployments:
		return oneOf(ctx, name, k.AppsV1().Deployments(namespace).List)
	case kind == spread.ReplicaSets:
		return oneOf(ctx, name, k.AppsV1().ReplicaSets(namespace).List)
	case kind == spread.StatefulSets:
		return oneOf(ctx, name, k.AppsV1().StatefulSets(namespace).List)
	case kind == spread.Jobs:
		return oneOf(ctx, name, k.BatchV1().Jobs(namespace).List)
	}
	return nil, nil
}

// oneOf reads one object; nil if it is not there. It lists it, as the manager may list such objects and not get one.
func oneOf[L runtime.Object](ctx context.Context, name string, list func(context.Context, metav1.ListOptions) (L, error)) (one runtime.Object, err error) {
	found, err := list(ctx, metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector(metav1.ObjectNameField, name).String()})
	if apierrors.IsNotFound(err) { // the kind is not served
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	err = meta.EachListItem(found, func(object runtime.Object) error {
		if of, err := meta.Accessor(object); err == nil && of.GetName() == name { // a fake client does not select
			one = object
		}
		return nil
	})
	return one, err
}

// targetRules are the RBAC rules for what selector reads.
func (w *Webhook) targetRules() (rules []rbacv1.PolicyRule) {
	if w.Kubernetes != nil {
		rules = append(rules, manifests.Rule("apps", "deployments", "list"), manifests.Rule("apps", "replicasets", "list"),
			manifests.Rule("apps", "statefulsets", "list"), manifests.Rule("batch", "jobs", "list"))
	}
	if w.Features.TryPatches && w.Templates != nil {
		rules = append(rules, manifests.JudgeTemplates())
	}
	if w.Workloads != nil {
		rules = append(rules, manifests.Rule(workloadsv1alpha1.GroupName, "clonesets", "list"),
			manifests.Rule(workloadsv1alpha1.GroupName, "statefulsets", "list"))
	}
	return rules
}
