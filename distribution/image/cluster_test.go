// SPDX-License-Identifier: Apache-2.0

package image

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/distribution/image/imagepulljob"
	"github.com/podwright/podwright/distribution/image/nodeimage"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	workloadsclient "github.com/podwright/podwright/workloads/client"
	workloadsv1alpha1 "github.com/podwright/podwright/workloads/v1alpha1"
	workloadsv1beta1 "github.com/podwright/podwright/workloads/v1beta1"
)

// The users of the server.
const (
	jobUser   = "imagepulljob-controller"
	nodeUser  = "nodeimage-controller"
	agentUser = "agent"
	testUser  = "test"
)

const namespace = "default"

// What the API server knows.
var (
	jobResource         = fakecluster.CustomResource(v1alpha1.SchemeGroupVersion.WithKind("ImagePullJob"), "imagepulljobs")
	nodeImageResource   = fakecluster.Resource{GroupVersionKind: v1alpha1.SchemeGroupVersion.WithKind("NodeImage"), Name: "nodeimages", ClusterScoped: true, Status: true, Generation: true}
	secretResource      = fakecluster.Resource{GroupVersionKind: corev1.SchemeGroupVersion.WithKind("Secret"), Name: "secrets", Type: func() any { return &corev1.Secret{} }}
	cloneSetResource    = fakecluster.CustomResource(workloadsv1alpha1.SchemeGroupVersion.WithKind("CloneSet"), "clonesets")
	statefulSetResource = fakecluster.CustomResource(workloadsv1beta1.SchemeGroupVersion.WithKind("StatefulSet"), "statefulsets")
)

// cluster is an API server in memory with both controllers, in virtual time.
type cluster struct {
	*fixture.Bubble
	kube   kubernetes.Interface // the test's
	jobs   client.ImagePullJobInterface
	images client.NodeImageInterface

	jobOptions     imagepulljob.Options
	nodeOptions    nodeimage.Options
	jobReconciles  fixture.Reconciles
	nodeReconciles fixture.Reconciles
	events         fixture.Recorder
	// The reconcilers of the controllers that run, nil for none.
	jobReconciler  imagepulljob.Reconciler
	nodeReconciler nodeimage.Reconciler
}

// newCluster is a cluster of a bubble, whose controllers are to be started.
func newCluster(t *testing.T) *cluster {
	t.Helper()
	server := fakecluster.New(nil, jobResource, nodeImageResource, cloneSetResource, statefulSetResource, secretResource)
	c := &cluster{Bubble: &fixture.Bubble{T: t, Server: server}}
	c.kube, c.images = c.Kubernetes(testUser), c.distribution(testUser).NodeImages()
	c.jobs = c.distribution(testUser).ImagePullJobs(namespace)
	c.jobOptions = imagepulljob.Options{
		Distribution: c.distribution(jobUser), Kubernetes: c.Kubernetes(jobUser), Workloads: c.workloads(jobUser), ControllerOptions: podwright.ControllerOptions{Metrics: &c.jobReconciles}}
	c.nodeOptions = nodeimage.Options{
		Distribution: c.distribution(nodeUser), Kubernetes: c.Kubernetes(nodeUser), ControllerOptions: podwright.ControllerOptions{Recorders: c.events.Of, Metrics: &c.nodeReconciles}}
	return c
}

func (c *cluster) distribution(user string) client.Interface {
	c.Helper()
	return fixture.Connect(c.T, c.Server, user, client.NewForConfig)
}

func (c *cluster) workloads(user string) workloadsclient.Interface {
	c.Helper()
	return fixture.Connect(c.T, c.Server, user, workloadsclient.NewForConfig)
}

func (c *cluster) startJobs() {
	c.Helper()
	jobs, err := imagepulljob.New(c.jobOptions)
	c.Must(err)
	c.jobReconciler = jobs
	c.Go(jobs.Run)
}

func (c *cluster) startNodes() {
	c.Helper()
	nodes, err := nodeimage.New(c.nodeOptions)
	c.Must(err)
	c.nodeReconciler = nodes
	c.Go(nodes.Run)
}

