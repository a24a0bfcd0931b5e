// SPDX-License-Identifier: Apache-2.0

package imagepulljob

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/typedclient"
	"github.com/podwright/podwright/internal/workload"
	workloadsclient "github.com/podwright/podwright/workloads/client"
	workloadsv1alpha1 "github.com/podwright/podwright/workloads/v1alpha1"
	workloadsv1beta1 "github.com/podwright/podwright/workloads/v1beta1"
)

// The caches that a Reconciler writes to, and so waits for.
const (
	resourceImagePullJobs podwright.Resource = "imagepulljobs"
	resourceNodeImages    podwright.Resource = "nodeimages"
	resourceSecrets       podwright.Resource = "secrets" // the copies of pull secrets
)

// Caches that it only reads.
const (
	resourceCloneSets    podwright.Resource = "clonesets"
	resourceStatefulSets podwright.Resource = "statefulsets"
)

// reads lists what a job's plan depends on. What is there at the start concerns
// jobs that are there at the start.
func (o *Options) reads() []controller.Read {
	core := caches.NewInformers(o.Kubernetes, o.Namespace)
	byNamespace := cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
	reads := []controller.Read{
		{Resource: resourceImagePullJobs, Object: &v1alpha1.ImagePullJob{}, LiveReader: apiwriter.Typed(o.Distribution.ImagePullJobs), Informer: &o.ImagePullJobs,
			MakeInformer: controller.Maker(client.NewImagePullJobInformer, o.Distribution, o.Namespace), Indexes: []podwright.Index{caches.ByTarget}, Fields: controller.Workload | controller.Finalizers, IsReconciled: true},
		{Resource: resourceNodeImages, Object: &v1alpha1.NodeImage{}, LiveReader: apiwriter.TypedCluster(o.Distribution.NodeImages), Informer: &o.NodeImages, MakeInformer: func() cache.SharedIndexInformer {
			return client.NewNodeImageInformer(o.Distribution, 0, cache.Indexers{})
		}, Fields: controller.Labels | controller.Generation | controller.Status, Concern: controller.On(o.nodeImageChanged), CollectEvents: true, SkipInitial: true},
		{Resource: caches.Pods, Object: &corev1.Pod{}, Informer: &o.Pods, MakeInformer: core.Pods, Fields: controller.Labels | controller.NodeName | controller.Phase,
			Concern: controller.On(o.podChanged), ConcernsKnown: true, CollectEvents: true, SkipInitial: true},
	}
	reads = append(reads, controller.Read{
		Resource: resourceSecrets, Object: &corev1.Secret{}, LiveReader: apiwriter.Typed(func(string) typedcorev1.SecretInterface {
			return o.Kubernetes.CoreV1().Secrets(v1alpha1.DaemonConfigNamespace)
		}),
		Informer: &o.Copies, MakeInformer: func() cache.SharedIndexInformer { return NewCopyInformer(o.Kubernetes) }, IsPartial: true,
		Indexes: []podwright.Index{caches.ByReference}, Fields: controller.Annotations, Concern: controller.On(o.copyChanged),
	})
	if o.CloneSets != nil || o.Workloads != nil {
		reads = append(reads, controller.Read{Resource: resourceCloneSets, Object: &workloadsv1alpha1.CloneSet{}, Informer: &o.CloneSets, MakeInformer: func() cache.SharedIndexInformer {
			return workloadsclient.NewCloneSetInformer(o.Workloads, o.Namespace, 0, byNamespace)
		}})
	}
	if o.AdvancedStatefulSets != nil || o.Workloads != nil {
		reads = append(reads, controller.Read{Resource: resourceStatefulSets, Object: &workloadsv1beta1.StatefulSet{}, Informer: &o.AdvancedStatefulSets, MakeInformer: func() cache.SharedIndexInformer {
			return workloadsclient.NewStatefulSetInformer(o.Workloads, o.Namespace, 0, byNamespace)
		}})
	}
	return reads
}

// NewCopyInformer makes an informer of the secrets in the namespace of the copies of pull secrets, for Options.Copies. Those of
// OpenKruise 1.9 have no label by which to select them.
func NewCopyInformer(client kubernetes.Interface) cache.SharedIndexInformer {
	return typedclient.NewInformer(client.CoreV1().Secrets(v1alpha1.DaemonConfigNamespace), client, &corev1.Secret{}, 0, nil)
}

// reconciler is what the steps of a reconcile share.
type reconciler struct {
	options  Options
	writer   *apply.Writer
	copier   *copier
	reported apiwriter.Last[time.Time] // when the status was last written
}

// kind describes jobs to the shell.
func (o *Options) kind() controller.Definition[Snapshot, Plan] {
	r := &reconciler{options: *o, writer: newWriter(o), copier: newCopier(o.Kubernetes)}
	return controller.Definition[Snapshot, Plan]{
		Name:    component,
		Observe: r.observe, Plan: NewPlan, Apply: r.apply,
		Writer: r.writer, Forget: r.forget,
	}
}

