// SPDX-License-Identifier: Apache-2.0

package resource

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
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
	"github.com/podwright/podwright/internal/typedclient"
)

// The caches that a Reconciler writes to, and so waits for.
const (
	resourceDistributions podwright.Resource = "resourcedistributions"
	resourceSecrets       podwright.Resource = "secrets"
	resourceConfigMaps    podwright.Resource = "configmaps"
)

// Those that it only reads.
const (
	resourceNamespaces       podwright.Resource = "namespaces"
	resourceSourceSecrets    podwright.Resource = "sourcesecrets"
	resourceSourceConfigMaps podwright.Resource = "sourceconfigmaps"
)

// reads lists what the plan for a ResourceDistribution depends on.
func (o *Options) reads() []controller.Read {
	reads := []controller.Read{
		{Resource: resourceDistributions, Object: &v1alpha1.ResourceDistribution{}, LiveReader: apiwriter.TypedCluster(o.Distribution.ResourceDistributions), Informer: &o.Distributions, MakeInformer: func() cache.SharedIndexInformer {
			return client.NewResourceDistributionInformer(o.Distribution, 0, nil)
		}, Fields: controller.Workload, IsReconciled: true},
		o.readCopies(resourceSecrets, &corev1.Secret{}, &o.Secrets, func() cache.SharedIndexInformer { return NewSecretInformer(o.Kubernetes) }),
		o.readCopies(resourceConfigMaps, &corev1.ConfigMap{}, &o.ConfigMaps, func() cache.SharedIndexInformer { return NewConfigMapInformer(o.Kubernetes) }),
		{Resource: resourceNamespaces, Object: &corev1.Namespace{}, Informer: &o.Namespaces, MakeInformer: caches.NewInformers(o.Kubernetes, "").Namespaces,
			Fields: controller.Labels | controller.Status, Concern: controller.On(o.namespaceChanged), CollectEvents: true, SkipInitial: true},
	}
	if o.Features.Sources {
		reads = append(reads,
			controller.Read{Resource: resourceSourceSecrets, Object: &corev1.Secret{}, Informer: &o.SourceSecrets, MakeInformer: func() cache.SharedIndexInformer { return NewSourceSecretInformer(o.Kubernetes) }, IsPartial: true,
				Fields: controller.Data | controller.Labels, Concern: o.sourceChanged(kindSecret), SkipInitial: true},
			controller.Read{Resource: resourceSourceConfigMaps, Object: &corev1.ConfigMap{}, Informer: &o.SourceConfigMaps, MakeInformer: func() cache.SharedIndexInformer { return NewSourceConfigMapInformer(o.Kubernetes) }, IsPartial: true,
				Fields: controller.Data | controller.Labels, Concern: o.sourceChanged(kindConfigMap), SkipInitial: true})
	}
	return reads
}

func (o *Options) readCopies(resource podwright.Resource, object runtime.Object, informer *cache.SharedIndexInformer, create func() cache.SharedIndexInformer) controller.Read {
	return controller.Read{
		Resource: resource, Object: object, LiveReader: apiwriter.InAnyNamespace("", o.copies(resource)), Informer: informer, MakeInformer: create, IsPartial: true, Trim: trim, Indexes: []podwright.Index{byDistribution},
		Fields: controller.Owners | controller.Data, Concern: controller.EachOf(distributionsOf), CollectEvents: true, SkipInitial: true,
	}
}

// copies reads and writes Secrets or ConfigMaps.
func (o *Options) copies(resource podwright.Resource) apiwriter.Resource {
	return apiwriter.Resource{Client: o.Kubernetes.CoreV1().RESTClient(), Name: string(resource)}
}

func labelled(o *metav1.ListOptions) { o.LabelSelector = v1alpha1.ResourceCopyLabel }

// NewSecretInformer makes an informer of the Secrets that are copies, for
// Options.Secrets. It holds no more of them than trim leaves.
func NewSecretInformer(client kubernetes.Interface) cache.SharedIndexInformer {
	return trimming(typedclient.NewInformer(typedclient.Select(client.CoreV1().Secrets(""), labelled), client, &corev1.Secret{}, 0, nil))
}

// NewConfigMapInformer makes an informer of the ConfigMaps that are copies, for
// Options.ConfigMaps. It holds no more of them than trim leaves.
func NewConfigMapInformer(client kubernetes.Interface) cache.SharedIndexInformer {
	return trimming(typedclient.NewInformer(typedclient.Select(client.CoreV1().ConfigMaps(""), labelled), client, &corev1.ConfigMap{}, 0, nil))
}

func trimming(informer cache.SharedIndexInformer) cache.SharedIndexInformer {
	_ = informer.SetTransform(trim) // fails only once it runs
	return informer
}

