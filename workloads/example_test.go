// SPDX-License-Identifier: Apache-2.0

package workloads_test

import (
	"context"
	"fmt"
	"log"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"

	"github.com/podwright/podwright/workloads"
	"github.com/podwright/podwright/workloads/cloneset"
)

// Install or update the CRDs when a manager starts.
func ExampleCRDs() {
	config, err := rest.InClusterConfig()
	if err != nil {
		log.Fatal(err)
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		log.Fatal(err)
	}
	definitions := client.Resource(schema.GroupVersionResource{
		Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions",
	})
	for _, crd := range workloads.CRDs() {
		options := metav1.ApplyOptions{FieldManager: "shop-operator", Force: true}
		if _, err := definitions.Apply(context.Background(), crd.GetName(), crd, options); err != nil {
			log.Fatalf("applying the CRD %s: %v", crd.GetName(), err)
		}
	}
}

// If no webhook fills in defaults, the CRDs do for what autoscalers and Argo CD read.
func ExampleCRDsWithDefaults() {
	for _, crd := range workloads.CRDsWithDefaults() {
		versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
		replicas, found, _ := unstructured.NestedFieldNoCopy(versions[0].(map[string]any),
			"schema", "openAPIV3Schema", "properties", "spec", "properties", "replicas", "default")
		if found {
			fmt.Println(crd.GetName(), "has", replicas, "replica by default")
		}
	}
	// Output:
	// clonesets.apps.kruise.io has 1 replica by default
	// statefulsets.apps.kruise.io has 1 replica by default
}

// The full check of templates: the API server's own, by a dry run.
func ExampleDryRun() {
	client := fake.NewClientset() // in a program: kubernetes.NewForConfig(config)
	webhook := &cloneset.Webhook{Templates: workloads.DryRun(client.CoreV1())}
	fmt.Println(len(webhook.Handlers()), "handlers")
	// Output: 2 handlers
}

// Have the API server ask a service for defaults and validation.
func ExampleWebhooks() {
	mutating, validating := workloads.Webhooks()
	for i := range mutating {
		mutating[i].ClientConfig.Service.Namespace, mutating[i].ClientConfig.Service.Name = "shop", "operator"
	}
	fmt.Println(mutating[0].Name, "at", *mutating[0].ClientConfig.Service.Path)
	for _, w := range validating {
		fmt.Println(w.Name, "asks about", w.Rules[0].Operations, "of", w.Rules[0].Resources)
	}
	// Output:
	// mcloneset.kb.io at /mutate-apps-kruise-io-v1alpha1-cloneset
	// vcloneset.kb.io asks about [CREATE UPDATE DELETE] of [clonesets]
	// vstatefulset.kb.io asks about [CREATE UPDATE DELETE] of [statefulsets]
	// vdaemonset.kb.io asks about [CREATE UPDATE] of [daemonsets]
	// vbroadcastjob.kb.io asks about [CREATE UPDATE] of [broadcastjobs]
	// vadvancedcronjob.kb.io asks about [CREATE UPDATE] of [advancedcronjobs]
	// vuniteddeployment.kb.io asks about [CREATE UPDATE DELETE] of [uniteddeployments]
}
