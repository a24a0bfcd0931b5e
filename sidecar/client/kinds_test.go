// SPDX-License-Identifier: Apache-2.0

package client_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/typedclient/clienttest"
	"github.com/podwright/podwright/sidecar/client"
	"github.com/podwright/podwright/sidecar/client/fake"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

var clients = clienttest.In[client.Interface](client.NewForConfig, fake.NewClient)

func TestSidecarSets(t *testing.T) {
	clienttest.InCluster(t, clients, v1alpha1.SchemeGroupVersion,
		&v1alpha1.SidecarSet{Spec: v1alpha1.SidecarSetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}}},
		client.Interface.SidecarSets, client.NewSidecarSetInformer, client.NewSidecarSetLister)
}
