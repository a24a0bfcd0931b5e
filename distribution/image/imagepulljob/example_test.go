// SPDX-License-Identifier: Apache-2.0

package imagepulljob_test

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/distribution/image/imagepulljob"
	"github.com/podwright/podwright/distribution/image/nodeimage"
	"github.com/podwright/podwright/distribution/v1alpha1"
)

// Both controllers in a program that has a *rest.Config.
func ExampleNew() {
	run := func(ctx context.Context, config *rest.Config) error {
		config = rest.CopyConfig(config)
		config.QPS = -1 // the API server shares itself out fairly
		distribution, err := client.NewForConfig(config)
		if err != nil {
			return err
		}
		config.ContentType = "application/vnd.kubernetes.protobuf"
		kube, err := kubernetes.NewForConfig(config)
		if err != nil {
			return err
		}
		nodes, err := nodeimage.New(nodeimage.Options{Distribution: distribution, Kubernetes: kube})
		if err != nil {
			return err
		}
		jobs, err := imagepulljob.New(imagepulljob.Options{Distribution: distribution, Kubernetes: kube})
		if err != nil {
			return err
		}
		ended := make(chan error, 2)
		go func() { ended <- nodes.Run(ctx) }()
		go func() { ended <- jobs.Run(ctx) }()
		return <-ended // when ctx is done
	}
	_ = run
}

// A plan says which nodes pull now, and why the others wait, without any cluster.
func ExampleNewPlan() {
	parallelism := intstr.FromString("50%")
	job := &v1alpha1.ImagePullJob{
		ObjectMeta: metav1.ObjectMeta{Name: "pull", Namespace: "default", UID: "1"},
		Spec: v1alpha1.ImagePullJobSpec{
			Image: "docker.io/library/nginx:1.27", Parallelism: &parallelism,
			Selector: &v1alpha1.ImagePullJobNodeSelector{MatchLabels: map[string]string{"zone": "a"}},
		},
	}
	nodes := map[string]*v1alpha1.NodeImage{}
	for name, zone := range map[string]string{"n1": "a", "n2": "b", "n3": "a", "n4": "a"} {
		nodes[name] = &v1alpha1.NodeImage{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"zone": zone}}}
	}
	plan := imagepulljob.NewPlan(&imagepulljob.Snapshot{Job: job, NodeImages: nodes, Now: time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)})

	for _, h := range plan.Assign {
		fmt.Printf("%s pulls %s:%s\n", h.NodeImage.Name, h.Name, h.Image.Tags[0].Tag)
	}
	for _, wait := range plan.Waiting {
		fmt.Println(wait)
	}
	fmt.Println(plan.Status.Message)
	// Output:
	// n1 pulls nginx:1.27
	// n3 pulls nginx:1.27
	// node n4: parallelism 2: as many nodes pull already
	// job is running, progress 0.0%
}
