// SPDX-License-Identifier: Apache-2.0

package client_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	clienttesting "k8s.io/client-go/testing"

	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/distribution/client/fake"
	"github.com/podwright/podwright/internal/typedclient/clienttest"
)

// The agent of a node lists and watches one object.
func TestFilterIsForListsAndWatches(t *testing.T) {
	c := fake.NewClient()
	watched := make(chan clienttesting.WatchAction, 1)
	c.PrependWatchReactor("nodeimages", func(action clienttesting.Action) (bool, watch.Interface, error) {
		watched <- action.(clienttesting.WatchAction)
		return false, nil, nil
	})
	clienttest.Run(t, client.NewFilteredNodeImageInformer(c, 0, nil, func(options *metav1.ListOptions) {
		options.FieldSelector = "metadata.name=node-1"
	}))

	var got []string
	select {
	case action := <-watched:
		got = append(got, action.GetWatchRestrictions().Fields.String())
	case <-time.After(10 * time.Second):
		t.Fatal("nothing was watched")
	}
	for _, action := range c.Actions() {
		if list, ok := action.(clienttesting.ListAction); ok {
			got = append(got, list.GetListRestrictions().Fields.String())
		}
	}
	if diff := cmp.Diff([]string{"metadata.name=node-1", "metadata.name=node-1"}, got); diff != "" {
		t.Errorf("field selectors (-want +got):\n%s", diff)
	}
}
