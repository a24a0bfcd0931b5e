// SPDX-License-Identifier: Apache-2.0

package client_test

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/distribution/v1alpha1"
)

// Pull an image to the nodes that run the pods of an application.
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
	ttl := int32(600)
	job := &v1alpha1.ImagePullJob{
		ObjectMeta: metav1.ObjectMeta{Name: "web-v2"},
		Spec: v1alpha1.ImagePullJobSpec{
			Image:            "registry.example/web:v2",
			PodSelector:      &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
			CompletionPolicy: v1alpha1.CompletionPolicy{Type: v1alpha1.Always, TTLSecondsAfterFinished: &ttl},
		},
	}
	if _, err := c.ImagePullJobs("shop").Create(context.Background(), job, metav1.CreateOptions{}); err != nil {
		fmt.Println(err)
	}
}
