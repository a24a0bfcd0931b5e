// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/sidecar/client"
	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// reconciled counts the SidecarSets that were reconciled, each once.
type reconciled struct {
	n    atomic.Int64
	seen sync.Map
}

func (r *reconciled) Counted(set string, _ *v1alpha1.SidecarSetStatus, _ int) {
	if _, again := r.seen.LoadOrStore(set, true); !again {
		r.n.Add(1)
	}
}

func (r *reconciled) Gone(string) {}

// BenchmarkRestart is the time from the start of a controller until all SidecarSets have
// been reconciled, of which 1,000 have ten pods each. Nothing is written. 50,000 SidecarSets
// take a minute at most; "first-start-s" is what their revisions and status take.
func BenchmarkRestart(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 50_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			server := fakecluster.New(nil, setResource, namespaceResource)
			sidecars, kube := fixture.Connect(b, server, "test", client.NewForConfig), fixture.Connect(b, server, "test", kubernetes.NewForConfig)
			for i := range n {
				set := newSet(b, fmt.Sprint("set-", i), "namespaceSelector: {matchLabels: {name: shop}}")
				if _, err := sidecars.SidecarSets().Create(b.Context(), set, metav1.CreateOptions{}); err != nil {
					b.Fatal(err)
				}
				for p := range 10 {
					if i >= 1000 {
						break
					}
					pod := injectedPod(b, set, "shop", fmt.Sprintf("pod-%d-%d", i, p), injection.Features{})
					if _, err := kube.CoreV1().Pods("shop").Create(b.Context(), pod, metav1.CreateOptions{}); err != nil {
						b.Fatal(err)
					}
				}
			}
			shop := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop", Labels: map[string]string{"name": "shop"}}}
			if _, err := kube.CoreV1().Namespaces().Create(b.Context(), shop, metav1.CreateOptions{}); err != nil {
				b.Fatal(err)
			}
			start := func(statuses int) time.Duration {
				begun, metrics := time.Now(), &reconciled{}
				controller, err := New(Options{SetMetrics: metrics,
					Kubernetes: fixture.Connect(b, server, fixture.ControllerUser, kubernetes.NewForConfig), Sidecar: fixture.Connect(b, server, fixture.ControllerUser, client.NewForConfig)})
				if err != nil {
					b.Fatal(err)
				}
				ctx, cancel := context.WithCancel(klog.NewContext(b.Context(), klog.Logger{}))
				done := make(chan error)
				go func() { done <- controller.Run(ctx) }()
				for metrics.n.Load() < int64(n) || statuses > 0 && server.Count(fixture.ControllerUser)["patch sidecarsets/status"] < statuses {
					time.Sleep(time.Millisecond)
				}
				took := time.Since(begun)
				cancel()
				if err := <-done; err != nil {
					b.Error(err)
				}
				return took
			}
			first := start(n)
			start(0) // what the first had no time for any more
			server.ForgetRequests()
			for b.Loop() {
				start(0)
			}
			b.ReportMetric(first.Seconds(), "first-start-s")
			for request, sent := range server.Count(fixture.ControllerUser) {
				if request == "create controllerrevisions" || request == "patch sidecarsets/status" || request == "patch pods" {
					b.Errorf("%d %s by a restart", sent, request)
				}
			}
		})
	}
}
