// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// Options says how a cluster is started. The zero value is a good cluster for tests.
type Options struct {
	// Dir holds the cluster's data, logs and credentials. It is created if missing and kept after Stop; a later Start with
	// the same Dir finds the old objects. "" means a temporary directory, removed by Stop.
	Dir string
	// Nodes is the number of simulated nodes, named node-0, node-1 and so on, spread over the zones zone-a, zone-b and
	// zone-c. 0 means 3, or none if there are real nodes, and a negative number none.
	Nodes int
	// RealNodes is the number of nodes that run real containers, named real-0, real-1 and so on. 0 means none. They need
	// what RealNodesMissing tells of; more can be added later, see AddRealNode.
	RealNodes int
	// StartDelay is how long a simulated container takes to start, in a new pod and after a change of its image.
	// nil means one second.
	StartDelay *time.Duration
	// Log receives progress for humans, and word of components that die. nil is silent. It is written from one goroutine at
	// a time.
	Log io.Writer
	// Audit makes the API server log every request it has answered, without bodies. See AuditLog.
	Audit bool
	// AuditUsers are those whose requests are logged. nil means all.
	AuditUsers []string
	// APIServerArgs are put after the flags that kube-apiserver is given anyway, and win over them.
	APIServerArgs []string
	// ControlPlane is the path of an already built control plane binary (the command in controlplane/). "" means the one
	// named by the environment variable PODWRIGHT_CONTROLPLANE, and if there is none, one that Start builds.
	ControlPlane string
}

// Cluster is a running cluster. Its methods may be called from several goroutines, as long as no two of them act on the same
// component at once.
type Cluster struct {
	*components
	options  Options
	dir      string
	binary   string
	ports    map[string]int
	tokens   map[string]string
	ca       []byte
	kwokRuns int
	real     realNodes
}

// Start starts a cluster and returns when pods can be created in the namespace default and will run. Then the API server
// is ready, the default service account exists and all nodes are ready. ctx bounds the start only; the cluster runs until
// Stop. When a component fails to come up, the error holds the end of its log, and nothing is left running.
func Start(ctx context.Context, o Options) (*Cluster, error) {
	if o.Nodes == 0 && o.RealNodes == 0 {
		o.Nodes = 3
	}
	c := &Cluster{options: o}
	c.components = &components{
		names:     []string{Etcd, APIServer, ControllerManager, Scheduler, Kwok},
		log:       &lockedWriter{w: o.Log},
		describe:  c.component,
		ready:     c.serves,
		processes: map[string]*process{},
	}
	begin := time.Now()
	if err := c.prepare(ctx); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	if err := c.startAll(ctx); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	c.log.printf("cluster ready in %.1fs, kubeconfig %s\n", time.Since(begin).Seconds(), c.Kubeconfig())
	return c, nil
}

// prepare finds the binary and writes the files that the components read.
func (c *Cluster) prepare(ctx context.Context) (err error) {
	if c.binary, err = controlPlane(ctx, c.options.ControlPlane, c.log); err != nil {
		return err
	}
	if c.launcher, err = newLauncher(nil); err != nil {
		return err
	}
	if c.options.Dir == "" {
		c.dir, err = os.MkdirTemp("", "podwright-")
	} else if c.dir, err = filepath.Abs(c.options.Dir); err == nil {
		err = os.MkdirAll(c.dir, 0o700)
	}
	if err != nil {
		return fmt.Errorf("directory for the cluster: %w", err)
	}
	if c.ports, err = freePorts(APIServer, ControllerManager, Scheduler); err != nil {
		return err
	}
	if err := c.writeCredentials(); err != nil {
		return fmt.Errorf("write the credentials of the cluster: %w", err)
	}
	return c.writeConfiguration()
}

// startAll starts the components in the order in which they need each other, and then what they run.
func (c *Cluster) startAll(ctx context.Context) error {
	for _, name := range []string{Etcd, APIServer} {
		if err := c.start(ctx, name); err != nil {
			return err
		}
	}
	if err := c.writeKubeconfigs(); err != nil {
		return fmt.Errorf("write kubeconfigs: %w", err)
	}
	client, err := kubernetes.NewForConfig(c.Config())
	if err != nil {
		return err
	}
	// The rest do not need each other; on a small machine the time goes into their start-up work.
	group, ctx := errgroup.WithContext(ctx)
	for _, name := range []string{ControllerManager, Scheduler, Kwok} {
		group.Go(func() error { return c.start(ctx, name) })
	}
	group.Go(func() error { return createStorageClass(ctx, client) })
	group.Go(func() error { return awaitServiceAccount(ctx, client, "default") })
	group.Go(func() error {
		if err := createNodes(ctx, client, c.options.Nodes); err != nil {
			return err
		}
		return awaitNodes(ctx, client, c.options.Nodes)
	})
	group.Go(func() error { return c.addRealNodes(ctx, c.options.RealNodes) })
	return group.Wait()
}

// Dir returns the directory with the cluster's data, logs (one NAME.log for each component) and credentials.
func (c *Cluster) Dir() string { return c.dir }

// Kubeconfig returns the path of a kubeconfig file with all rights.
func (c *Cluster) Kubeconfig() string { return filepath.Join(c.dir, "admin.kubeconfig") }

// AuditLog returns the path of the API server's audit log, or "" if Options.Audit was not set. The log has one JSON event
// per answered request, and one more for the beginning of a watch. An event is written before the answer to its request
// is sent.
func (c *Cluster) AuditLog() string {
	if !c.options.Audit {
		return ""
	}
	return filepath.Join(c.dir, "audit.log")
}

// Config returns a new client configuration with all rights and no rate limit. The caller may change it.
func (c *Cluster) Config() *rest.Config {
	return &rest.Config{
		Host:            c.url(APIServer),
		BearerToken:     c.tokens[adminUser],
		TLSClientConfig: rest.TLSClientConfig{CAData: bytes.Clone(c.ca)},
		QPS:             -1,
	}
}

// Stop ends all components and removes the directory if it is a temporary one. Calling it again does nothing.
func (c *Cluster) Stop() error {
	c.mu.Lock()
	if c.stopped {
		c.mu.Unlock()
		return nil
	}
	c.stopped = true
	c.mu.Unlock()

	c.removeVolumes()
	err := c.real.stop()
	// Clients go before servers, so that the last lines of their logs are not complaints about us.
	for _, names := range [][]string{{Kwok, Scheduler, ControllerManager}, {APIServer}, {Etcd}} {
		var group sync.WaitGroup
		for _, name := range names {
			group.Go(func() { c.halt(name, stopGrace) })
		}
		group.Wait()
	}
	if c.launcher != nil {
		c.launcher.close()
	}
	if c.options.Dir == "" && c.dir != "" {
		err = errors.Join(err, os.RemoveAll(c.dir))
	}
	return err
}
