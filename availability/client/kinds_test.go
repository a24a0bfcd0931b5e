// SPDX-License-Identifier: Apache-2.0

package client_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/availability/client"
	"github.com/podwright/podwright/availability/client/fake"
	"github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/internal/typedclient/clienttest"
)

var clients = clienttest.In[client.Interface](client.NewForConfig, fake.NewClient)

func TestPodUnavailableBudgets(t *testing.T) {
	clienttest.Namespaced(t, clients, v1alpha1.SchemeGroupVersion,
		&v1alpha1.PodUnavailableBudget{Spec: v1alpha1.PodUnavailableBudgetSpec{Selector: &metav1.LabelSelector{}}},
		client.Interface.PodUnavailableBudgets, client.NewPodUnavailableBudgetInformer, client.NewPodUnavailableBudgetLister)
}