func (r *reconciler) forget(key types.NamespacedName) {
	r.reported.Forget(key)
	r.copier.looks.Forget(key)
}

// observe reads everything that a plan for the job depends on. It returns nil
// when the job does not exist, and nothing is left of it, or it is outside Options.Namespace.
func (r *reconciler) observe(_ context.Context, key types.NamespacedName) (*Snapshot, error) {
	if r.options.Namespace != "" && key.Namespace != r.options.Namespace {
		return nil, nil // its jobs are in no cache, and another manager's
	}
	copies, err := caches.CopiesFor(r.options.Reader, resourceSecrets, key)
	if err != nil {
		return nil, fmt.Errorf("read the copies of pull secrets of ImagePullJob %s: %w", key, err)
	}
	job, err := apiwriter.Found(caches.Get[*v1alpha1.ImagePullJob](r.options.Reader, resourceImagePullJobs, key.Namespace, key.Name))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read ImagePullJob %s: %w", key, err)
	case job == nil && len(copies) == 0:
		return nil, nil
	case job == nil:
		return &Snapshot{Copies: copies, key: key, Now: r.options.Clock.Now()}, nil
	}
	s := &Snapshot{
		Job: job, key: key, Copies: copies, Looks: r.copier.looks.Get(key), ReferToSourceSecrets: r.options.ReferToSourceSecrets, TTLReserve: r.options.TTLReserve,
		Now: r.options.Clock.Now(), Reported: r.reported.Get(key), HeldSince: r.writer.HeldSince(job),
	}
	if over(job) {
		return s, nil // the nodes no longer matter
	}
	switch spec := &job.Spec; {
	case spec.PodSelector != nil:
		err = r.observePods(s)
	case spec.Selector != nil && len(spec.Selector.Names) > 0:
		err = r.observeNodes(s, spec.Selector.Names)
	default:
		err = r.observeAllNodes(s)
	}
	if err != nil {
		return nil, fmt.Errorf("read the nodes of ImagePullJob %s: %w", key, err)
	}
	return s, nil
}

// over tells whether nothing can change a job any more.
func over(job *v1alpha1.ImagePullJob) bool {
	return job.Status.CompletionTime != nil || job.DeletionTimestamp != nil
}

func (r *reconciler) observeAllNodes(s *Snapshot) error {
	all, err := caches.All[*v1alpha1.NodeImage](r.options.Reader, resourceNodeImages, "")
	if err != nil {
		return err
	}
	s.NodeImages = make(map[string]*v1alpha1.NodeImage, len(all))
	for _, n := range all {
		s.NodeImages[n.Name] = n
	}
	return nil
}

func (r *reconciler) observeNodes(s *Snapshot, names []string) error {
	s.NodeImages = make(map[string]*v1alpha1.NodeImage, len(names))
	for _, name := range names {
		n, err := caches.Get[*v1alpha1.NodeImage](r.options.Reader, resourceNodeImages, "", name)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return err
		}
		s.NodeImages[name] = n
	}
	return nil
}

// observePods reads the pods of a job, their nodes, and what controls the job.
func (r *reconciler) observePods(s *Snapshot) (err error) {
	selector, err := metav1.LabelSelectorAsSelector(s.Job.Spec.PodSelector)
	if err != nil {
		return nil // the plan reports it
	}
	if s.Pods, err = caches.List[*corev1.Pod](r.options.Reader, caches.Pods, s.Job.Namespace, selector); err != nil {
		return err
	}
	names := make([]string, len(s.Pods))
	for i, pod := range s.Pods {
		names[i] = pod.Spec.NodeName
	}
	if err := r.observeNodes(s, names); err != nil {
		return err
	}
	return r.observeController(s)
}

// observeController reads the workload that controls a job. One that is gone,
// or has been replaced, is none.
func (r *reconciler) observeController(s *Snapshot) error {
	controller := metav1.GetControllerOfNoCopy(s.Job)
	switch workload.ControllerKind(s.Job) {
	case workload.CloneSets:
		set, err := caches.Get[*workloadsv1alpha1.CloneSet](r.options.Reader, resourceCloneSets, s.Job.Namespace, controller.Name)
		if err == nil && set.UID == controller.UID {
			s.CloneSet = set
		}
		return ignoreNotFound(err)
	case workload.AdvancedStatefulSets:
		set, err := caches.Get[*workloadsv1beta1.StatefulSet](r.options.Reader, resourceStatefulSets, s.Job.Namespace, controller.Name)
		if err == nil && set.UID == controller.UID {
			s.StatefulSet = set
		}
		return ignoreNotFound(err)
	}
	return nil
}

func ignoreNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
