// SPDX-License-Identifier: Apache-2.0

package client_test

import (
	"testing"

	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/distribution/client/fake"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/typedclient/clienttest"
)

var clients = clienttest.In[client.Interface](client.NewForConfig, fake.NewClient)

// The clients of all kinds are generated alike, from their CRDs. This kind stands for those whose objects have no namespace, and CloneSets, in
// workloads/client, for the others.
func TestNodeImages(t *testing.T) {
	clienttest.InCluster(t, clients, v1alpha1.SchemeGroupVersion,
		&v1alpha1.NodeImage{Spec: v1alpha1.NodeImageSpec{Images: map[string]v1alpha1.ImageSpec{"nginx": {}}}},
		client.Interface.NodeImages, client.NewNodeImageInformer, client.NewNodeImageLister)
}
