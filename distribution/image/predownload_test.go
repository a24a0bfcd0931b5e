// SPDX-License-Identifier: Apache-2.0

package image

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/distribution/v1alpha1"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/workloads"
	"github.com/podwright/podwright/workloads/cloneset"
	"github.com/podwright/podwright/workloads/statefulset"
	workloadsv1alpha1 "github.com/podwright/podwright/workloads/v1alpha1"
	workloadsv1beta1 "github.com/podwright/podwright/workloads/v1beta1"
)

// workload is one that pulls images ahead of its updates.
type workload struct {
	kind   string
	create func(*cluster)
	update func(*cluster, []byte) // by a merge patch
	run    func(*cluster, workloads.ImagePullJobs)
}

var template = corev1.PodTemplateSpec{
	ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}},
	Spec: corev1.PodSpec{
		Containers:       []corev1.Container{{Name: "main", Image: "nginx:1"}},
		ImagePullSecrets: []corev1.LocalObjectReference{{Name: "registry"}},
	},
}

func cloneSetWorkload() workload {
	return workload{
		kind: "CloneSet",
		create: func(c *cluster) {
			_, err := c.workloads(testUser).CloneSets(namespace).Create(c.Context(), &workloadsv1alpha1.CloneSet{
				ObjectMeta: metav1.ObjectMeta{Name: "web"},
				Spec: workloadsv1alpha1.CloneSetSpec{
					Replicas: ptr.To[int32](5), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}, Template: template,
					UpdateStrategy: workloadsv1alpha1.CloneSetUpdateStrategy{
						Type: workloadsv1alpha1.InPlaceIfPossibleCloneSetUpdateStrategyType, MaxUnavailable: ptr.To(intstr.FromInt32(1)),
						PriorityStrategy: &inplacev1alpha1.UpdatePriorityStrategy{
							OrderPriority: []inplacev1alpha1.UpdatePriorityOrderTerm{{OrderedKey: "order"}}}},
				}}, metav1.CreateOptions{})
			c.Must(err)
		},
		update: func(c *cluster, patch []byte) {
			_, err := c.workloads(testUser).CloneSets(namespace).Patch(c.Context(), "web", types.MergePatchType, patch, metav1.PatchOptions{})
			c.Must(err)
		},
		run: func(c *cluster, jobs workloads.ImagePullJobs) {
			controller, err := cloneset.New(cloneset.Options{Kubernetes: c.Kubernetes("cloneset"), Workloads: c.workloads("cloneset"),
				NoNodes: true, Jobs: jobs, Features: cloneset.Features{PreDownload: true}})
			c.Must(err)
			c.Go(controller.Run)
		},
	}
}

func statefulSetWorkload() workload {
	return workload{
		kind: "StatefulSet",
		create: func(c *cluster) {
			_, err := c.workloads(testUser).StatefulSets(namespace).Create(c.Context(), &workloadsv1beta1.StatefulSet{
				ObjectMeta: metav1.ObjectMeta{Name: "web"},
				Spec: workloadsv1beta1.StatefulSetSpec{
					Replicas: ptr.To[int32](5), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}, Template: template,
					UpdateStrategy: workloadsv1beta1.StatefulSetUpdateStrategy{RollingUpdate: &workloadsv1beta1.RollingUpdateStatefulSetStrategy{
						PodUpdatePolicy: workloadsv1beta1.InPlaceIfPossiblePodUpdateStrategyType}},
				}}, metav1.CreateOptions{})
			c.Must(err)
		},
		update: func(c *cluster, patch []byte) {
			_, err := c.workloads(testUser).StatefulSets(namespace).Patch(c.Context(), "web", types.MergePatchType, patch, metav1.PatchOptions{})
			c.Must(err)
		},
		run: func(c *cluster, jobs workloads.ImagePullJobs) {
			controller, err := statefulset.New(statefulset.Options{Kubernetes: c.Kubernetes("statefulset"), Workloads: c.workloads("statefulset"),
				Jobs: jobs, Features: statefulset.Features{PreDownload: true}})
			c.Must(err)
			c.Go(controller.Run)
		},
	}
}

