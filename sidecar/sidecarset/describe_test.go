// SPDX-License-Identifier: Apache-2.0

package sidecarset_test

import (
	"fmt"
	"log"
	"strings"
	"testing"

	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"

	"github.com/podwright/podwright/lifecycle/podwebhook"
	"github.com/podwright/podwright/manager"
	"github.com/podwright/podwright/sidecar/client"
	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/sidecarset"
)

// SidecarSets with their injection into new pods, in one program.
func ExampleDescribeInjecting() {
	kube := fake.NewClientset()
	clients, err := client.NewForConfig(&rest.Config{})
	if err != nil {
		log.Fatal(err)
	}
	sets, injector, err := sidecarset.DescribeInjecting(
		sidecarset.Options{Kubernetes: kube, Sidecar: clients, ManagerNamespace: "shop-system"}, sidecarset.AdmissionOptions{})
	if err != nil {
		log.Fatal(err)
	}
	program, err := manager.New(manager.Options{Name: "shop-manager", Namespace: "shop-system", Kubernetes: kube},
		sets, podwebhook.Describe(podwebhook.Parts{Sidecars: injector, OwnNamespace: "shop-system"}))
	if err != nil {
		log.Fatal(err)
	}
	mutating, validating := program.Webhooks()
	for _, w := range mutating {
		fmt.Println("mutating", w.Name)
	}
	for _, w := range validating {
		fmt.Println("validating", w.Name)
	}
	// Output:
	// mutating msidecarset.kb.io
	// mutating mpod.kb.io
	// validating vsidecarset.kb.io
}

// The injector has what the controller has, and an error for what both lack.
func TestDescribeInjecting(t *testing.T) {
	clients, err := client.NewForConfig(&rest.Config{})
	if err != nil {
		t.Fatal(err)
	}
	o := sidecarset.Options{Kubernetes: fake.NewClientset(), Sidecar: clients, ManagerNamespace: "shop-system",
		Injection: injection.Features{SortContainers: true}}
	kind, injector, err := sidecarset.DescribeInjecting(o, sidecarset.AdmissionOptions{ManagerNamespace: "another"})
	if err != nil {
		t.Fatal(err)
	}
	namespace, _ := injector.NamespaceRules()
	if namespace != "shop-system" || injector.Injection != o.Injection || kind.Admission == nil {
		t.Errorf("the injector reads in %q with %+v, admission %v", namespace, injector.Injection, kind.Admission)
	}
	o.Sidecar = nil
	if _, _, err := sidecarset.DescribeInjecting(o, sidecarset.AdmissionOptions{}); err == nil || !strings.Contains(err.Error(), "Sidecar is nil") {
		t.Errorf("without clients: %v", err)
	}
}