// expectSettled waits for a moment. Then the controllers must have done everything
// that can be done: an event that they had missed would have left something.
func (c *cluster) expectSettled() {
	c.Helper()
	c.Sleep(10 * time.Second)
	jobs, err := c.jobs.List(c.Context(), metav1.ListOptions{})
	c.Must(err)
	for i := range jobs.Items {
		if c.jobReconciler == nil {
			break
		}
		left, err := jobPackage.Unfinished(c.jobReconciler, types.NamespacedName{Namespace: namespace, Name: jobs.Items[i].Name})
		c.Must(err)
		if left != "" {
			c.Errorf("the controller is settled, and should not be: job %s: %s", jobs.Items[i].Name, left)
		}
	}
	nodes, err := c.kube.CoreV1().Nodes().List(c.Context(), metav1.ListOptions{})
	c.Must(err)
	names := map[string]bool{}
	for i := range nodes.Items {
		names[nodes.Items[i].Name] = true
	}
	for _, n := range c.nodeImages() {
		names[n.Name] = true
	}
	for name := range names {
		left, err := nodePackage.Unfinished(c.nodeReconciler, types.NamespacedName{Name: name})
		c.Must(err)
		if left != "" {
			c.Errorf("the controller is settled, and should not be: node %s: %s", name, left)
		}
	}
}

// The packages of both kinds, and when their plans have something to do.
var (
	jobPackage = fixture.Package[imagepulljob.Options, imagepulljob.Snapshot, imagepulljob.Plan]{
		New: imagepulljob.New, NewReconciler: imagepulljob.NewReconciler, Acts: func(p *imagepulljob.Plan) bool {
			return len(p.Assign) > 0 || p.Status != nil || p.Delete || len(p.Copy)+len(p.Release) > 0
		}}
	nodePackage = fixture.Package[nodeimage.Options, nodeimage.Snapshot, nodeimage.Plan]{
		New: nodeimage.New, NewReconciler: nodeimage.NewReconciler, Acts: func(p *nodeimage.Plan) bool {
			return p.Create != nil || p.Delete || p.Change != nil || p.Status != nil
		}}
)

// share has the controllers share informers, and finds out who changes objects
// of their caches.
func (c *cluster) share() {
	c.Helper()
	d := c.distribution("caches")
	core := caches.NewInformers(c.Kubernetes("caches"), "")
	jobs := c.Guarded(client.NewImagePullJobInformer(d, "", 0, cache.Indexers{}), nil)
	images := c.Guarded(client.NewNodeImageInformer(d, 0, cache.Indexers{}), nil)
	c.jobOptions.ImagePullJobs, c.jobOptions.NodeImages, c.jobOptions.Pods = jobs, images, c.Guarded(core.Pods(), nil)
	c.jobOptions.Copies = c.Guarded(imagepulljob.NewCopyInformer(c.Kubernetes("caches")), nil)
	c.nodeOptions.ImagePullJobs, c.nodeOptions.NodeImages, c.nodeOptions.Nodes = jobs, images, c.Guarded(core.Nodes(), nil)
	for _, informer := range []cache.SharedIndexInformer{jobs, images, c.jobOptions.Pods, c.jobOptions.Copies, c.nodeOptions.Nodes} {
		c.Go(fixture.Informing(informer))
	}
}

// addNodes adds nodes that are ready from now on: n0000, n0001 and so on.
func (c *cluster) addNodes(n int) {
	c.Helper()
	for i := range n {
		c.addNode(fmt.Sprintf("n%04d", i), nil)
	}
}

func (c *cluster) addNode(name string, labels map[string]string) {
	c.Helper()
	_, err := c.kube.CoreV1().Nodes().Create(c.Context(), &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
		Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{
			Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now(), LastHeartbeatTime: metav1.Now()}}},
	}, metav1.CreateOptions{})
	c.Must(err)
}

// heartbeat has all nodes report that they are as they were.
func (c *cluster) heartbeat() {
	c.Helper()
	nodes, err := c.kube.CoreV1().Nodes().List(c.Context(), metav1.ListOptions{})
	c.Must(err)
	for i := range nodes.Items {
		nodes.Items[i].Status.Conditions[0].LastHeartbeatTime = metav1.Now()
		_, err := c.kube.CoreV1().Nodes().UpdateStatus(c.Context(), &nodes.Items[i], metav1.UpdateOptions{})
		c.Must(err)
	}
	synctest.Wait()
}

