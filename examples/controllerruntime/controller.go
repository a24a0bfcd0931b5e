// SPDX-License-Identifier: Apache-2.0

package main

import (
	"k8s.io/client-go/kubernetes"
	ctrl "sigs.k8s.io/controller-runtime"
	controllerruntime "sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/podwright/podwright/examples/controllerruntime/adapter"
	"github.com/podwright/podwright/manager"
	workloads "github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/cloneset"
)

// AddController adds the CloneSet controller to a manager that has not been
// started. It runs while the manager leads, on the manager's caches.
//
// A manager that is restricted to namespaces (cache.Options.DefaultNamespaces) has
// several caches of a kind, which do not tell how far they are. Name the
// namespaces for it: each gets a controller with caches of its own.
func AddController(m ctrl.Manager, namespaces ...string) error {
	options, err := clients(m)
	if err != nil {
		return err
	}
	if len(namespaces) > 0 {
		return addRestricted(m, options, namespaces)
	}
	_, err = adapter.Add(m, manager.Options{Kubernetes: options.Kubernetes}, cloneset.Describe(options, nil))
	return err
}

// addRestricted adds a controller for each namespace. It leaves nodes alone: its
// RBAC rules may not allow to read them.
func addRestricted(m ctrl.Manager, options cloneset.Options, namespaces []string) error {
	options.NoNodes, options.Informers = true, nil
	for _, namespace := range namespaces {
		options.Namespace = namespace
		controller, err := cloneset.New(options)
		if err != nil {
			return err
		}
		if err := m.Add(controllerruntime.RunnableFunc(controller.Run)); err != nil {
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
	return cloneset.Options{ControllerOptions: adapter.Options(m), Kubernetes: core, Workloads: kinds}, nil
}
