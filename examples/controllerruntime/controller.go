// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	toolscache "k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/podwright/podwright"
	workloads "github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/cloneset"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// AddController adds the CloneSet controller to a manager that has not been
// started. It runs while the manager leads, on the manager's caches.
//
// A manager that is restricted to namespaces (cache.Options.DefaultNamespaces) has
// several caches of a kind, which do not tell how far they are. Name the
// namespaces for it: each gets a controller with caches of its own.
func AddController(ctx context.Context, m ctrl.Manager, namespaces ...string) error {
	options, err := clients(m)
	if err != nil {
		return err
	}
	if len(namespaces) > 0 {
		return addRestricted(m, options, namespaces)
	}
	for _, shared := range []struct {
		kind     client.Object
		informer *toolscache.SharedIndexInformer
	}{
		{&v1alpha1.CloneSet{}, &options.CloneSets},
		{&corev1.Pod{}, &options.Pods},
		{&corev1.PersistentVolumeClaim{}, &options.Claims},
		{&appsv1.ControllerRevision{}, &options.Revisions},
		{&corev1.Node{}, &options.Nodes},
	} {
		if *shared.informer, err = informer(ctx, m, shared.kind); err != nil {
			return err
		}
	}
	controller, err := cloneset.New(options)
	if err != nil {
		return err
	}
	return m.Add(manager.RunnableFunc(controller.Run))
}

// addRestricted adds a controller for each namespace. It leaves nodes alone: its
// RBAC rules may not allow to read them.
func addRestricted(m ctrl.Manager, options cloneset.Options, namespaces []string) error {
	options.NoNodes = true
	for _, namespace := range namespaces {
		options.Namespace = namespace
		controller, err := cloneset.New(options)
		if err != nil {
			return err
		}
		if err := m.Add(manager.RunnableFunc(controller.Run)); err != nil {
			return err
		}
	}
	return nil
}

// clients returns options with all that is required.
func clients(m ctrl.Manager) (cloneset.Options, error) {
	core, err := kubernetes.NewForConfigAndClient(m.GetConfig(), m.GetHTTPClient())
	if err != nil {
		return cloneset.Options{}, err
	}
	kinds, err := workloads.NewForConfigAndClient(m.GetConfig(), m.GetHTTPClient())
	if err != nil {
		return cloneset.Options{}, err
	}
	return cloneset.Options{
		Kubernetes: core,
		Workloads:  kinds,
		//lint:ignore SA1019 CloneSet events are core/v1 events, as they have always been
		ControllerOptions: podwright.ControllerOptions{Recorders: m.GetEventRecorderFor},
	}, nil
}

// informer returns the manager's informer of a kind. A cache that is split by
// namespaces has several of them, which is an error.
func informer(ctx context.Context, m ctrl.Manager, kind client.Object) (toolscache.SharedIndexInformer, error) {
	found, err := m.GetCache().GetInformer(ctx, kind)
	if err != nil {
		return nil, fmt.Errorf("the informer of %T: %w", kind, err)
	}
	shared, ok := found.(toolscache.SharedIndexInformer)
	if !ok {
		return nil, fmt.Errorf("the informer of %T is a %T, want one of all namespaces; where the manager is restricted to "+
			"namespaces, name them to AddController: %w", kind, found, errors.ErrUnsupported)
	}
	return shared, nil
}