// addJob creates a job for nginx:1, with the spec in YAML beside the image.
func (c *cluster) addJob(name, spec string) *v1alpha1.ImagePullJob {
	c.Helper()
	job := &v1alpha1.ImagePullJob{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: v1alpha1.ImagePullJobSpec{Image: "nginx:1"}}
	c.Must(yaml.UnmarshalStrict([]byte(spec), &job.Spec))
	created, err := c.jobs.Create(c.Context(), job, metav1.CreateOptions{})
	c.Must(err)
	synctest.Wait()
	return created
}

func (c *cluster) nodeImages() []v1alpha1.NodeImage {
	c.Helper()
	list, err := c.images.List(c.Context(), metav1.ListOptions{})
	c.Must(err)
	return list.Items
}

func (c *cluster) nodeImage(name string) *v1alpha1.NodeImage {
	c.Helper()
	n, err := c.images.Get(c.Context(), name, metav1.GetOptions{})
	c.Must(err)
	return n
}

// tasks shows the tasks of all nodes as "node image:tag version owner owner".
func (c *cluster) tasks() []string {
	c.Helper()
	out := []string{}
	for _, n := range c.nodeImages() {
		for name, image := range n.Spec.Images {
			for _, tag := range image.Tags {
				line := fmt.Sprintf("%s %s:%s v%d", n.Name, name, tag.Tag, tag.Version)
				for _, owner := range tag.OwnerReferences {
					line += " " + owner.Name
				}
				out = append(out, line)
			}
		}
	}
	slices.Sort(out)
	return out
}

// report is what the agent of a node says about its tasks; empty stands for nothing.
type report func(node string) v1alpha1.ImagePullPhase

// agents has the agents of all nodes write the status once, as they do: whole,
// from what the spec asks for.
func (c *cluster) agents(says report) {
	c.Helper()
	agent := c.distribution(agentUser).NodeImages()
	for _, n := range c.nodeImages() {
		if !answer(&n, says) {
			continue
		}
		if _, err := agent.UpdateStatus(c.Context(), &n, metav1.UpdateOptions{}); err != nil && !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
			c.Fatal(err)
		}
	}
	synctest.Wait()
}

// answer sets the status of a NodeImage. It returns false if nothing changes.
func answer(n *v1alpha1.NodeImage, says report) bool {
	before := n.Status.DeepCopy()
	old := n.Status.ImageStatuses
	n.Status = v1alpha1.NodeImageStatus{ImageStatuses: map[string]v1alpha1.ImageStatus{}}
	for name, image := range n.Spec.Images {
		var states []v1alpha1.ImageTagStatus
		for _, task := range image.Tags {
			n.Status.Desired++
			i := slices.IndexFunc(old[name].Tags, func(s v1alpha1.ImageTagStatus) bool {
				return s.Tag == task.Tag && s.Version == task.Version && s.CompletionTime != nil
			})
			if i >= 0 {
				states = append(states, old[name].Tags[i])
				continue
			}
			phase := says(n.Name)
			if phase == "" {
				continue
			}
			state := v1alpha1.ImageTagStatus{Tag: task.Tag, Version: task.Version, Phase: phase}
			if phase != v1alpha1.ImagePhasePulling {
				state.CompletionTime = ptr.To(metav1.Now())
			}
			states = append(states, state)
		}
		if len(states) > 0 {
			n.Status.ImageStatuses[name] = v1alpha1.ImageStatus{Tags: states}
		}
	}
	was, _ := json.Marshal(before)
	is, _ := json.Marshal(n.Status)
	return string(was) != string(is)
}

// sent lists the requests of a controller since ForgetRequests, but not those of
// its informers, as "n verb resource".
func (c *cluster) sent(user string) []string {
	out := []string{}
	for request, n := range c.Count(user) {
		if !strings.HasPrefix(request, "list ") && !strings.HasPrefix(request, "watch ") {
			out = append(out, fmt.Sprint(n, " ", request))
		}
	}
	slices.Sort(out)
	return out
}
