// SPDX-License-Identifier: Apache-2.0

package fakecluster

import (
	"context"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/podwright/podwright/internal/testing/fakecluster"
)

// Cluster is a cluster in memory. New makes one. Its methods can be called by
// several goroutines.
type Cluster struct {
	server *fakecluster.Server
	kube   kubernetes.Interface
}

// kubelets are the user of the requests of Step.
const kubelets = "fakecluster kubelets"

// New returns a cluster without objects, which knows more resources than its own
// if they are given: custom resources, whose status is a subresource.
func New(more ...Resource) *Cluster {
	c := &Cluster{server: fakecluster.New(nil, known(more)...)}
	c.server.ManageFields(newFieldManagers())
	c.kube = kubernetes.NewForConfigOrDie(c.Config(kubelets)) // it fails for no configuration of Config
	return c
}

// Config returns a configuration for clients of the cluster, without a rate limit. The user stands in the
// record of requests. Clients may speak JSON or, of the kinds of Kubernetes, protobuf.
func (c *Cluster) Config(user string) *rest.Config { return c.server.Config(user) }

// Step has the kubelet of every pod act once, in all namespaces. It starts
// containers, restarts those whose image has changed, reports readiness, and ends
// pods that are being deleted. A container whose image contains "bad" does not
// become ready. Then the garbage collector deletes what has lost its owner.
func (c *Cluster) Step(ctx context.Context) error {
	kubelet := fakecluster.Kubelet{Client: c.kube, Broken: func(image string) bool { return strings.Contains(image, "bad") }}
	pods, err := c.kube.CoreV1().Pods(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range pods.Items {
		// If another writer was faster, the next step is soon enough.
		if err := kubelet.SyncPod(ctx, &pods.Items[i]); err != nil && !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
			return err
		}
	}
	c.server.CollectGarbage()
	return nil
}

// Run makes steps at an interval until the context is done, and runs programs beside: controllers, or a whole operator. It
// returns when all of them have ended. It returns nil after such an end, or the first error of a step or a program, which
// ends the others.
func (c *Cluster) Run(ctx context.Context, interval time.Duration, programs ...func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		running sync.WaitGroup
		failed  sync.Once
		first   error
	)
	for _, program := range append(programs, func(ctx context.Context) error { return c.steps(ctx, interval) }) {
		running.Go(func() {
			if err := program(ctx); err != nil && ctx.Err() == nil {
				failed.Do(func() { first = err })
				cancel()
			}
		})
	}
	running.Wait()
	return first
}

// steps makes steps until the context is done.
func (c *Cluster) steps(ctx context.Context, interval time.Duration) error {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			if err := c.Step(ctx); err != nil && ctx.Err() == nil {
				return err
			}
		}
	}
}

// Requests counts the requests of a user so far, those of all users if it is
// empty, by verb and resource: "create pods", "patch pods/status".
func (c *Cluster) Requests(user string) map[string]int { return c.server.Count(user) }

// FailRequests has a function asked before every request: an error refuses it.
// An API status error (of k8s.io/apimachinery/pkg/api/errors) is the server's answer, any other
// one a broken connection. The request is told by user, verb and resource as in
// Requests, and name, which is empty for lists and creations. Nil ends it.
func (c *Cluster) FailRequests(fail func(user, request, name string) error) {
	if fail == nil {
		c.server.FailBefore(nil)
		return
	}
	c.server.FailBefore(func(r fakecluster.Request) error { return fail(r.User, r.String(), r.Name) })
}
