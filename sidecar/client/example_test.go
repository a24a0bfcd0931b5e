// SPDX-License-Identifier: Apache-2.0

package client_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/podwright/podwright/sidecar/client"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// Have a container injected into the pods of an application.
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
	set := &v1alpha1.SidecarSet{
		ObjectMeta: metav1.ObjectMeta{Name: "log-agent"},
		Spec: v1alpha1.SidecarSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
			Containers: []v1alpha1.SidecarContainer{
				{Container: corev1.Container{Name: "log", Image: "registry.example/log:v1"}},
			},
		},
	}
	if _, err := c.SidecarSets().Create(context.Background(), set, metav1.CreateOptions{}); err != nil {
		fmt.Println(err)
	}
}
