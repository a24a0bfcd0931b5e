// SPDX-License-Identifier: Apache-2.0

package manager_test

import (
	"bytes"
	"fmt"
	"log"

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

// A program of four kinds, described once. From that come its manifests, which this prints, its handlers, and what runs.
func Example() {
	set, err := fourKinds(&rest.Config{Host: "https://10.0.0.1:6443"}) // which is asked nothing
	if err != nil {
		log.Fatal(err)
	}
	objects, err := set.Objects()
	if err != nil {
		log.Fatal(err)
	}
	manifest, err := manager.YAML(objects...)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(bytes.Count(manifest, []byte("---\n")), "documents:")
	for _, object := range objects {
		fmt.Println(" ", object.GetKind(), object.GetName())
	}
	mutating, validating := set.Webhooks()
	fmt.Println("registered when it runs:")
	for _, w := range mutating {
		fmt.Println("  mutating", w.Name)
	}
	for _, w := range validating {
		fmt.Println("  validating", w.Name)
	}
	// Output:
	// 9 documents:
	//   CustomResourceDefinition clonesets.apps.kruise.io
	//   CustomResourceDefinition daemonsets.apps.kruise.io
	//   CustomResourceDefinition sidecarsets.apps.kruise.io
	//   CustomResourceDefinition podunavailablebudgets.policy.kruise.io
	//   ServiceAccount shop-manager
	//   ClusterRole shop-manager
	//   ClusterRoleBinding shop-manager
	//   Role shop-manager
	//   RoleBinding shop-manager
	// registered when it runs:
	//   mutating mcloneset.kb.io
	//   mutating mdaemonset.kb.io
	//   mutating msidecarset.kb.io
	//   mutating mpod.kb.io
	//   validating vcloneset.kb.io
	//   validating vdaemonset.kb.io
	//   validating vsidecarset.kb.io
	//   validating vpodunavailablebudget.kb.io
	//   validating vpod.kb.io
	//   validating vpodeviction.kb.io
}

// namespace is that of the program.
const namespace = "shop-system"

func fourKinds(config *rest.Config) (*manager.Set, error) {
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
	// What the webhooks know of objects, in every replica.
	injector, err := sidecarset.NewCachedInjector(sidecarset.AdmissionOptions{Kubernetes: kube, Sidecar: sidecars, ManagerNamespace: namespace})
	if err != nil {
		return nil, err
	}
	guard, err := podunavailablebudget.NewCachedWebhook(podunavailablebudget.AdmissionOptions{Kubernetes: kube, Availability: budgets, Deletions: true})
	if err != nil {
		return nil, err
	}
	all := podwright.ControllerOptions{Workers: 5}
	return manager.New(manager.Options{Name: "shop-manager", Namespace: namespace, Kubernetes: kube},
		cloneset.Describe(cloneset.Options{ControllerOptions: all, Kubernetes: kube, Workloads: workloads}, &cloneset.Webhook{}),
		daemonset.Describe(daemonset.Options{ControllerOptions: all, Kubernetes: kube, Workloads: workloads}, &daemonset.Webhook{}),
		sidecarset.Describe(sidecarset.Options{ControllerOptions: all, Kubernetes: kube, Sidecar: sidecars, ManagerNamespace: namespace}, &sidecarset.Webhook{Reader: injector}),
		podwebhook.Describe(podwebhook.Parts{Sidecars: injector, OwnNamespace: namespace}),
		podunavailablebudget.Describe(podunavailablebudget.Options{ControllerOptions: all, Kubernetes: kube, Availability: budgets}, guard),
	)
}
