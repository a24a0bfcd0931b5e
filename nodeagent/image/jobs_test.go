// SPDX-License-Identifier: Apache-2.0

package image

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/distribution/image/imagepulljob"
	"github.com/podwright/podwright/distribution/image/nodeimage"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	workloadsclient "github.com/podwright/podwright/workloads/client"
	workloadsv1alpha1 "github.com/podwright/podwright/workloads/v1alpha1"
	workloadsv1beta1 "github.com/podwright/podwright/workloads/v1beta1"
)

// cluster is both halves: the controllers of the cluster, and nodes with agents.
type cluster struct {
	*fixture.Bubble
	jobs  client.ImagePullJobInterface
	nodes []*node
}

// playCluster plays a story with nodes whose agents and whose manager run.
func playCluster(t *testing.T, nodes int, story func(*cluster)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		c := &cluster{Bubble: &fixture.Bubble{T: t, Server: fakecluster.New(nil,
			fakecluster.CustomResource(v1alpha1.SchemeGroupVersion.WithKind("ImagePullJob"), "imagepulljobs"),
			fakecluster.Resource{GroupVersionKind: v1alpha1.SchemeGroupVersion.WithKind("NodeImage"), Name: "nodeimages", ClusterScoped: true, Status: true, Generation: true},
			fakecluster.Resource{GroupVersionKind: corev1.SchemeGroupVersion.WithKind("Secret"), Name: "secrets", Type: func() any { return &corev1.Secret{} }},
			fakecluster.CustomResource(workloadsv1alpha1.SchemeGroupVersion.WithKind("CloneSet"), "clonesets"),
			fakecluster.CustomResource(workloadsv1beta1.SchemeGroupVersion.WithKind("StatefulSet"), "statefulsets"))}}
		c.startManager()
		for i := range nodes {
			c.addNode(fmt.Sprint("node-", i+1))
		}
		time.Sleep(time.Minute)
		story(c)
		for _, n := range c.nodes {
			n.Stop()
		}
		c.Stop()
	})
}

// startManager starts both controllers of the cluster's half.
func (c *cluster) startManager() {
	c.Helper()
	config := c.Server.Config("manager")
	d, err := client.NewForConfig(config)
	c.Must(err)
	w, err := workloadsclient.NewForConfig(config)
	c.Must(err)
	kube := kubernetes.NewForConfigOrDie(config)
	c.jobs = d.ImagePullJobs("default")
	jobs, err := imagepulljob.New(imagepulljob.Options{Distribution: d, Kubernetes: kube, Workloads: w})
	c.Must(err)
	nodeImages, err := nodeimage.New(nodeimage.Options{Distribution: d, Kubernetes: kube})
	c.Must(err)
	c.Go(jobs.Run, nodeImages.Run)
}

// addNode adds a node that is ready, with its agent.
func (c *cluster) addNode(name string) {
	c.Helper()
	n := newNode(c.T, name, c.Server)
	_, err := n.kube.CoreV1().Nodes().Create(c.Context(), &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Status:     corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now()}}},
	}, metav1.CreateOptions{})
	c.Must(err)
	n.start()
	c.nodes = append(c.nodes, n)
}

