// SPDX-License-Identifier: Apache-2.0

package nodeagent_test

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/kubernetes"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/nodeagent"
)

// The pods of a node are listed by the API server's index, from its cache, before
// they are watched.
func TestPodInformerListsFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type query struct{ Watch, InitialEvents, Pods, Version string }
		var asked []query
		config := fakecluster.New(nil).Config("agent")
		next := config.Transport
		config.Transport = roundTripper(func(request *http.Request) (*http.Response, error) {
			q := request.URL.Query()
			asked = append(asked, query{q.Get("watch"), q.Get("sendInitialEvents"), q.Get("fieldSelector"), q.Get("resourceVersion")})
			return next.RoundTrip(request)
		})
		kube, err := kubernetes.NewForConfig(config)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { nodeagent.NewPodInformer(kube, "node-1").RunWithContext(ctx) })
		synctest.Wait()
		cancel()
		running.Wait()
		for i := range asked[1:] {
			asked[i+1].Version = "" // of what was listed
		}
		if diff := cmp.Diff([]query{{Pods: "spec.nodeName=node-1", Version: "0"}, {Watch: "true", Pods: "spec.nodeName=node-1"}}, asked); diff != "" {
			t.Errorf("requests (-want +got):\n%s", diff)
		}
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (r roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return r(request) }
