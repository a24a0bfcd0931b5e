package cloneset

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/consistency"
	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// Resource names a cache: ResourceCloneSets and its like.
type Resource = consistency.Resource

// The caches that a Reconciler reads.
const (
	ResourceCloneSets Resource = "clonesets"
	ResourcePods      Resource = consistency.Pods
	ResourceClaims    Resource = consistency.Claims
	ResourceRevisions Resource = consistency.Revisions
)

// Reader reads caches. What it returns is shared with the cache: a Reconciler
// never changes it. Its methods are called by several goroutines.
//
// New makes a Reader over informers. An implementation of one's own lets a
// Reconciler run on the caches of another framework.
type Reader interface {
	// CloneSet returns a CloneSet, or an error for which
	// apierrors.IsNotFound holds.
	CloneSet(namespace, name string) (*v1alpha1.CloneSet, error)
	// Pods returns the pods of the namespace that name the UID as an owner.
	Pods(namespace string, owner types.UID) ([]*corev1.Pod, error)
	// Claims returns the claims of the namespace that name the UID as an owner.
	Claims(namespace string, owner types.UID) ([]*corev1.PersistentVolumeClaim, error)
	// Revisions returns the revisions of the namespace that name the UID as
	// an owner, and those without a controller that match the selector, each
	// of them once.
	Revisions(namespace string, owner types.UID, selector labels.Selector) ([]*appsv1.ControllerRevision, error)
	// NodeLabels returns the labels of a node; nil when the node is not known.
	NodeLabels(node string) map[string]string
	// Seen returns the resourceVersion up to which a cache is complete, empty
	// when it cannot tell. A Reconciler waits until it has seen its own writes;
	// where Seen cannot tell, it makes no pass, unless Options.AllowStaleReads
	// says so. The caches must hold all objects of their namespaces: a pod that
	// was created and does not appear in them is an error.
	Seen(Resource) string
}

// informerReader reads informers that caches.AddOwnerIndex has indexed.
type informerReader struct {
	caches.Stores
	sets                    client.CloneSetLister
	pods, claims, revisions cache.Indexer
	nodes                   cache.Indexer // nil with Options.NoNodes
}

func newInformerReader(o *Options) *informerReader {
	r := &informerReader{
		Stores: caches.Stores{
			ResourceCloneSets: o.CloneSets.GetStore(), ResourcePods: o.Pods.GetStore(),
			ResourceClaims: o.Claims.GetStore(), ResourceRevisions: o.Revisions.GetStore(),
		},
		sets: client.NewCloneSetLister(o.CloneSets.GetIndexer()),
		pods: o.Pods.GetIndexer(), claims: o.Claims.GetIndexer(), revisions: o.Revisions.GetIndexer(),
	}
	if o.Nodes != nil {
		r.nodes = o.Nodes.GetIndexer()
	}
	return r
}

func (r *informerReader) CloneSet(namespace, name string) (*v1alpha1.CloneSet, error) {
	return r.sets.Namespace(namespace).Get(name)
}

func (r *informerReader) Pods(_ string, owner types.UID) ([]*corev1.Pod, error) {
	return caches.OwnedBy[*corev1.Pod](r.pods, owner)
}

func (r *informerReader) Claims(_ string, owner types.UID) ([]*corev1.PersistentVolumeClaim, error) {
	return caches.OwnedBy[*corev1.PersistentVolumeClaim](r.claims, owner)
}

func (r *informerReader) Revisions(namespace string, owner types.UID, selector labels.Selector) ([]*appsv1.ControllerRevision, error) {
	return caches.OwnedOrOrphaned[*appsv1.ControllerRevision](r.revisions, namespace, owner, selector)
}

func (r *informerReader) NodeLabels(name string) map[string]string {
	if r.nodes == nil {
		return nil
	}
	object, found, err := r.nodes.GetByKey(name)
	if err != nil || !found {
		return nil
	}
	return object.(*corev1.Node).Labels
}

// observe reads everything that a plan for the CloneSet depends on. It returns
// nil when the CloneSet does not exist.
func (r *Reconciler) observe(key types.NamespacedName) (*Snapshot, error) {
	set, err := r.reader.CloneSet(key.Namespace, key.Name)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read CloneSet %s: %w", key, err)
	}
	s := &Snapshot{Set: set, Now: r.clock.Now(), Features: r.features}
	if s.Pods, err = r.reader.Pods(key.Namespace, set.UID); err != nil {
		return nil, fmt.Errorf("read the pods of CloneSet %s: %w", key, err)
	}
	if s.Claims, err = r.reader.Claims(key.Namespace, set.UID); err != nil {
		return nil, fmt.Errorf("read the claims of CloneSet %s: %w", key, err)
	}
	selector, err := s.selector()
	if err != nil {
		selector = labels.Nothing() // the plan reports it
	}
	if s.Revisions, err = r.reader.Revisions(key.Namespace, set.UID, selector); err != nil {
		return nil, fmt.Errorf("read the revisions of CloneSet %s: %w", key, err)
	}
	s.NodeLabels = r.nodeLabels(s)
	return s, r.observeJobs(s)
}

// nodeLabels reads the labels of the nodes that run the pods, where the plan needs them.
func (r *Reconciler) nodeLabels(s *Snapshot) map[string]map[string]string {
	if len(s.Set.Spec.Template.Spec.TopologySpreadConstraints) == 0 {
		return nil
	}
	nodes := map[string]map[string]string{}
	for _, pod := range s.Pods {
		if _, known := nodes[pod.Spec.NodeName]; !known && pod.Spec.NodeName != "" {
			nodes[pod.Spec.NodeName] = r.reader.NodeLabels(pod.Spec.NodeName)
		}
	}
	return nodes
}
