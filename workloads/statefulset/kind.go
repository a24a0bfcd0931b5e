// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/podplan"
	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// The caches that a Reconciler reads.
const (
	resourceStatefulSets podwright.Resource = "statefulsets"
	resourcePods         podwright.Resource = caches.Pods
	resourceClaims       podwright.Resource = caches.Claims
	resourceRevisions    podwright.Resource = caches.Revisions
)

// The fields that a plan reads of what a StatefulSet owns.
const (
	podFields = controller.Owners | controller.Labels | controller.Annotations | controller.Finalizers | controller.NodeName | controller.Phase |
		controller.Images | controller.Containers | controller.ObservedGeneration | controller.Ready | controller.ContainersReady |
		controller.InPlaceUpdateReady | controller.KruisePodReady | controller.ReadinessGates | controller.Trouble
	claimFields    = controller.Owners | controller.Labels | controller.Storage
	volumeFields   = controller.Volume // if claims grow, or are counted
	resizeFields   = controller.Resize // if pods are resized
	revisionFields = controller.Labels | controller.RevisionData
)

// reads lists what a StatefulSet's plan depends on.
func (o *Options) reads() []controller.Read {
	ofPods := podFields
	if o.Features.InPlaceResize {
		ofPods |= resizeFields
	}
	ofClaims := claimFields
	if o.Features.ResizeClaims || o.Features.CountClaims {
		ofClaims |= volumeFields
	}
	core, owner := controller.NewCore(o.Kubernetes, o.Namespace), v1beta1.SchemeGroupVersion.WithKind("StatefulSet").GroupKind()
	sets := func() cache.Store { return o.AdvancedStatefulSets.GetStore() }
	return []controller.Read{
		{Resource: resourceStatefulSets, Object: &v1beta1.StatefulSet{}, LiveReader: apiwriter.Typed(o.Workloads.StatefulSets), Informer: &o.AdvancedStatefulSets,
			MakeInformer: controller.Maker(client.NewStatefulSetInformer, o.Workloads, o.Namespace), Fields: controller.Workload, IsReconciled: true},
		core.Pods(&o.Pods, ofPods).IndexedBy(caches.ByMember).ConcerningKnown(controller.EachOf(setsOfPod(sets))),
		core.Claims(&o.Claims, ofClaims).IndexedBy(caches.ByOwner).ConcerningKnown(controller.EachOf(setsOfClaim(sets))),
		core.Revisions(&o.Revisions, revisionFields).OwnedBy(owner),
	}
}

// reconciler is what the steps of a reconcile share.
type reconciler struct {
	options Options
	writer  *apply.Writer
	places  podplan.BackOff
	kept    apiwriter.Last[map[string]string] // the sizes of claim templates for which it was told which claims stay larger
}

// forget drops what is remembered of a StatefulSet that is gone.
func (r *reconciler) forget(key types.NamespacedName) {
	r.places.Forget(key)
	r.kept.Forget(key)
}

// kind describes StatefulSets to the shell.
func (o *Options) kind() controller.Definition[Snapshot, Plan] {
	r := &reconciler{options: *o, writer: newWriter(o)}
	return controller.Definition[Snapshot, Plan]{
		Name:    component,
		Observe: r.observe, Plan: NewPlan, Apply: r.apply,
		Writer: r.writer, Forget: r.forget,
		SnapshotHolds: func(s *Snapshot, resource podwright.Resource) func(string) bool {
			switch resource {
			case resourcePods:
				return controller.Holds(s.Pods)
			case resourceClaims:
				return func(name string) bool { return s.Claims[name] != nil }
			}
			return controller.HoldsNone
		},
	}
}

// setsOfPod names the StatefulSet after which a pod is named, its own or not: a
// pod of another owner may be in the way.
func setsOfPod(sets func() cache.Store) func(metav1.Object) []types.NamespacedName {
	return func(pod metav1.Object) []types.NamespacedName {
		set, _, ok := podplan.SplitOrdinal(pod.GetName())
		if !ok {
			return nil
		}
		return existing(sets(), pod.GetNamespace(), set)
	}
}

