// SPDX-License-Identifier: Apache-2.0

package client_test

import (
	"testing"

	"github.com/podwright/podwright/internal/typedclient/clienttest"
	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/client/fake"
	"github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

var clients = clienttest.In[client.Interface](client.NewForConfig, fake.NewClient)

func TestCloneSets(t *testing.T) {
	clienttest.Namespaced(t, clients, v1alpha1.SchemeGroupVersion, &v1alpha1.CloneSet{Spec: v1alpha1.CloneSetSpec{MinReadySeconds: 5}},
		client.Interface.CloneSets, client.NewCloneSetInformer, client.NewCloneSetLister)
}

func TestStatefulSets(t *testing.T) {
	clienttest.Namespaced(t, clients, v1beta1.SchemeGroupVersion, &v1beta1.StatefulSet{Spec: v1beta1.StatefulSetSpec{ServiceName: "web"}},
		client.Interface.StatefulSets, client.NewStatefulSetInformer, client.NewStatefulSetLister)
}
