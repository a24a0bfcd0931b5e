// SPDX-License-Identifier: Apache-2.0

package manager_test

import (
	"context"
	"log"
	"net/http"
	"os"
	"os/signal"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/podwright/podwright"
	availability "github.com/podwright/podwright/availability/client"
	"github.com/podwright/podwright/availability/podunavailablebudget"
	"github.com/podwright/podwright/lifecycle/podwebhook"
	"github.com/podwright/podwright/manager"
	sidecar "github.com/podwright/podwright/sidecar/client"
	"github.com/podwright/podwright/sidecar/sidecarset"
	workloads "github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/cloneset"
	"github.com/podwright/podwright/workloads/daemonset"
)

// namespace is that of the program, and certificates are the folder with its certificate, as cert-manager mounts one.
const namespace, certificates = "shop-system", "/certificates/"

// kinds returns what the program runs, for both of its commands.
func kinds(config *rest.Config) (*manager.Set, error) {
	config.QPS = -1 // the API server limits its clients by itself
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	workloads, err := workloads.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	sidecars, err := sidecar.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	budgets, err := availability.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	all := podwright.ControllerOptions{Workers: 5}
	// What the webhooks know of objects, in every replica.
	sets, injector, err := sidecarset.DescribeInjecting(
		sidecarset.Options{ControllerOptions: all, Kubernetes: kube, Sidecar: sidecars, ManagerNamespace: namespace}, sidecarset.AdmissionOptions{})
	if err != nil {
		return nil, err
	}
	guard, err := podunavailablebudget.NewCachedWebhook(podunavailablebudget.AdmissionOptions{Kubernetes: kube, Availability: budgets, Deletions: true})
	if err != nil {
		return nil, err
	}
	return manager.New(manager.Options{
		Name: "shop-manager", Namespace: namespace, Kubernetes: kube, Target: target,
		FailurePolicies: map[string]admissionregistrationv1.FailurePolicyType{podwebhook.MutatePath: admissionregistrationv1.Ignore},
	},
		cloneset.Describe(cloneset.Options{ControllerOptions: all, Kubernetes: kube, Workloads: workloads}, &cloneset.Webhook{}),
		daemonset.Describe(daemonset.Options{ControllerOptions: all, Kubernetes: kube, Workloads: workloads}, &daemonset.Webhook{}),
		sets, podwebhook.Describe(podwebhook.Parts{Sidecars: injector, OwnNamespace: namespace}),
		podunavailablebudget.Describe(podunavailablebudget.Options{ControllerOptions: all, Kubernetes: kube, Availability: budgets}, guard),
	)
}

// target says how the API server reaches the webhooks: it is asked again once a minute, since certificates are renewed.
func target(context.Context) (manager.Target, error) {
	authority, err := os.ReadFile(certificates + "ca.crt")
	return manager.Target{Namespace: namespace, Service: "shop-manager", CABundle: authority}, err
}

// manifests prints what is installed before the program runs.
func manifests(set *manager.Set) error {
	objects, err := set.Objects()
	if err != nil {
		return err
	}
	text, err := manager.YAML(objects...)
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(text)
	return err
}

// serve answers the API server, registers the webhooks, and runs the controllers. With more than one replica, each calls RunWebhooks,
// and the one that leads RunControllers.
func serve(ctx context.Context, set *manager.Set) error {
	mux := http.NewServeMux()
	for path, handler := range set.Handlers() {
		mux.Handle(path, handler)
	}
	server := &http.Server{Addr: ":9443", Handler: mux}
	ctx, cancel := context.WithCancelCause(ctx)
	go func() { cancel(server.ListenAndServeTLS(certificates+"tls.crt", certificates+"tls.key")) }()
	defer server.Close()
	if err := set.Run(ctx); err != nil {
		return err
	}
	return context.Cause(ctx)
}

// The whole program: "shop-manager manifests" prints what has to be installed, and "shop-manager" runs.
func Example_program() {
	config, err := rest.InClusterConfig()
	if len(os.Args) > 1 && os.Args[1] == "manifests" {
		config, err = &rest.Config{}, nil // nothing is asked of the API server
	}
	if err != nil {
		log.Fatal(err)
	}
	set, err := kinds(config)
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if len(os.Args) > 1 {
		log.Fatal(manifests(set))
	}
	log.Fatal(serve(ctx, set))
}
