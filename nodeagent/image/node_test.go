// SPDX-License-Identifier: Apache-2.0

package image

import (
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/internal/testing/fakecri/agents"
)

// newServer returns an API server with the kinds that image pulling takes, and more.
func newServer(more ...fakecluster.Resource) *fakecluster.Server {
	return fakecluster.New(nil, append(more,
		fakecluster.CustomResource(v1alpha1.SchemeGroupVersion.WithKind("ImagePullJob"), "imagepulljobs"),
		fakecluster.Resource{GroupVersionKind: v1alpha1.SchemeGroupVersion.WithKind("NodeImage"), Name: "nodeimages", ClusterScoped: true, Status: true, Generation: true},
		fakecluster.Resource{GroupVersionKind: corev1.SchemeGroupVersion.WithKind("Secret"), Name: "secrets", Type: func() any { return &corev1.Secret{} }})...)
}

// node is a node with the agent.
type node struct {
	*agents.Node
	images  client.NodeImageInterface
	options Options // with the informer, once the agent was started
	agent   Controller
}

func newNode(t *testing.T, name string, api *fakecluster.Server) *node {
	t.Helper()
	return &node{Node: agents.NewNode(t, name, api, nil), images: fixture.Connect(t, api, "test", client.NewForConfig).NodeImages()}
}

// asking returns a node whose NodeImage asks for what the changes say. Another node is asked for more.
func asking(changes ...change) func(*testing.T) *node {
	return func(t *testing.T) *node {
		n := newNode(t, "node-1", newServer())
		n.create("node-1", changes...)
		n.create("node-2", wants("other", "1"))
		return n
	}
}

// start starts the agent, and waits until it has settled.
func (n *node) start() {
	n.Helper()
	o := n.options
	o.Kubernetes, o.Runtime, o.Node, o.Recorders = n.Kubernetes(n.User()), agents.Connect(n.T, n.Runtime), n.Name, n.Events.Of
	o.Distribution = fixture.Connect(n.T, n.Server, n.User(), client.NewForConfig)
	o.NodeImages = NewInformer(o.Distribution, n.Name)
	var err error
	n.agent, err = New(o)
	n.Must(err)
	n.options.NodeImages = o.NodeImages
	n.Run(o.NodeImages, nil, n.agent.Run)
	n.Sleep(100 * time.Millisecond) // until the cache is filled
}

// create creates the NodeImage of a node.
func (n *node) create(name string, changes ...change) {
	n.Helper()
	nodeImage := newNodeImage(changes...)
	nodeImage.Name, nodeImage.UID = name, ""
	_, err := n.images.Create(n.Context(), nodeImage, metav1.CreateOptions{})
	n.Must(err)
}

// edit changes the tasks of the node, as the manager does.
func (n *node) edit(changes ...change) {
	n.Helper()
	nodeImage := n.nodeImage()
	for _, c := range changes {
		c(nodeImage)
	}
	_, err := n.images.Update(n.Context(), nodeImage, metav1.UpdateOptions{})
	n.Must(err)
	synctest.Wait()
}

func (n *node) nodeImage() *v1alpha1.NodeImage {
	n.Helper()
	nodeImage, err := n.images.Get(n.Context(), n.Name, metav1.GetOptions{})
	n.Must(err)
	return nodeImage
}
