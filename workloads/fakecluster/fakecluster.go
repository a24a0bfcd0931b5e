// SPDX-License-Identifier: Apache-2.0

// Package fakecluster is a small Kubernetes cluster in memory, to test a program
// with that embeds controllers of this library. It has an API server that the real
// clients and informers talk to, and kubelets that act when the test asks them to.
// No socket is opened and no goroutine is started, so it also runs in a
// testing/synctest bubble, where time is virtual.
//
// It does what controllers depend on. It has one resourceVersion for all objects,
// conflicts, graceful deletion, finalizers, generations, status as a subresource and
// selectors. It also has watches that resume, and JSON, merge and strategic-merge
// patches. It knows pods, claims, nodes, events, ControllerRevisions, ConfigMaps,
// Secrets, the kinds of this library, and those that are given to [New].
//
// It does not do what a cluster does beside. It has no admission, so no webhooks, no
// defaults but those of pods, and no rules of CRDs. It has no RBAC, and no server-side apply, paging, dry
// runs or deletion of collections. There is nothing but JSON on the wire; no
// containers. Validation is that of metadata, and of what may change in a pod. A
// test of those needs a real control plane.
//
// client-go's fake clientset is not enough for these controllers. It has no
// REST client and no resourceVersions, without which there is no consistency. A
// controller never learns that its caches hold its own last writes.
package fakecluster

import (
	"context"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// Resource is a kind of object that a Cluster knows.
type Resource struct {
	schema.GroupVersionKind
	// Plural is the name in URLs, "clonesets" for example.
	Plural string
	// ClusterScoped says that its objects have no namespace.
	ClusterScoped bool
}

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
	resources := []fakecluster.Resource{
		{GroupVersionKind: corev1.SchemeGroupVersion.WithKind("ConfigMap"), Name: "configmaps", Type: func() any { return &corev1.ConfigMap{} }},
		{GroupVersionKind: corev1.SchemeGroupVersion.WithKind("Secret"), Name: "secrets", Type: func() any { return &corev1.Secret{} }},
	}
	for _, r := range append([]Resource{
		{v1alpha1.SchemeGroupVersion.WithKind("CloneSet"), "clonesets", false},
		{v1beta1.SchemeGroupVersion.WithKind("StatefulSet"), "statefulsets", false},
		{distributionv1alpha1.SchemeGroupVersion.WithKind("ImagePullJob"), "imagepulljobs", false},
		{distributionv1alpha1.SchemeGroupVersion.WithKind("NodeImage"), "nodeimages", true},
		{lifecyclev1alpha1.SchemeGroupVersion.WithKind("ContainerRecreateRequest"), "containerrecreaterequests", false},
	}, more...) {
		custom := fakecluster.CustomResource(r.GroupVersionKind, r.Plural)
		custom.ClusterScoped = r.ClusterScoped
		resources = append(resources, custom)
	}
	c := &Cluster{server: fakecluster.New(nil, resources...)}
	c.kube = kubernetes.NewForConfigOrDie(c.Config(kubelets)) // it fails for no configuration of Config
	return c
}

// Config returns a configuration for clients of the cluster, without a rate
// limit. The user stands in the record of requests. Its content type must stay
// JSON.
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

// Run makes steps at an interval until the context is done, and returns the
// first error of a step before.
func (c *Cluster) Run(ctx context.Context, interval time.Duration) error {
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
