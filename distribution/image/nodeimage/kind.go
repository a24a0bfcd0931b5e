// SPDX-License-Identifier: Apache-2.0

package nodeimage

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/images"
	"github.com/podwright/podwright/internal/typedclient"
)

// The caches that a Reconciler writes to, and so waits for.
const (
	resourceNodeImages podwright.Resource = "nodeimages"
	resourcePods       podwright.Resource = caches.Pods // those that have images pulled, with Options.PullPods
)

const resourceImagePullJobs podwright.Resource = "imagepulljobs" // which it only reads

// reads lists what the plan for a node depends on. Heartbeats, and all else that
// nodes report, do not count.
func (o *Options) reads() []controller.Read {
	reads := []controller.Read{
		{Resource: caches.Nodes, Object: &corev1.Node{}, Informer: &o.Nodes, MakeInformer: caches.NewInformers(o.Kubernetes, "").Nodes, Fields: controller.Labels | controller.NodeReady, IsReconciled: true},
		{Resource: resourceNodeImages, Object: &v1alpha1.NodeImage{}, LiveReader: apiwriter.TypedCluster(o.Distribution.NodeImages), Informer: &o.NodeImages, MakeInformer: func() cache.SharedIndexInformer {
			return client.NewNodeImageInformer(o.Distribution, 0, cache.Indexers{})
		}, Indexes: []podwright.Index{caches.ByTaskOwner}, Fields: controller.Labels | controller.Generation | controller.Status, Concern: controller.On(nodeImageChanged)},
		{Resource: resourceImagePullJobs, Object: &v1alpha1.ImagePullJob{}, Informer: &o.ImagePullJobs,
			MakeInformer: controller.Maker(client.NewImagePullJobInformer, o.Distribution, ""), Fields: controller.Generation | controller.Status, Concern: controller.On(o.jobChanged), SkipInitial: true},
	}
	if o.PullPods != nil {
		reads = append(reads, controller.Read{Resource: resourcePods, Object: &corev1.Pod{}, LiveReader: apiwriter.Pods(o.Kubernetes),
			Informer: &o.Pods, MakeInformer: func() cache.SharedIndexInformer { return NewPullPodInformer(o.Kubernetes) }, IsPartial: true, Indexes: []podwright.Index{caches.ByPullNode},
			Fields: controller.NodeName | controller.Phase | controller.Containers | controller.ContainerStates | controller.Waiting | controller.Scheduled, Concern: controller.On(pullPodChanged)})
	}
	return reads
}

// NewPullPodInformer makes an informer of the pods that have images pulled, for
// Options.Pods.
func NewPullPodInformer(client kubernetes.Interface) cache.SharedIndexInformer {
	labelled := func(o *metav1.ListOptions) { o.LabelSelector = v1alpha1.PullPodLabel }
	return typedclient.NewInformer(typedclient.Select(client.CoreV1().Pods(metav1.NamespaceAll), labelled), client, &corev1.Pod{}, 0, nil)
}

// reconciler is what the steps of a reconcile share.
type reconciler struct {
	options Options
	writer  *apply.Writer
	gone    *goneJobs
	puller  puller
}

// kind describes nodes to the shell.
func (o *Options) kind() controller.Definition[Snapshot, Plan] {
	r := &reconciler{options: *o, writer: newWriter(o), gone: newGoneJobs()}
	r.puller.own = &r.writer.Own
	if o.PullPods != nil {
		r.puller.pods = apiwriter.Pods(o.Kubernetes)
	}
	return controller.Definition[Snapshot, Plan]{
		Name:    component,
		Observe: r.observe, Plan: NewPlan, Apply: r.apply,
		Writer: r.writer, Forget: r.puller.refusals.Forget,
	}
}

// observe reads everything that a plan for the node depends on. It returns nil
// when there is neither the node nor its NodeImage, nor a pod that pulls for it.
func (r *reconciler) observe(_ context.Context, key types.NamespacedName) (*Snapshot, error) {
	s := &Snapshot{Now: r.options.Clock.Now(), Timing: r.options.Timing, PullPods: r.options.PullPods}
	var err error
	if r.options.PullPods != nil {
		if s.Pods, err = caches.PullPodsOf(r.options.Reader, key.Name); err != nil {
			return nil, fmt.Errorf("read the pods that have images pulled to node %s: %w", key.Name, err)
		}
	}
	if s.Node, err = apiwriter.Found(caches.Get[*corev1.Node](r.options.Reader, caches.Nodes, "", key.Name)); err != nil {
		return nil, fmt.Errorf("read node %s: %w", key.Name, err)
	}
	if s.NodeImage, err = apiwriter.Found(caches.Get[*v1alpha1.NodeImage](r.options.Reader, resourceNodeImages, "", key.Name)); err != nil {
		return nil, fmt.Errorf("read NodeImage %s: %w", key.Name, err)
	}
	if s.NodeImage == nil {
		if s.Node == nil && len(s.Pods) == 0 {
			return nil, nil
		}
		return s, nil
	}
	s.Refusals = r.puller.observed(key, s.NodeImage)
	s.Jobs = map[types.UID]*v1alpha1.ImagePullJob{}
	for _, owner := range images.TaskJobs(s.NodeImage) {
		name, _ := images.TaskJob(owner)
		job, err := apiwriter.Found(caches.Get[*v1alpha1.ImagePullJob](r.options.Reader, resourceImagePullJobs, name.Namespace, name.Name))
		if err != nil {
			return nil, fmt.Errorf("read ImagePullJob %s: %w", name, err)
		}
		if job != nil && job.UID == owner.UID {
			s.Jobs[owner.UID] = job
		}
	}
	return s, nil
}
