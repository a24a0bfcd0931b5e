// SPDX-License-Identifier: Apache-2.0

package sidecarset_test

import (
	"context"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/podwright/podwright/lifecycle/podwebhook"
	"github.com/podwright/podwright/sidecar/client"
	"github.com/podwright/podwright/sidecar/sidecarset"
)

// Twenty lines add SidecarSets to a program that has a *rest.Config. Its webhooks inject
// into new pods, and judge SidecarSets.
func ExampleNew() {
	run := func(ctx context.Context, config *rest.Config) error {
		sidecars, err := client.NewForConfig(config)
		if err != nil {
			return err
		}
		kube, err := kubernetes.NewForConfig(config)
		if err != nil {
			return err
		}
		controller, err := sidecarset.New(sidecarset.Options{Kubernetes: kube, Sidecar: sidecars})
		if err != nil {
			return err
		}
		return controller.Run(ctx) // until ctx is done
	}
	_ = run
}

// What webhooks know comes from informers, which every replica of a program runs.
func ExampleNewAdmissionCaches() {
	serve := func(ctx context.Context, kube kubernetes.Interface, sidecars client.Interface) error {
		caches, err := sidecarset.NewAdmissionCaches(sidecarset.AdmissionOptions{Kubernetes: kube, Sidecar: sidecars})
		if err != nil {
			return err
		}
		pods := &podwebhook.Webhook{Sidecars: (&sidecarset.Injector{Reader: caches}).Mutate}
		sets := &sidecarset.Webhook{Reader: caches}
		_, _ = pods.Handlers(), sets.Handlers() // to be served
		return caches.Run(ctx)                  // until ctx is done
	}
	_ = serve
}