// setsOfClaim names the StatefulSets whose claim this may be by its name, in
// which the name of the claim template comes first.
func setsOfClaim(sets func() cache.Store) func(metav1.Object) []types.NamespacedName {
	return func(claim metav1.Object) (keys []types.NamespacedName) {
		rest, _, more := podplan.SplitOrdinal(claim.GetName())
		for more {
			if _, rest, more = strings.Cut(rest, "-"); more {
				keys = append(keys, existing(sets(), claim.GetNamespace(), rest)...)
			}
		}
		return keys
	}
}

// existing returns the key of a StatefulSet if there is one.
func existing(sets cache.Store, namespace, name string) []types.NamespacedName {
	if _, found, err := sets.GetByKey(namespace + "/" + name); !found || err != nil {
		return nil
	}
	return []types.NamespacedName{{Namespace: namespace, Name: name}}
}

// observe reads everything that a plan for the StatefulSet depends on. It
// returns nil when the StatefulSet does not exist.
func (r *reconciler) observe(ctx context.Context, key types.NamespacedName) (*Snapshot, error) {
	set, err := caches.Object[v1beta1.StatefulSet](r.options.Reader, resourceStatefulSets, "StatefulSet", key)
	if set == nil || err != nil {
		return nil, err
	}
	s := &Snapshot{Set: set, Now: r.options.Clock.Now(), Features: r.options.Features}
	if s.Pods, err = caches.Members[*corev1.Pod](r.options.Reader, resourcePods, key.Namespace, set.Name); err != nil {
		return nil, fmt.Errorf("read the pods of StatefulSet %s: %w", key, err)
	}
	s.BackOff = r.places.Until(key, s.Now, ranOf(s.Pods))
	s.Refused, s.HeldSince = r.writer.Refused(set, s.Pods, s.Now), r.writer.HeldSince(set)
	if s.Claims, err = r.claims(s); err != nil {
		return nil, fmt.Errorf("read the claims of StatefulSet %s: %w", key, err)
	}
	selector, err := s.selector()
	if err != nil {
		selector = labels.Nothing() // the plan reports it
	}
	if s.Revisions, err = caches.RevisionsOf(r.options.Reader, key.Namespace, set.UID, selector); err != nil {
		return nil, fmt.Errorf("read the revisions of StatefulSet %s: %w", key, err)
	}
	if err := r.observeClasses(ctx, s); err != nil {
		return nil, err
	}
	return s, r.observeJobs(s)
}

// ranOf returns what tells, by the name of a pod, whether it runs or has run. The pods are looked at when it is first asked.
func ranOf(pods []*corev1.Pod) func(name string) bool {
	var ran map[string]bool
	return func(name string) bool {
		if ran == nil {
			ran = make(map[string]bool, len(pods))
			for _, pod := range pods {
				ran[pod.Name] = podplan.HasRun(pod)
			}
		}
		return ran[name]
	}
}

// claims reads the claims of the pods that there are and of those that should be. The
// claim templates ask for them, or pods mount them. If the StatefulSet should own none,
// it reads those that it owns too.
func (r *reconciler) claims(s *Snapshot) (map[string]*corev1.PersistentVolumeClaim, error) {
	if s.replicas() > mostReplicas {
		return nil, nil
	}
	w, err := s.newWindow()
	if err != nil {
		return nil, nil // the plan reports it
	}
	ordinals := slices.Clone(w.wanted)
	for _, pod := range s.Pods {
		if ordinal, ok := ordinalOf(s.Set.Name, pod.Name); ok && !w.contains(ordinal) {
			ordinals = append(ordinals, ordinal)
		}
	}
	claims := make(map[string]*corev1.PersistentVolumeClaim, len(ordinals)*len(s.Set.Spec.VolumeClaimTemplates))
	read := func(name string) error {
		claim, err := apiwriter.Found(caches.Get[*corev1.PersistentVolumeClaim](r.options.Reader, resourceClaims, s.Set.Namespace, name))
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
	owned, err := caches.OwnedBy[*corev1.PersistentVolumeClaim](r.options.Reader, resourceClaims, s.Set.Namespace, s.Set.UID)
	if err != nil {
		return nil, fmt.Errorf("claims that it owns: %w", err)
	}
	for _, claim := range owned {
		claims[claim.Name] = claim
	}
	return claims, nil
}
