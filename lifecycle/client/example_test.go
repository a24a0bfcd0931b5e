// SPDX-License-Identifier: Apache-2.0

package client_test

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/lifecycle/client"
	"github.com/podwright/podwright/lifecycle/client/fake"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// Restart a container of a pod, out of service.
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
	unready, ttl := int64(10), int32(600)
	request := &v1alpha1.ContainerRecreateRequest{
		ObjectMeta: metav1.ObjectMeta{Name: "restart-web-0"},
		Spec: v1alpha1.ContainerRecreateRequestSpec{
			PodName:                 "web-0",
			Containers:              []v1alpha1.ContainerRecreateRequestContainer{{Name: "main"}},
			Strategy:                &v1alpha1.ContainerRecreateRequestStrategy{UnreadyGracePeriodSeconds: &unready},
			TTLSecondsAfterFinished: &ttl,
		},
	}
	if _, err := c.ContainerRecreateRequests("shop").Create(context.Background(), request, metav1.CreateOptions{}); err != nil {
		fmt.Println(err)
	}
}

// Follow the requests that a node has to act on, as its agent does.
func ExampleNewFilteredContainerRecreateRequestInformer() {
	request := func(name, node string) *v1alpha1.ContainerRecreateRequest {
		return &v1alpha1.ContainerRecreateRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, Labels: map[string]string{
			v1alpha1.ContainerRecreateRequestNodeNameLabel: node,
			v1alpha1.ContainerRecreateRequestActiveLabel:   "true",
		}}}
	}
	c := fake.NewClient(request("restart-web-0", "node-1"), request("restart-web-1", "node-2"))

	active := labels.SelectorFromSet(labels.Set{
		v1alpha1.ContainerRecreateRequestNodeNameLabel: "node-1",
		v1alpha1.ContainerRecreateRequestActiveLabel:   "true",
	}).String()
	informer := client.NewFilteredContainerRecreateRequestInformer(c, metav1.NamespaceAll, 0, nil, func(options *metav1.ListOptions) {
		options.LabelSelector = active
	})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go informer.RunWithContext(ctx)
	cache.WaitForCacheSync(ctx.Done(), informer.HasSynced)

	requests, err := client.NewContainerRecreateRequestLister(informer.GetIndexer()).List(labels.Everything())
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, request := range requests {
		fmt.Println(request.Name)
	}
	// Output: restart-web-0
}