// distributionsOf names the ResourceDistribution that controls an object.
func distributionsOf(object metav1.Object) []types.NamespacedName {
	if name := ownerOf(object); name != "" {
		return []types.NamespacedName{{Name: name}}
	}
	return nil
}

// namespaceChanged enqueues the ResourceDistributions whose copies may differ then. (RD-13)
func (o *Options) namespaceChanged(before, after *corev1.Namespace, enqueue controller.Enqueue) {
	for _, object := range o.Distributions.GetIndexer().List() {
		distribution, ok := object.(*v1alpha1.ResourceDistribution)
		if !ok {
			continue
		}
		if targets, err := parseTargets(&distribution.Spec.Targets); err == nil && targets.concern(before, after) {
			enqueue(types.NamespacedName{Name: distribution.Name})
		}
	}
}

// reconciler is what the steps of a reconcile share.
type reconciler struct {
	options   Options
	writer    *apply.Writer
	conflicts apiwriter.Last[conflicts]
	contests  apiwriter.Contests
}

// kind describes ResourceDistributions to the shell.
func (o *Options) kind() controller.Definition[Snapshot, Plan] {
	r := &reconciler{options: *o, writer: newWriter(o)}
	return controller.Definition[Snapshot, Plan]{
		Name:    component,
		Observe: r.observe, Plan: NewPlan, Apply: r.apply, RetryWhenDue: true,
		Writer: r.writer, Forget: r.forget,
		SnapshotHolds: func(s *Snapshot, _ podwright.Resource) func(string) bool {
			names := make(map[string]bool, len(s.Copies))
			for _, c := range s.Copies {
				names[nameOf(c)] = true
			}
			return func(name string) bool { return names[name] }
		},
	}
}

func (r *reconciler) forget(key types.NamespacedName) {
	r.conflicts.Forget(key)
	r.contests.Forget(key)
	controller.Measure(r.options.TargetMetrics, func(m TargetMetrics) { m.Gone(key.Name) })
}

// observe reads everything that a plan for the ResourceDistribution depends on. It returns
// nil when it does not exist.
func (r *reconciler) observe(_ context.Context, key types.NamespacedName) (*Snapshot, error) {
	distribution, err := caches.Object[v1alpha1.ResourceDistribution](r.options.Reader, resourceDistributions, "ResourceDistribution", key)
	if distribution == nil || err != nil {
		return nil, err
	}
	s := &Snapshot{Distribution: distribution, HeldSince: r.writer.HeldSince(distribution), Now: r.options.Clock.Now()}
	if known := r.conflicts.Get(key); known.of(distribution) {
		s.Conflicts = known.found
	}
	s.Contests = map[string]Contest{}
	for namespace, c := range r.contests.Of(key, s.Now) {
		s.Contests[namespace] = Contest{Until: c.Until, Over: c.Over, Times: c.Times, By: c.By}
	}
	if s.Namespaces, err = caches.All[*corev1.Namespace](r.options.Reader, resourceNamespaces, ""); err != nil {
		return nil, fmt.Errorf("read namespaces: %w", err)
	}
	if s.Copies, err = r.copies(key.Name); err != nil {
		return nil, err
	}
	if s.Sources = r.options.Features.Sources; s.Sources {
		s.Source, err = r.source(distribution)
	}
	return s, err
}

// byDistribution is the index of Secrets and ConfigMaps by the ResourceDistributions that control them.
var byDistribution = podwright.Index{Name: "podwright.resourceDistribution", Keys: func(object any) ([]string, error) {
	if of, ok := object.(metav1.Object); ok && ownerOf(of) != "" {
		return []string{ownerOf(of)}, nil
	}
	return nil, nil
}}

// copies returns the Secrets and ConfigMaps that a ResourceDistribution of that name controls.
func (r *reconciler) copies(distribution string) (copies []*Copy, err error) {
	for _, resource := range []podwright.Resource{resourceSecrets, resourceConfigMaps} {
		objects, err := r.options.Reader.ByIndex(resource, metav1.NamespaceAll, byDistribution, distribution)
		if err != nil {
			return nil, fmt.Errorf("read the %s of ResourceDistribution %s: %w", resource, distribution, err)
		}
		for _, object := range objects {
			copies = append(copies, CopyOf(object))
		}
	}
	return copies, nil
}

// conflicts are the namespaces in which a ResourceDistribution has found an object that is
// no copy, and when. Another generation of it looks again.
type conflicts struct {
	uid        types.UID
	generation int64
	found      map[string]time.Time
}

func (c conflicts) of(distribution *v1alpha1.ResourceDistribution) bool {
	return c.uid == distribution.UID && c.generation == distribution.Generation
}

// nameOf is the name of an object with its namespace, as an object without one refers to it.
func nameOf(object metav1.Object) string { return object.GetNamespace() + "/" + object.GetName() }
