// SPDX-License-Identifier: Apache-2.0

package controller_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/internal/testing/toy"
	"github.com/podwright/podwright/internal/testing/toy/client"
	"github.com/podwright/podwright/internal/testing/toy/v1alpha1"
)

// CT-17: a user who changes an object after a restart does not wait until the controller has looked at all others.
func TestChangeAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := toyShop(t)
		users := fixture.Connect(t, b.Server, "user", client.NewForConfig)
		name := func(i int) string { return fmt.Sprintf("toy-%02d", i) }
		for i := range 20 {
			_, err := users.Toys("shop").Create(t.Context(), &v1alpha1.Toy{ObjectMeta: metav1.ObjectMeta{Name: name(i)}}, metav1.CreateOptions{})
			b.Must(err)
		}
		var order []string // in which toys get their status
		changed := ""
		b.FailBefore(func(r fakecluster.Request) error {
			if r.User != "toy" || r.Subresource != "status" {
				return nil
			}
			if order = append(order, r.Name); len(order) > 1 {
				return nil
			}
			changed = name(19)
			if r.Name == changed {
				changed = name(18)
			}
			_, err := users.Toys("shop").Patch(t.Context(), changed, types.MergePatchType, []byte(`{"metadata":{"labels":{"changed":"now"}}}`), metav1.PatchOptions{})
			time.Sleep(time.Second) // in the time of the bubble: the controller's cache follows
			return err
		})
		b.runToys(toy.Options{ControllerOptions: podwright.ControllerOptions{Workers: 1}})
		time.Sleep(time.Minute)
		if len(order) < 20 || slices.Index(order, changed) != 1 {
			t.Errorf("the user changed %s while the first toy got its status; they got it in the order %v", changed, order)
		}
		b.Stop()
	})
}
