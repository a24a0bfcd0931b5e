// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"slices"
	"strings"

	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"k8s.io/apimachinery/pkg/util/validation"

	"golang.org/x/sync/errgroup"

	"github.com/podwright/podwright/examples/tests/cluster/registry"
)

// realNodes is what the real nodes of a cluster share.
type realNodes struct {
	mu       sync.Mutex
	binaries string
	network  *network
	images   *registry.Registry
	nodes    []*RealNode
	// failure is what came of the preparation.
	failure  error
	prepared bool
}

// Images returns the registry from which real nodes pull, whatever host an image's name has. It holds nothing but the pause
// image: add those that pods want. It is nil before there is a real node.
func (c *Cluster) Images() *registry.Registry {
	c.real.mu.Lock()
	defer c.real.mu.Unlock()
	return c.real.images
}

// RealNodes returns the real nodes, in the order in which they were added.
func (c *Cluster) RealNodes() []*RealNode {
	c.real.mu.Lock()
	defer c.real.mu.Unlock()
	return slices.Clone(c.real.nodes)
}

// AddRealNode adds a node that runs real containers, and returns when it takes pods. The name must be new. It fails with a
// MissingError if RealNodesMissing finds something. The first real node on a machine compiles containerd,
// which takes a minute or two.
func (c *Cluster) AddRealNode(ctx context.Context, name string) (*RealNode, error) {
	n, err := c.newRealNode(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("real node %q: %w", name, err)
	}
	if err := n.start(ctx); err != nil {
		return nil, err
	}
	return n, nil
}

// addRealNodes adds the nodes real-0, real-1 and so on, all at once.
func (c *Cluster) addRealNodes(ctx context.Context, count int) error {
	group, start := errgroup.WithContext(ctx)
	for i := range count {
		n, err := c.newRealNode(ctx, fmt.Sprintf("real-%d", i))
		if err != nil {
			return errors.Join(err, group.Wait())
		}
		group.Go(func() error { return n.start(start) })
	}
	return group.Wait()
}

// newRealNode takes a number for the node, and prepares what all of them share.
func (c *Cluster) newRealNode(ctx context.Context, name string) (*RealNode, error) {
	c.real.mu.Lock()
	defer c.real.mu.Unlock()
	if !c.real.prepared {
		c.real.prepared = true
		c.real.failure = c.prepareRealNodes(ctx)
	}
	if c.real.failure != nil {
		return nil, c.real.failure
	}
	if err := c.real.checkName(name); err != nil {
		return nil, err
	}
	number, dir := len(c.real.nodes), filepath.Join(c.dir, name)
	n := &RealNode{
		Name: name, Dir: dir, CRISocket: filepath.Join(dir, "containerd.sock"),
		PodsSocket: filepath.Join(dir, "kubelet", "pods-api", "pods-api.sock"),
		IP:         c.real.network.nodeIP(number), PodCIDR: c.real.network.podCIDR(number),
		cluster: c, number: number,
	}
	n.components = &components{
		names:     []string{Containerd, Kubelet},
		log:       c.log,
		describe:  n.component,
		ready:     n.serves,
		processes: map[string]*process{},
	}
	if longest := n.CRISocket + ".ttrpc"; len(longest) > maxSocketPath {
		return nil, fmt.Errorf("the path %s is too long for a socket: want at most %d bytes; use a shorter directory or node name", longest, maxSocketPath)
	}
	c.real.nodes = append(c.real.nodes, n)
	return n, nil
}

// checkName says whether a new node can have the name.
func (r *realNodes) checkName(name string) error {
	if len(r.nodes) == mostRealNodes {
		return fmt.Errorf("want at most %d real nodes in a cluster", mostRealNodes)
	}
	if wrong := validation.IsDNS1123Label(name); len(wrong) > 0 {
		return fmt.Errorf("want a DNS label as name: %s", strings.Join(wrong, "; "))
	}
	if slices.ContainsFunc(r.nodes, func(n *RealNode) bool { return n.Name == name }) {
		return errors.New("want a new name: there is such a node, or was")
	}
	return nil
}

// maxSocketPath is how long the path of a Unix socket may be on Linux.
const maxSocketPath = 107

func (c *Cluster) prepareRealNodes(ctx context.Context) (err error) {
	if c.real.binaries, err = BuildRealNodes(ctx, c.log.w); err != nil {
		return err
	}
	if c.real.network, err = newNetwork(ctx, c.log); err != nil {
		return err
	}
	if c.real.images, err = registry.Start(); err != nil {
		return err
	}
	_, err = c.real.images.Add(pauseImage, registry.Pause)
	return err
}

// stop ends all real nodes and what they share.
func (r *realNodes) stop() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var group sync.WaitGroup
	failures := make([]error, len(r.nodes))
	for i, n := range r.nodes {
		group.Go(func() { failures[i] = n.Stop() })
	}
	group.Wait()
	if r.images != nil {
		failures = append(failures, r.images.Close())
	}
	if r.network != nil {
		failures = append(failures, r.network.close())
	}
	return errors.Join(failures...)
}
