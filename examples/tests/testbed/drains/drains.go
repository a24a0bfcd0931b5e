// SPDX-License-Identifier: Apache-2.0

// Package drains evicts pods, and drains nodes with the code of kubectl and counts the evictions that were denied meanwhile, for
// tests and demos.
package drains

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/kubectl/pkg/drain"
)

// Node drains a node as "kubectl drain --ignore-daemonsets" does, and uncordons it in the end. It returns how many
// evictions were answered with 429, on which kubectl and the client in it wait and try again. Pods that the selector does not
// select stay; "" selects all. A patience of 0 has no end but that of the context.
func Node(ctx context.Context, config *rest.Config, name, selector string, patience time.Duration) (denied int, err error) {
	config = rest.CopyConfig(config)
	counter := &counter{}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) { return counter.send(next, r) })
	})
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return 0, err
	}
	helper := &drain.Helper{
		Ctx: ctx, Client: client, GracePeriodSeconds: -1, IgnoreAllDaemonSets: true, PodSelector: selector, Timeout: patience,
		EvictErrorRetryDelay: 5 * time.Second, Out: io.Discard, ErrOut: io.Discard,
	}
	node, err := client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return 0, err
	}
	if err := drain.RunCordonOrUncordon(helper, node.DeepCopy(), true); err != nil {
		return 0, err
	}
	err = drain.RunNodeDrain(helper, name)
	node.Spec.Unschedulable = true
	err = errors.Join(err, drain.RunCordonOrUncordon(helper, node, false))
	return int(counter.denied.Load()), err
}

// Evict evicts a pod, once: clients try again by themselves if an eviction is denied. nil options are the API server's defaults.
func Evict(ctx context.Context, client kubernetes.Interface, namespace, pod string, options *metav1.DeleteOptions) error {
	eviction := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: pod}, DeleteOptions: options}
	return client.PolicyV1().RESTClient().Post().AbsPath("/api/v1").Namespace(namespace).Resource("pods").Name(pod).SubResource("eviction").
		MaxRetries(0).Body(eviction).Do(ctx).Error()
}

// counter counts evictions that are denied.
type counter struct{ denied atomic.Int32 }

func (c *counter) send(next http.RoundTripper, r *http.Request) (*http.Response, error) {
	response, err := next.RoundTrip(r)
	if err == nil && response.StatusCode == http.StatusTooManyRequests && strings.HasSuffix(r.URL.Path, "/eviction") {
		c.denied.Add(1)
	}
	return response, err
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
