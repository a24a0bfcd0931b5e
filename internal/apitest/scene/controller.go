package scene

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing/synctest"
	"time"

	"k8s.io/klog/v2"
)

// Passes counts the passes of a controller that has it for its metrics.
type Passes struct {
	lock sync.Mutex
	n    int
	errs []error
}

// Reconciled counts a pass.
func (p *Passes) Reconciled(_ string, _ time.Duration, err error) {
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.n++; err != nil {
		p.errs = append(p.errs, err)
	}
}

// Count is the number of passes so far.
func (p *Passes) Count() int {
	p.lock.Lock()
	defer p.lock.Unlock()
	return p.n
}

// Errors are those of the passes that failed.
func (p *Passes) Errors() []error {
	p.lock.Lock()
	defer p.lock.Unlock()
	return slices.Clone(p.errs)
}

// Start starts a controller, whose log is dropped. The function it returns
// stops the controller and waits for it.
func (c *Cluster) Start(run func(context.Context) error) (stop func()) {
	c.T.Helper()
	ctx, cancel := context.WithCancel(klog.NewContext(c.T.Context(), klog.Logger{}))
	done := make(chan error, 1)
	go func() { done <- run(ctx) }()
	synctest.Wait()
	return func() {
		c.T.Helper()
		cancel()
		if err := <-done; err != nil {
			c.T.Errorf("Run: %v", err)
		}
	}
}

// Minute lets kubelet, garbage collector and controller work for a minute. At
// its end caches are told how far they are, as a real server does.
func (c *Cluster) Minute() {
	c.T.Helper()
	for range 30 {
		c.KubeletStep()
		c.CollectGarbage()
		c.Sleep("2s")
	}
	for _, resource := range c.resources() {
		c.Bookmark(resource)
	}
	synctest.Wait()
}

// Rest is a Minute, after which the controller must have done everything that
// can be done: an event that it had missed would have left something to do.
func (c *Cluster) Rest() {
	c.T.Helper()
	c.Minute()
	if left := c.Unfinished(); left != "" {
		c.T.Errorf("the controller rests, and should not: %s", left)
	}
}

// Heartbeats has kubelets and others write into the status of all pods what no
// workload depends on, for a while.
func (c *Cluster) Heartbeats() {
	c.T.Helper()
	for i := range 10 {
		for _, name := range c.PodNames() {
			c.PatchPod(name, fmt.Sprintf(`{"metadata":{"managedFields":[{"manager":"m%d","operation":"Update","fieldsType":"FieldsV1","apiVersion":"v1"}]},
				"status":{"podIP":"10.0.0.%d","podIPs":[{"ip":"10.0.0.%d"}],"hostIP":"10.1.0.%d","startTime":"2026-01-01T00:00:%02dZ","observedGeneration":%d,
				"conditions":[{"type":"Ready","lastProbeTime":"2026-01-01T00:00:%02dZ"},{"type":"Other","status":"%v"}]}}`,
				i, i, i, i, i, i+1, i, i%2 == 0), "status")
		}
		c.Sleep("10s")
	}
}
