package statefulset

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/consistency"
	"github.com/podwright/podwright/internal/podplan"
	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// Resource names a cache: ResourceStatefulSets and its like.
type Resource = consistency.Resource

// The caches that a Reconciler reads.
const (
	ResourceStatefulSets Resource = "statefulsets"
	ResourcePods         Resource = consistency.Pods
	ResourceClaims       Resource = consistency.Claims
	ResourceRevisions    Resource = consistency.Revisions
)

// Reader reads caches. What it returns is shared with the cache: a Reconciler
// never changes it. Its methods are called by several goroutines.
//
// New makes a Reader over informers. An implementation of one's own lets a
// Reconciler run on the caches of another framework.
type Reader interface {
	// StatefulSet returns a StatefulSet, or an error for which
	// apierrors.IsNotFound holds.
	StatefulSet(namespace, name string) (*v1beta1.StatefulSet, error)
	// Pods returns the pods of the namespace whose name is that of the
	// StatefulSet, a dash and a number, whoever owns them.
	Pods(namespace, set string) ([]*corev1.Pod, error)
	// Claim returns a claim; nil where there is none.
	Claim(namespace, name string) (*corev1.PersistentVolumeClaim, error)
	// Claims returns the claims of the namespace that name the UID as an owner,
	// whether a pod mounts them or not.
	Claims(namespace string, owner types.UID) ([]*corev1.PersistentVolumeClaim, error)
	// Revisions returns the revisions of the namespace that name the UID as
	// an owner, and those without a controller that match the selector.
	Revisions(namespace string, owner types.UID, selector labels.Selector) ([]*appsv1.ControllerRevision, error)
	// Seen returns the resourceVersion up to which a cache is complete, empty
	// when it cannot tell. A Reconciler waits until it has seen its own writes;
	// where Seen cannot tell, it makes no pass, unless Options.AllowStaleReads
	// says so. The caches must hold all objects of their namespaces: a pod that
	// was created and does not appear in them is an error.
	Seen(Resource) string
}

// informerReader reads informers that New has indexed.
type informerReader struct {
	caches.Stores
	sets                    client.StatefulSetLister
	pods, claims, revisions cache.Indexer
}

func newInformerReader(o *Options) *informerReader {
	return &informerReader{
		Stores: caches.Stores{
			ResourceStatefulSets: o.StatefulSets.GetStore(), ResourcePods: o.Pods.GetStore(),
			ResourceClaims: o.Claims.GetStore(), ResourceRevisions: o.Revisions.GetStore(),
		},
		sets: client.NewStatefulSetLister(o.StatefulSets.GetIndexer()),
		pods: o.Pods.GetIndexer(), claims: o.Claims.GetIndexer(), revisions: o.Revisions.GetIndexer(),
	}
}

func (r *informerReader) StatefulSet(namespace, name string) (*v1beta1.StatefulSet, error) {
	return r.sets.Namespace(namespace).Get(name)
}

func (r *informerReader) Pods(namespace, set string) ([]*corev1.Pod, error) {
	return caches.Members[*corev1.Pod](r.pods, namespace, set)
}

func (r *informerReader) Claim(namespace, name string) (*corev1.PersistentVolumeClaim, error) {
	object, found, err := r.claims.GetByKey(namespace + "/" + name)
	if err != nil || !found {
		return nil, err
	}
	claim, ok := object.(*corev1.PersistentVolumeClaim)
	if !ok {
		return nil, fmt.Errorf("the cache holds a %T where a claim is wanted", object)
	}
	return claim, nil
}

func (r *informerReader) Claims(_ string, owner types.UID) ([]*corev1.PersistentVolumeClaim, error) {
	return caches.OwnedBy[*corev1.PersistentVolumeClaim](r.claims, owner)
}

func (r *informerReader) Revisions(namespace string, owner types.UID, selector labels.Selector) ([]*appsv1.ControllerRevision, error) {
	return caches.OwnedOrOrphaned[*appsv1.ControllerRevision](r.revisions, namespace, owner, selector)
}

// observe reads everything that a plan for the StatefulSet depends on. It
// returns nil when the StatefulSet does not exist.
func (r *Reconciler) observe(key types.NamespacedName) (*Snapshot, error) {
	set, err := r.reader.StatefulSet(key.Namespace, key.Name)
	if apierrors.IsNotFound(err) {
		r.places.Forget(key)
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read StatefulSet %s: %w", key, err)
	}
	s := &Snapshot{Set: set, Now: r.clock.Now(), Features: r.features}
	if s.Pods, err = r.reader.Pods(key.Namespace, set.Name); err != nil {
		return nil, fmt.Errorf("read the pods of StatefulSet %s: %w", key, err)
	}
	s.BackOff = r.places.Until(key, s.Now, func(name string) bool {
		return slices.ContainsFunc(s.Pods, func(pod *corev1.Pod) bool { return pod.Name == name && podplan.HasRun(pod) })
	})
	if s.Claims, err = r.claims(s); err != nil {
		return nil, fmt.Errorf("read the claims of StatefulSet %s: %w", key, err)
	}
	selector, err := s.selector()
	if err != nil {
		selector = labels.Nothing() // the plan reports it
	}
	if s.Revisions, err = r.reader.Revisions(key.Namespace, set.UID, selector); err != nil {
		return nil, fmt.Errorf("read the revisions of StatefulSet %s: %w", key, err)
	}
	return s, r.observeJobs(s)
}

// claims reads the claims of the pods that there are and of those that should
// be: those that the claim templates ask for, and those that pods mount. Where the
// StatefulSet should own none, it reads those that it owns too.
func (r *Reconciler) claims(s *Snapshot) (map[string]*corev1.PersistentVolumeClaim, error) {
	if s.replicas() > mostReplicas {
		return nil, nil
	}
	w := newWindow(s.replicas(), s.Set.Spec.ReserveOrdinals)
	ordinals := slices.Clone(w.wanted)
	for _, pod := range s.Pods {
		if ordinal, ok := ordinalOf(s.Set.Name, pod.Name); ok && !w.contains(ordinal) {
			ordinals = append(ordinals, ordinal)
		}
	}
	claims := make(map[string]*corev1.PersistentVolumeClaim, len(ordinals)*len(s.Set.Spec.VolumeClaimTemplates))
	read := func(name string) error {
		claim, err := r.reader.Claim(s.Set.Namespace, name)
		if err != nil {
			return fmt.Errorf("claim %s: %w", name, err)
		}
		if claim != nil {
			claims[name] = claim
		}
		return nil
	}
	for i := range s.Set.Spec.VolumeClaimTemplates {
		for _, ordinal := range ordinals {
			if err := read(claimName(s.Set.Spec.VolumeClaimTemplates[i].Name, s.Set.Name, ordinal)); err != nil {
				return nil, err
			}
		}
	}
	for _, pod := range s.Pods {
		for i := range pod.Spec.Volumes {
			name := claimOf(pod, &pod.Spec.Volumes[i])
			if name == "" || claims[name] != nil {
				continue
			}
			if err := read(name); err != nil {
				return nil, err
			}
		}
	}
	if s.setOwnsClaims() || s.Features.NoAutoDeleteClaims {
		return claims, nil
	}
	owned, err := r.reader.Claims(s.Set.Namespace, s.Set.UID)
	if err != nil {
		return nil, fmt.Errorf("claims that it owns: %w", err)
	}
	for _, claim := range owned {
		claims[claim.Name] = claim
	}
	return claims, nil
}
