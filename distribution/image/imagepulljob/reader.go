package imagepulljob

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	corev1listers "k8s.io/client-go/listers/core/v1"

	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/consistency"
	workloadsclient "github.com/podwright/podwright/workloads/client"
	workloadsv1alpha1 "github.com/podwright/podwright/workloads/v1alpha1"
	workloadsv1beta1 "github.com/podwright/podwright/workloads/v1beta1"
)

// Resource names a cache: ResourceImagePullJobs and its like.
type Resource = consistency.Resource

// The caches that a Reconciler writes to, and so waits for.
const (
	ResourceImagePullJobs Resource = "imagepulljobs"
	ResourceNodeImages    Resource = "nodeimages"
)

// Reader reads caches. What it returns is shared with the cache: a Reconciler
// never changes it. Its methods are called by several goroutines. Where there is
// no such object, they return an error for which apierrors.IsNotFound holds.
//
// New makes a Reader over informers. An implementation of one's own lets a
// Reconciler run on the caches of another framework.
type Reader interface {
	// ImagePullJob returns a job.
	ImagePullJob(namespace, name string) (*v1alpha1.ImagePullJob, error)
	// NodeImage returns the NodeImage of a node.
	NodeImage(name string) (*v1alpha1.NodeImage, error)
	// NodeImages returns all of them, in any order.
	NodeImages() ([]*v1alpha1.NodeImage, error)
	// Pods returns the pods of the namespace that match, in any order.
	Pods(namespace string, selector labels.Selector) ([]*corev1.Pod, error)
	// CloneSet returns a CloneSet. A Reader that knows none finds none.
	CloneSet(namespace, name string) (*workloadsv1alpha1.CloneSet, error)
	// StatefulSet returns a StatefulSet of apps.kruise.io. A Reader that knows
	// none finds none.
	StatefulSet(namespace, name string) (*workloadsv1beta1.StatefulSet, error)
	// Seen returns the resourceVersion up to which a cache is complete, empty
	// when it cannot tell. A Reconciler waits until it has seen its own writes;
	// where Seen cannot tell, it makes no pass, unless Options.AllowStaleReads
	// says so.
	Seen(Resource) string
}

type informerReader struct {
	caches.Stores
	jobs         client.ImagePullJobLister
	nodeImages   client.NodeImageLister
	pods         corev1listers.PodLister
	cloneSets    workloadsclient.CloneSetLister    // nil: none are known
	statefulSets workloadsclient.StatefulSetLister // nil: none are known
}

func newInformerReader(o *Options) *informerReader {
	r := &informerReader{
		Stores: caches.Stores{
			ResourceImagePullJobs: o.ImagePullJobs.GetStore(), ResourceNodeImages: o.NodeImages.GetStore(),
		},
		jobs:       client.NewImagePullJobLister(o.ImagePullJobs.GetIndexer()),
		nodeImages: client.NewNodeImageLister(o.NodeImages.GetIndexer()),
		pods:       corev1listers.NewPodLister(o.Pods.GetIndexer()),
	}
	if o.CloneSets != nil {
		r.cloneSets = workloadsclient.NewCloneSetLister(o.CloneSets.GetIndexer())
	}
	if o.StatefulSets != nil {
		r.statefulSets = workloadsclient.NewStatefulSetLister(o.StatefulSets.GetIndexer())
	}
	return r
}

func (r *informerReader) ImagePullJob(namespace, name string) (*v1alpha1.ImagePullJob, error) {
	return r.jobs.Namespace(namespace).Get(name)
}

func (r *informerReader) NodeImage(name string) (*v1alpha1.NodeImage, error) {
	return r.nodeImages.Get(name)
}

func (r *informerReader) NodeImages() ([]*v1alpha1.NodeImage, error) {
	return r.nodeImages.List(labels.Everything())
}

func (r *informerReader) Pods(namespace string, selector labels.Selector) ([]*corev1.Pod, error) {
	return r.pods.Pods(namespace).List(selector)
}

func (r *informerReader) CloneSet(namespace, name string) (*workloadsv1alpha1.CloneSet, error) {
	if r.cloneSets == nil {
		return nil, apierrors.NewNotFound(workloadsv1alpha1.Resource("clonesets"), name)
	}
	return r.cloneSets.Namespace(namespace).Get(name)
}

func (r *informerReader) StatefulSet(namespace, name string) (*workloadsv1beta1.StatefulSet, error) {
	if r.statefulSets == nil {
		return nil, apierrors.NewNotFound(workloadsv1beta1.Resource("statefulsets"), name)
	}
	return r.statefulSets.Namespace(namespace).Get(name)
}

// observe reads everything that a plan for the job depends on. It returns nil
// when the job does not exist.
func (r *Reconciler) observe(key types.NamespacedName) (*Snapshot, error) {
	job, err := r.reader.ImagePullJob(key.Namespace, key.Name)
	if apierrors.IsNotFound(err) {
		r.reported.Forget(key)
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read ImagePullJob %s: %w", key, err)
	}
	s := &Snapshot{Job: job, Now: r.clock.Now(), Reported: r.reported.Get(key)}
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

func (r *Reconciler) observeAllNodes(s *Snapshot) error {
	all, err := r.reader.NodeImages()
	if err != nil {
		return err
	}
	s.NodeImages = make(map[string]*v1alpha1.NodeImage, len(all))
	for _, n := range all {
		s.NodeImages[n.Name] = n
	}
	return nil
}

func (r *Reconciler) observeNodes(s *Snapshot, names []string) error {
	s.NodeImages = make(map[string]*v1alpha1.NodeImage, len(names))
	for _, name := range names {
		n, err := r.reader.NodeImage(name)
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
func (r *Reconciler) observePods(s *Snapshot) (err error) {
	selector, err := metav1.LabelSelectorAsSelector(s.Job.Spec.PodSelector)
	if err != nil {
		return nil // the plan reports it
	}
	if s.Pods, err = r.reader.Pods(s.Job.Namespace, selector); err != nil {
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
func (r *Reconciler) observeController(s *Snapshot) error {
	controller := metav1.GetControllerOfNoCopy(s.Job)
	if controller == nil {
		return nil
	}
	version, err := schema.ParseGroupVersion(controller.APIVersion)
	if err != nil || version.Group != workloadsv1alpha1.GroupName {
		return nil
	}
	switch controller.Kind {
	case "CloneSet":
		set, err := r.reader.CloneSet(s.Job.Namespace, controller.Name)
		if err == nil && set.UID == controller.UID {
			s.CloneSet = set
		}
		return ignoreNotFound(err)
	case "StatefulSet":
		set, err := r.reader.StatefulSet(s.Job.Namespace, controller.Name)
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
