// SPDX-License-Identifier: Apache-2.0

package adapter_test

import (
	"fmt"
	"log"

	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/podwright/podwright/examples/controllerruntime/adapter"
	"github.com/podwright/podwright/manager"
	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/cloneset"
	"github.com/podwright/podwright/workloads/daemonset"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// An operator that runs two kinds, with their webhooks, beside its own controllers.
func ExampleAdd() {
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(v1alpha1.AddToScheme(scheme)) // the manager's caches hold them
	m, err := ctrl.NewManager(&rest.Config{Host: "https://127.0.0.1:1"}, ctrl.Options{Scheme: scheme, Metrics: server.Options{BindAddress: "0"}})
	if err != nil {
		log.Fatal(err)
	}
	kube, err := kubernetes.NewForConfigAndClient(m.GetConfig(), m.GetHTTPClient())
	if err != nil {
		log.Fatal(err)
	}
	workloads, err := client.NewForConfigAndClient(m.GetConfig(), m.GetHTTPClient())
	if err != nil {
		log.Fatal(err)
	}

	all := adapter.Options(m)
	set, err := adapter.Add(m, manager.Options{Name: "shop-manager", Namespace: "shop-system", Kubernetes: kube},
		cloneset.Describe(cloneset.Options{ControllerOptions: all, Kubernetes: kube, Workloads: workloads}, &cloneset.Webhook{}),
		daemonset.Describe(daemonset.Options{ControllerOptions: all, Kubernetes: kube, Workloads: workloads}, &daemonset.Webhook{}))
	if err != nil {
		log.Fatal(err)
	}
	// m.Start runs them. This is installed before:
	objects, err := set.Objects()
	if err != nil {
		log.Fatal(err)
	}
	for _, o := range objects {
		fmt.Println(o.GetKind(), o.GetName())
	}
	// Output:
	// CustomResourceDefinition clonesets.apps.kruise.io
	// CustomResourceDefinition daemonsets.apps.kruise.io
	// ServiceAccount shop-manager
	// ClusterRole shop-manager
	// ClusterRoleBinding shop-manager
}
