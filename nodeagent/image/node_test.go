// SPDX-License-Identifier: Apache-2.0

package image

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/internal/testing/fakecri"
	"github.com/podwright/podwright/nodeagent"
)

// newServer returns an API server with the kinds that image pulling takes.
func newServer() *fakecluster.Server {
	return fakecluster.New(nil,
		fakecluster.CustomResource(v1alpha1.SchemeGroupVersion.WithKind("ImagePullJob"), "imagepulljobs"),
		fakecluster.Resource{GroupVersionKind: v1alpha1.SchemeGroupVersion.WithKind("NodeImage"), Name: "nodeimages", ClusterScoped: true, Status: true, Generation: true},
		fakecluster.Resource{GroupVersionKind: corev1.SchemeGroupVersion.WithKind("Secret"), Name: "secrets", Type: func() any { return &corev1.Secret{} }})
}

// node is a node in memory, in virtual time: a container runtime and the agent,
// and an API server that it may share with others.
type node struct {
	*fixture.Bubble
	name    string
	kube    kubernetes.Interface // the test's
	images  client.NodeImageInterface
	runtime *fakecri.Runtime
	events  fixture.Recorder
	options Options
	agent   Controller
}

func newNode(t *testing.T, name string, api *fakecluster.Server) *node {
	t.Helper()
	n := &node{Bubble: &fixture.Bubble{T: t, Server: api}, name: name, runtime: fakecri.New(nil)}
	n.kube = kubernetes.NewForConfigOrDie(api.Config("test"))
	d, err := client.NewForConfig(api.Config("test"))
	n.Must(err)
	n.images = d.NodeImages()
	return n
}

// play plays a story on a node whose agent does not run yet. Its NodeImage asks
// for what the changes say.
func play(t *testing.T, story func(*node), changes ...change) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		n := newNode(t, "node-1", newServer())
		n.create(changes...)
		story(n)
		n.Stop()
	})
}

// user is the user that the agent is for the API server.
func (n *node) user() string { return "agent of " + n.name }

// start starts the agent, and waits until it has settled.
func (n *node) start() {
	n.Helper()
	runtime, err := nodeagent.NewRuntime(n.Context(), n.runtime.Conn(), "unix:///run/test.sock")
	n.Must(err)
	n.runtime.ForgetCalls()
	o := n.options
	o.Kubernetes, o.Runtime, o.Node, o.Recorders = kubernetes.NewForConfigOrDie(n.Server.Config(n.user())), runtime, n.name, n.events.Of
	o.Distribution, err = client.NewForConfig(n.Server.Config(n.user()))
	n.Must(err)
	o.NodeImages = NewInformer(o.Distribution, n.name)
	n.Guarded(o.NodeImages, nil)
	n.agent, err = New(o)
	n.Must(err)
	n.Go(fixture.Informing(o.NodeImages), n.agent.Run)
	n.Sleep(100 * time.Millisecond) // until the cache is filled
}

// create creates the NodeImage of the node.
func (n *node) create(changes ...change) {
	n.Helper()
	nodeImage := newNodeImage(changes...)
	nodeImage.Name, nodeImage.UID = n.name, ""
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

// again asks for another version of a task.
func again(image string) change {
	return func(n *v1alpha1.NodeImage) { n.Spec.Images[image].Tags[0].Version++ }
}

// no takes an image away.
func no(image string) change {
	return func(n *v1alpha1.NodeImage) { delete(n.Spec.Images, image) }
}

func (n *node) nodeImage() *v1alpha1.NodeImage {
	n.Helper()
	nodeImage, err := n.images.Get(n.Context(), n.name, metav1.GetOptions{})
	n.Must(err)
	return nodeImage
}

func (n *node) patchStatus(data string) {
	n.Helper()
	_, err := n.images.Patch(n.Context(), n.name, types.MergePatchType, []byte(data), metav1.PatchOptions{}, "status")
	n.Must(err)
	synctest.Wait()
}

// expect compares the status of the NodeImage, without the line of counts if
// none is wanted.
func (n *node) expect(what string, want ...string) {
	n.Helper()
	got := shown(&n.nodeImage().Status)
	if len(want) == 0 || !strings.HasPrefix(want[0], "desired ") {
		got = got[1:]
	}
	n.Want(what, want, got)
}

// pulls lists the images that the runtime was asked to pull, and forgets them.
func (n *node) pulls() (images []string) {
	for _, call := range n.runtime.Calls() {
		if image, ok := strings.CutPrefix(call, "PullImage "); ok {
			images = append(images, image)
		}
	}
	n.runtime.ForgetCalls()
	return images
}

// takes has every pull take a time, or less if it is ended.
func (n *node) takes(d time.Duration) {
	n.runtime.Pull = func(ctx context.Context, _ *criv1.PullImageRequest) error {
		select {
		case <-time.After(d):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
