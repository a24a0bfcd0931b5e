// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/podwright/podwright/examples/controllerruntime/adapter"
	"github.com/podwright/podwright/workloads/cloneset"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// AddReconciler adds a controller of controller-runtime that runs the reconciler of
// the CloneSet controller. It watches more than it has to: each change of a pod
// leads to a reconcile, also one that cannot change the plan.
func AddReconciler(m ctrl.Manager) error {
	options, err := clients(m)
	if err != nil {
		return err
	}
	options.Reader = adapter.NewReader(m)
	reconciler, err := cloneset.NewReconciler(options)
	if err != nil {
		return err
	}
	return ctrl.NewControllerManagedBy(m).
		Named("cloneset-controller").
		WithOptions(controller.Options{MaxConcurrentReconciles: 3}).
		For(&v1alpha1.CloneSet{}).
		Owns(&corev1.Pod{}).
		Owns(&corev1.PersistentVolumeClaim{}).
		Owns(&appsv1.ControllerRevision{}).
		Complete(reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
			after, err := reconciler.Reconcile(ctx, request.NamespacedName)
			return reconcile.Result{RequeueAfter: after}, err
		}))
}
