// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	distributionclient "github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/examples/kit/connect"
	lifecycleclient "github.com/podwright/podwright/lifecycle/client"
	"github.com/podwright/podwright/nodeagent"
	"github.com/podwright/podwright/nodeagent/image"
	"github.com/podwright/podwright/nodeagent/recreate"
)

// agent is what an agent reads.
type agent struct {
	core      kubernetes.Interface
	informers []cache.SharedIndexInformer
	pods      int // that it should find

	requests, received atomic.Int64
	took               time.Duration
}

// newAgent returns an agent with a connection of its own.
func newAgent(config *rest.Config, node string, pods int) (*agent, error) {
	a := &agent{pods: pods}
	config.QPS = -1
	config.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
		return &counting{conn, a}, err
	}
	transport, err := rest.TransportFor(config)
	if err != nil {
		return nil, err
	}
	shared := &rest.Config{Host: config.Host, QPS: -1, Transport: roundTripper(func(request *http.Request) (*http.Response, error) {
		a.requests.Add(1)
		return transport.RoundTrip(request)
	})}
	if a.core, err = connect.Kubernetes(shared); err != nil {
		return nil, err
	}
	images, err := distributionclient.NewForConfig(shared)
	if err != nil {
		return nil, err
	}
	requests, err := lifecycleclient.NewForConfig(shared)
	if err != nil {
		return nil, err
	}
	a.informers = []cache.SharedIndexInformer{
		nodeagent.NewPodInformer(a.core, node), recreate.NewRequestInformer(requests, node), image.NewInformer(images, node),
	}
	return a, nil
}

type roundTripper func(*http.Request) (*http.Response, error)

func (r roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return r(request) }

// counting counts what comes in.
type counting struct {
	net.Conn
	agent *agent
}

func (c *counting) Read(into []byte) (int, error) {
	n, err := c.Conn.Read(into)
	c.agent.received.Add(int64(n))
	return n, err
}

// start asks what is served, once for each feature, and returns when the caches are filled. They go on.
func (a *agent) start(ctx context.Context) error {
	begin := time.Now()
	for _, version := range []string{"v1", "apps.kruise.io/v1alpha1", "apps.kruise.io/v1alpha1"} {
		if _, err := a.core.Discovery().ServerResourcesForGroupVersion(version); err != nil {
			return err
		}
	}
	var synced []cache.InformerSynced
	for _, informer := range a.informers {
		go informer.RunWithContext(ctx)
		synced = append(synced, informer.HasSynced)
	}
	cache.WaitForCacheSync(ctx.Done(), synced...)
	a.took = time.Since(begin)
	if got := len(a.informers[0].GetStore().ListKeys()); got != a.pods {
		return fmt.Errorf("an agent has read %d pods, want the %d of its node", got, a.pods)
	}
	return nil
}

// server is the API server that is measured.
type server struct{ client rest.Interface }

// load is what it has used so far: seconds of CPU, bytes of memory.
type load struct{ cpu, memory, watches, refused float64 }

func (s *server) measure(ctx context.Context) (l load, err error) {
	text, err := s.client.Get().AbsPath("/metrics").DoRaw(ctx)
	if err != nil {
		return load{}, err
	}
	into := map[string]*float64{
		"process_cpu_seconds_total": &l.cpu, "process_resident_memory_bytes": &l.memory,
		"apiserver_longrunning_requests": &l.watches, "apiserver_flowcontrol_rejected_requests_total": &l.refused,
	}
	for line := range bytes.Lines(text) {
		fields := strings.Fields(string(line)) // of labels that may hold spaces, the number comes last
		name, _, _ := strings.Cut(fields[0], "{")
		if sum := into[name]; sum != nil {
			number, err := strconv.ParseFloat(fields[len(fields)-1], 64)
			if err != nil {
				return load{}, fmt.Errorf("metric %s: %w", name, err)
			}
			*sum += number
		}
	}
	return l, nil
}
