// SPDX-License-Identifier: Apache-2.0

package image

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/distribution/image/imagepulljob"
	"github.com/podwright/podwright/distribution/image/nodeimage"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/internal/testing/fakecri/agents"
	"github.com/podwright/podwright/internal/testing/patches"
	workloadsclient "github.com/podwright/podwright/workloads/client"
	workloadsv1alpha1 "github.com/podwright/podwright/workloads/v1alpha1"
	workloadsv1beta1 "github.com/podwright/podwright/workloads/v1beta1"
)

// cluster is both halves: the controllers of the cluster, and nodes with agents.
type cluster struct {
	*fixture.Bubble
	client client.Interface
	nodes  []*player
}

// TestJobs plays what becomes of ImagePullJobs: see agents.PlayStories. The controllers of the cluster run. Shown are jobs, and of each node
// what its NodeImage says, its pulls, and events.
//
//	nodes 5                 adds nodes with agents
//	on node-1 pulls 2m      a command of TestStories, on a node or on "all"
//	job default/pull        creates a job, with the spec that follows; "delete-job default/pull" deletes it
//	restart node-2          restarts an agent
func TestJobs(t *testing.T) {
	agents.PlayStories(t, "testdata/jobs", func(t *testing.T) *agents.Story {
		first := newPlayer(newNode(t, "node-1", newServer(
			fakecluster.CustomResource(workloadsv1alpha1.SchemeGroupVersion.WithKind("CloneSet"), "clonesets"),
			fakecluster.CustomResource(workloadsv1beta1.SchemeGroupVersion.WithKind("StatefulSet"), "statefulsets"))))
		c := &cluster{Bubble: first.Bubble, client: fixture.Connect(t, first.Server, "test", client.NewForConfig)}
		first.Uncounted = true // they are shown by the stories of a node
		c.startManager()
		return &agents.Story{Node: first.Node, Show: c.show, Calls: func([]string) []string { return nil }, Further: map[string]func([]string, string){
			"nodes": func(words []string, _ string) {
				c.addNode(first)
				for i := range patches.Number(t, words[0]) - 1 {
					c.addNode(newPlayer(newNode(t, fmt.Sprint("node-", i+2), c.Server)))
				}
				c.Sleep(time.Minute)
			},
			"on": func(words []string, text string) {
				for _, n := range c.nodes {
					if words[0] == n.Name || words[0] == "all" {
						n.further()[words[1]](words[2:], text)
					}
				}
			},
			"job": func(words []string, text string) {
				of := named(words[0])
				job := &v1alpha1.ImagePullJob{ObjectMeta: metav1.ObjectMeta{Namespace: of.Namespace, Name: of.Name}}
				c.Must(yaml.UnmarshalStrict([]byte(text), &job.Spec))
				_, err := c.client.ImagePullJobs(of.Namespace).Create(c.Context(), job, metav1.CreateOptions{})
				c.Must(err)
			},
			"delete-job": func(words []string, _ string) {
				c.Must(c.client.ImagePullJobs(named(words[0]).Namespace).Delete(c.Context(), named(words[0]).Name, metav1.DeleteOptions{}))
			},
			"restart": func(words []string, _ string) {
				for _, n := range c.nodes {
					if words[0] == n.Name {
						n.StopAgent()
						n.start()
					}
				}
			},
		}}
	})
}

// startManager starts both controllers of the cluster's half.
func (c *cluster) startManager() {
	c.Helper()
	d, kube := fixture.Connect(c.T, c.Server, "manager", client.NewForConfig), c.Kubernetes("manager")
	jobs, err := imagepulljob.New(imagepulljob.Options{Distribution: d, Kubernetes: kube, Workloads: fixture.Connect(c.T, c.Server, "manager", workloadsclient.NewForConfig)})
	c.Must(err)
	nodeImages, err := nodeimage.New(nodeimage.Options{Distribution: d, Kubernetes: kube})
	c.Must(err)
	c.Go(jobs.Run, nodeImages.Run)
}

// addNode adds a node that is ready, with its agent.
func (c *cluster) addNode(n *player) {
	c.Helper()
	_, err := n.Kube.CoreV1().Nodes().Create(c.Context(), &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: n.Name},
		Status:     corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now()}}},
	}, metav1.CreateOptions{})
	c.Must(err)
	n.start()
	if c.nodes = append(c.nodes, n); n.Bubble != c.Bubble {
		c.Cleanup(n.Stop)
	}
}

// show shows jobs and nodes.
func (c *cluster) show() (lines []string) {
	c.Helper()
	jobs, err := c.client.ImagePullJobs("").List(c.Context(), metav1.ListOptions{})
	c.Must(err)
	for i := range jobs.Items {
		s := &jobs.Items[i].Status
		lines = append(lines, fmt.Sprintf("%s/%s: %d of %d succeeded, %d failed %v, %d active: %s", jobs.Items[i].Namespace, jobs.Items[i].Name,
			s.Succeeded, s.Desired, s.Failed, s.FailedNodes, s.Active, s.Message))
	}
	for _, n := range c.nodes {
		lines = append(lines, n.Name+": "+strings.Join(append(append(n.show(), n.calls(nil)...), n.Events.All()...), "\n    "))
		n.Events.Forget()
	}
	return lines
}
