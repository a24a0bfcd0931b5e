// SPDX-License-Identifier: Apache-2.0

package kit_test

import (
	"context"
	"log"
	"os"
	"os/signal"

	"k8s.io/client-go/rest"
	ctrlmanager "sigs.k8s.io/controller-runtime/pkg/manager"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/examples/kit"
	"github.com/podwright/podwright/examples/kit/connect"
	"github.com/podwright/podwright/examples/kit/metrics"
	"github.com/podwright/podwright/examples/kit/webhooks"
	"github.com/podwright/podwright/manager"
	workloads "github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/cloneset"
	"github.com/podwright/podwright/workloads/daemonset"
)

// A whole program of two replicas or more: one runs the controllers, each answers webhooks, and keeps their certificates in a Secret.
func Example() {
	config, _, err := connect.Config(nil, "") // $KUBECONFIG, or the service account of the pod
	if err != nil {
		log.Fatal(err)
	}
	config.QPS = -1 // the API server limits its clients by itself
	hooks, err := webhooks.Listen(webhooks.Options{Enabled: true, Register: true, Port: 9443, Service: "shop-manager", Secret: "shop-certificates"}, "shop-system")
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err = kit.Run(ctx, config, kit.Options{
		Manager: ctrlmanager.Options{
			HealthProbeBindAddress: ":8081", PprofBindAddress: "localhost:8082", // metrics are on :8080
			LeaderElection: true, LeaderElectionID: "shop-manager", LeaderElectionNamespace: "shop-system",
		},
		Webhooks: hooks,
		Kinds:    kinds,
	})
	if err != nil {
		log.Fatal(err)
	}
}

// kinds returns what the program runs. What controllers write, they write through the connection of the leader.
func kinds(every, leading *rest.Config) (kit.Kinds, error) {
	webhookClient, err := connect.Kubernetes(every)
	if err != nil {
		return nil, err
	}
	kube, err := connect.Kubernetes(leading)
	if err != nil {
		return nil, err
	}
	clients, err := workloads.NewForConfig(leading)
	if err != nil {
		return nil, err
	}
	all := podwright.ControllerOptions{Workers: 5, Metrics: metrics.New(ctrlmetrics.Registry)}
	return manager.New(manager.Options{Name: "shop-manager", Namespace: "shop-system", Kubernetes: webhookClient},
		cloneset.Describe(cloneset.Options{ControllerOptions: all, Kubernetes: kube, Workloads: clients}, &cloneset.Webhook{}),
		daemonset.Describe(daemonset.Options{ControllerOptions: all, Kubernetes: kube, Workloads: clients}, &daemonset.Webhook{}))
}
