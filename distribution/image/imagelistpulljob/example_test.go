// SPDX-License-Identifier: Apache-2.0

package imagelistpulljob_test

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/distribution/image/imagelistpulljob"
	"github.com/podwright/podwright/distribution/v1alpha1"
)

// The controller in a program that has a *rest.Config, and runs those of ImagePullJobs and NodeImages, too.
func ExampleNew() {
	run := func(ctx context.Context, config *rest.Config) error {
		config = rest.CopyConfig(config)
		config.QPS = -1 // the API server shares itself out fairly
		distribution, err := client.NewForConfig(config)
		if err != nil {
			return err
		}
		lists, err := imagelistpulljob.New(imagelistpulljob.Options{Distribution: distribution})
		if err != nil {
			return err
		}
		return lists.Run(ctx)
	}
	_ = run
}

// Default writes what the webhook does.
func ExampleDefault() {
	job := &v1alpha1.ImageListPullJob{Spec: v1alpha1.ImageListPullJobSpec{Images: []string{"nginx:1.27"}}}
	imagelistpulljob.Default(job)
	fmt.Println(job.Spec.CompletionPolicy.Type, *job.Spec.PullPolicy.TimeoutSeconds, *job.Spec.PullPolicy.BackoffLimit)
	// Output: Always 600 3
}

// A plan says which ImagePullJobs a list lacks, without any cluster.
func ExampleNewPlan() {
	job := &v1alpha1.ImageListPullJob{
		ObjectMeta: metav1.ObjectMeta{Name: "daily", Namespace: "default", UID: "1"},
		Spec:       v1alpha1.ImageListPullJobSpec{Images: []string{"nginx:1.27", "redis:7"}, ImagePullPolicy: v1alpha1.ImagePullAlways},
	}
	fmt.Println(imagelistpulljob.NewPlan(&imagelistpulljob.Snapshot{Job: job, Now: time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)}))
	// Output:
	// create ImagePullJob daily-d32dd0c886 for image nginx:1.27
	// create ImagePullJob daily-fe3f6bbfac for image redis:7
	// write the status: 2 desired, 0 active, 0 completed, 0 succeeded
}
