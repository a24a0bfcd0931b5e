// SPDX-License-Identifier: Apache-2.0

package client_test

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/client/fake"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// Scale a CloneSet from a program that runs in the cluster.
func ExampleNewForConfig() {
	config, err := rest.InClusterConfig()
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := client.NewForConfig(config)
	if err != nil {
		fmt.Println(err)
		return
	}
	patch := []byte(`{"spec":{"replicas":5}}`)
	web, err := c.CloneSets("shop").Patch(context.Background(), "web", types.MergePatchType, patch, metav1.PatchOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(*web.Spec.Replicas)
}

// Read CloneSets from a cache that follows the API server.
func ExampleNewCloneSetInformer() {
	c := fake.NewClient(&v1alpha1.CloneSet{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}})

	informer := client.NewCloneSetInformer(c, metav1.NamespaceAll, 0, cache.Indexers{
		cache.NamespaceIndex: cache.MetaNamespaceIndexFunc,
	})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go informer.RunWithContext(ctx)
	cache.WaitForCacheSync(ctx.Done(), informer.HasSynced)

	shop, err := client.NewCloneSetLister(informer.GetIndexer()).Namespace("shop").List(labels.Everything())
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, cs := range shop {
		fmt.Println(cs.Name)
	}
	// Output: web
}

// Several users of a kind share an informer.
func ExampleNewSharedInformerFactory() {
	c := fake.NewClient(&v1alpha1.CloneSet{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	factory := client.NewSharedInformerFactory(c, metav1.NamespaceAll, 0)
	sets := factory.CloneSetLister()
	factory.Start(ctx)
	if err := factory.WaitForCacheSync(ctx); err != nil {
		fmt.Println(err)
		return
	}
	web, err := sets.Namespace("shop").Get("web")
	fmt.Println(web.Name, err)
	cancel()
	factory.Shutdown()
	// Output: web <nil>
}