// What workloads write is what the jobs controller reads. Images are pulled in the order
// in which the pods will be updated. What was made is taken away when the update is over.
func TestPreDownload(t *testing.T) {
	for _, w := range []workload{cloneSetWorkload(), statefulSetWorkload()} {
		t.Run(w.kind, func(t *testing.T) {
			play(t, func(t *testing.T, c *cluster) { c.preDownload(w) })
		})
	}
}

func (c *cluster) preDownload(w workload) {
	c.share()
	jobs, err := workloads.NewImagePullJobs(c.distribution(w.kind), c.jobOptions.ImagePullJobs)
	c.Must(err)
	c.start()
	w.run(c, jobs)
	c.Sleep(time.Second)
	w.create(c)
	kubelet := &fakecluster.Kubelet{Client: c.kube}
	c.steps(kubelet, 20)
	order := c.nodesInUpdateOrder(w.kind)
	for _, node := range order {
		c.addNode(node, nil)
	}
	c.Sleep(31 * time.Second)

	w.update(c, []byte(`{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"nginx:2"}]}}}}`))
	c.Sleep(time.Second) // the kubelet is slow: no pod is updated yet
	list, err := c.jobs.List(c.Context(), metav1.ListOptions{})
	c.Must(err)
	if len(list.Items) != 1 {
		c.Fatalf("jobs: %+v", list.Items)
	}
	var pulled []string
	for range 4 { // parallelism 1
		for _, n := range c.nodeImages() {
			image := n.Spec.Images["nginx"]
			// The node of the pod that is being updated has the task, too, if the
			// cache showed the pod as it was before.
			if len(image.Tags) > 0 && len(n.Status.ImageStatuses) == 0 && n.Name != order[0] {
				pulled = append(pulled, n.Name)
				if diff := cmp.Diff([]v1alpha1.ReferenceObject{{Namespace: v1alpha1.DaemonConfigNamespace, Name: copyName("registry")}}, image.PullSecrets); diff != "" {
					c.Errorf("secrets (-want +got):\n%s", diff)
				}
			}
		}
		c.agents(always(v1alpha1.ImagePhaseSucceeded))
		c.Sleep(time.Second)
	}
	if diff := cmp.Diff(order[1:], pulled); diff != "" {
		c.Errorf("IMG-1.3: the order of the update, without the pod that is at the new revision (-want +got):\n%s", diff)
	}
	if status := c.job(list.Items[0].Name).Status; status.Message != "job has completed" || status.Desired != 4 {
		c.Errorf("status: %+v", status)
	}
	c.steps(kubelet, 60)
	if left, err := c.jobs.List(c.Context(), metav1.ListOptions{}); err != nil || len(left.Items) > 0 {
		c.Errorf("IP-32: the update is over, and the jobs stay: %+v, %v", left, err)
	}
	c.Sleep(time.Second)
	c.Want("IMG-2.3: and so do the tasks", nil, c.tasks())
}

// steps has the kubelets work.
func (c *cluster) steps(kubelet *fakecluster.Kubelet, n int) {
	c.Helper()
	for range n {
		c.Must(kubelet.SyncAll(context.Background(), namespace))
		c.Sleep(time.Second)
	}
}

// nodesInUpdateOrder returns the nodes of the pods: of a StatefulSet from the
// highest ordinal down; of a CloneSet it makes an order first.
func (c *cluster) nodesInUpdateOrder(kind string) (nodes []string) {
	c.Helper()
	pods, err := c.kube.CoreV1().Pods(namespace).List(c.Context(), metav1.ListOptions{})
	c.Must(err)
	if len(pods.Items) != 5 {
		c.Fatalf("%d pods", len(pods.Items))
	}
	for i := range 5 {
		if kind == "StatefulSet" {
			nodes = append(nodes, fmt.Sprint("node-web-", 4-i))
			continue
		}
		pod := pods.Items[(i*2)%5]
		order := fmt.Appendf(nil, `{"metadata":{"labels":{"order":"%d"}}}`, 9-i) // the larger goes first
		_, err := c.kube.CoreV1().Pods(namespace).Patch(c.Context(), pod.Name, types.MergePatchType, order, metav1.PatchOptions{})
		c.Must(err)
		nodes = append(nodes, pod.Spec.NodeName)
	}
	return nodes
}
