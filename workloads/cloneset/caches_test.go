// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/internal/testing/readers"
	"github.com/podwright/podwright/internal/typedclient"
)

// A shared informer may leave the CloneSet's pods out. The controller finds that out by the first pods that it creates. That is
// an error, and it creates no more.
func TestSharedInformerThatSelects(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		client := c.Client(fixture.ControllerUser)
		mine := typedclient.Select(client.CoreV1().Pods(""), func(o *metav1.ListOptions) { o.LabelSelector = "team=mine" })
		c.Options.Pods = typedclient.NewInformer(mine, client, &corev1.Pod{}, 0, nil)
		c.Must(caches.AddIndexes(c.Options.Pods, caches.ByOwner))
		defer c.Start(func(ctx context.Context) error { c.Options.Pods.RunWithContext(ctx); return nil })()
		synctest.Wait()
		c.Options.Reader = controller.Caches(c.Options.reads())
		c.Restart()
		c.create(3, "")
		var err error
		for range 5 {
			_, _, err = c.ReconcileOnce()
			c.Minute() // which brings a bookmark
		}
		if err == nil || !strings.Contains(err.Error(), "does its informer select by labels") {
			t.Errorf("error %v, want one that names the selector", err)
		}
		if n := len(c.Pods()); n != 3 {
			t.Errorf("%d pods for 3 replicas", n)
		}
	})
}

// Caches that cannot tell how far they are are refused before anything is written.
func TestCachesThatCannotTell(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.Options.Reader = readers.Blind{Reader: c.Options.Reader}
		c.Restart()
		c.create(3, "")
		if requests, _, err := c.ReconcileOnce(); err == nil || !strings.Contains(err.Error(), "AllowStaleReads") || len(requests) > 0 {
			t.Errorf("requests %q, error %v", requests, err)
		}
		c.Options.AllowStaleReads = true
		c.Restart()
		if _, _, err := c.ReconcileOnce(); err != nil || len(c.Pods()) != 3 {
			t.Errorf("where that is allowed: %d pods, error %v", len(c.Pods()), err)
		}
	})
}