// addJob creates a job, with its spec in YAML.
func (c *cluster) addJob(name, spec string) {
	c.Helper()
	job := &v1alpha1.ImagePullJob{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	c.Must(yaml.UnmarshalStrict([]byte(spec), &job.Spec))
	_, err := c.jobs.Create(c.Context(), job, metav1.CreateOptions{})
	c.Must(err)
}

// job shows the status of a job.
func (c *cluster) job(name string) string {
	c.Helper()
	job, err := c.jobs.Get(c.Context(), name, metav1.GetOptions{})
	c.Must(err)
	s := job.Status
	return fmt.Sprintf("%d of %d succeeded, %d failed %v, %d active: %s", s.Succeeded, s.Desired, s.Failed, s.FailedNodes, s.Active, s.Message)
}

func (c *cluster) want(what, want, got string) {
	c.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		c.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestJobOverNodes(t *testing.T) {
	playCluster(t, 5, func(c *cluster) {
		for _, n := range c.nodes {
			n.takes(2 * time.Minute)
		}
		c.nodes[3].runtime.Pull = func(context.Context, *criv1.PullImageRequest) error { return errors.New("no space left on device") }
		c.addJob("pull", "image: docker.io/library/nginx:1\nparallelism: 2")
		c.Sleep(time.Minute)
		c.want("two nodes pull", "0 of 5 succeeded, 0 failed [], 2 active: job is running, progress 0.0%", c.job("pull"))
		c.Sleep(10 * time.Minute)
		c.want("IMG-2.4 difference: pulls of more than a minute", "4 of 5 succeeded, 1 failed [node-4], 0 active: job has completed", c.job("pull"))
		for i, n := range c.nodes {
			if pulls := n.pulls(); i != 3 && len(pulls) != 1 {
				c.Errorf("node %s has pulled %v", n.name, pulls)
			}
		}
		c.Sleep(24 * time.Hour)
		for _, n := range c.nodes {
			n.expect("IMG-2.3: the task is gone with its TTL, and so is its state", "desired 0 succeeded 0 failed 0 pulling 0")
		}
	})
}

// A job with a digest, of which one node has the image already.
func TestJobByDigest(t *testing.T) {
	playCluster(t, 2, func(c *cluster) {
		c.nodes[0].runtime.AddImage(&criv1.Image{Id: "x", RepoDigests: []string{"docker.io/library/nginx@" + digest}})
		c.addJob("pull", "image: nginx@"+digest+"\nparallelism: 2")
		c.Sleep(time.Minute)
		c.want("IMG-3.3 difference: by digest", "2 of 2 succeeded, 0 failed [], 0 active: job has completed", c.job("pull"))
		c.nodes[0].Want("pulls", nil, c.nodes[0].pulls())
		c.nodes[1].Want("pulls", []string{"nginx@" + digest}, c.nodes[1].pulls())
	})
}

// A job is deleted in the middle: the pulls end.
func TestJobIsDeleted(t *testing.T) {
	playCluster(t, 2, func(c *cluster) {
		for _, n := range c.nodes {
			n.takes(time.Hour)
		}
		c.addJob("pull", "image: nginx:1\nparallelism: 2")
		c.Sleep(time.Minute)
		c.Must(c.jobs.Delete(c.Context(), "pull", metav1.DeleteOptions{}))
		c.Sleep(10 * time.Second)
		for _, n := range c.nodes {
			if left := controller.KindOf(n.agent).Self.(*reconciler).pulls.list(); len(left) > 0 {
				c.Errorf("pulls go on: %+v", left)
			}
			n.expect("nothing is left", "desired 0 succeeded 0 failed 0 pulling 0")
			n.Want("events", nil, n.events.All())
		}
	})
}

// Agents are restarted while a job goes on.
func TestJobAndRestartsOfAgents(t *testing.T) {
	playCluster(t, 3, func(c *cluster) {
		for _, n := range c.nodes {
			n.takes(time.Minute)
		}
		c.addJob("pull", "image: nginx:1\nparallelism: 3")
		for i := range 3 {
			c.Sleep(20 * time.Second)
			c.nodes[i].Stop()
			c.nodes[i].start()
		}
		c.Sleep(5 * time.Minute)
		c.want("the job", "3 of 3 succeeded, 0 failed [], 0 active: job has completed", c.job("pull"))
	})
}

// IMG-1.6, IMG-3.9: jobs of two namespaces pull the same image, and each names a secret of its own
// namespace, which the manager copies. The job whose namespace has none gets nothing by the secret
// of the other.
func TestJobsOfTwoTenants(t *testing.T) {
	playCluster(t, 1, func(c *cluster) {
		n := c.nodes[0]
		asked := map[string][]string{}
		n.runtime.Pull = func(_ context.Context, request *criv1.PullImageRequest) error {
			image, user := request.GetImage().GetImage(), request.GetAuth().GetUsername()
			asked[image] = append(asked[image], user)
			if user != "bank" {
				return errors.New("unauthorized")
			}
			return nil
		}
		n.createSecret(named("default/registry"), "quay.io", "bank", "")
		c.addJob("pull", "image: quay.io/web:1\npullSecrets: [registry]\ncompletionPolicy: {type: Never}")
		evil, err := client.NewForConfig(c.Server.Config("evil"))
		c.Must(err)
		_, err = evil.ImagePullJobs("evil").Create(c.Context(), &v1alpha1.ImagePullJob{ObjectMeta: metav1.ObjectMeta{Namespace: "evil", Name: "pull"},
			Spec: v1alpha1.ImagePullJobSpec{Image: "quay.io/web:2", PullSecrets: []string{"registry"}, PullPolicy: &v1alpha1.PullPolicy{BackoffLimit: new(int32)}}}, metav1.CreateOptions{})
		c.Must(err)
		c.Sleep(time.Minute)
		n.Want("of the tenant with a secret", []string{"bank"}, asked["quay.io/web:1"])
		n.Want("of the one without", []string{""}, asked["quay.io/web:2"])
	})
}
