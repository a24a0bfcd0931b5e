// SPDX-License-Identifier: Apache-2.0

package image_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/nodeagent"
	"github.com/podwright/podwright/nodeagent/image"
)

// A plan says what a reconcile would do about the tasks of a node, and why not more.
func ExampleNewPlan() {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	created := &metav1.Time{Time: now.Add(-time.Minute)}
	tags := func(tags ...string) (spec v1alpha1.ImageSpec) {
		for _, tag := range tags {
			spec.Tags = append(spec.Tags, v1alpha1.ImageTagSpec{Tag: tag, Version: 1, CreatedAt: created})
		}
		return spec
	}
	plan := image.NewPlan(&image.Snapshot{
		NodeImage: &v1alpha1.NodeImage{Spec: v1alpha1.NodeImageSpec{Images: map[string]v1alpha1.ImageSpec{
			"nginx": tags("1.26", "1.27"), "quay.io/team/web": tags("7", "8"),
		}}},
		Images: []*criv1.Image{{Id: "sha256:4fa6", RepoTags: []string{"docker.io/library/nginx:1.26"}}},
		Pulls: []image.Pull{{
			Task: image.Task{Image: "quay.io/team/web", Tag: "7"}, Version: 1,
			Failures: 2, Err: errors.New("no route to host"), Ended: now.Add(-500 * time.Millisecond),
		}},
		Concurrency: 1, Now: now,
	})

	for _, start := range plan.Start {
		fmt.Println("pull", start.Reference)
	}
	for _, waiting := range plan.Waiting {
		fmt.Printf("%s waits: %s\n", waiting.Name, waiting.Reason)
	}
	fmt.Println("has", plan.Status.Succeeded, "of", plan.Status.Desired)
	// Output:
	// pull nginx:1.27
	// quay.io/team/web:7 waits: attempt 3 of 4 is made in 1.5s; the last one failed: no route to host
	// quay.io/team/web:8 waits: 1 other pulls are under way, which is as many as may be: of no namespace (1)
	// has 1 of 4
}

// All that it takes to pull images to a node.
func ExampleNew() {
	run := func(ctx context.Context, config *rest.Config, node string) error {
		kube, err := kubernetes.NewForConfig(config)
		if err != nil {
			return err
		}
		nodeImages, err := client.NewForConfig(config)
		if err != nil {
			return err
		}
		runtime, err := nodeagent.Dial(ctx, "unix:///run/containerd/containerd.sock")
		if err != nil {
			return err
		}
		defer runtime.Close()
		controller, err := image.New(image.Options{Distribution: nodeImages, Kubernetes: kube, Runtime: runtime, Node: node})
		if err != nil {
			return err
		}
		return controller.Run(ctx)
	}
	_ = run
}
