// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"cmp"
	"context"
	"errors"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/manifests"
	"github.com/podwright/podwright/sidecar/client"
	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// AdmissionOptions says what AdmissionCaches work with. Kubernetes and Sidecar are required.
type AdmissionOptions struct {
	// Kubernetes reads namespaces, revisions and the white list.
	Kubernetes kubernetes.Interface
	// Sidecar reads SidecarSets.
	Sidecar client.Interface
	// ManagerNamespace is that of the manager, with the revisions and the white list. Default:
	// DefaultRevisionNamespace.
	ManagerNamespace string
	// SidecarSets, Namespaces and Revisions, those of ManagerNamespace that have the label
	// v1alpha1.SidecarSetNameLabel, are informers that the caller shares and runs.
	// NewAdmissionCaches adds indexes to them, so they must not have been started before.
	// If one is nil, it makes its own, and sets it here.
	SidecarSets, Namespaces, Revisions cache.SharedIndexInformer
	// CacheSyncTimeout is how long Run waits until the caches are filled, before it returns an error. Default 2 minutes.
	CacheSyncTimeout time.Duration
	// Metrics is what a CachedInjector measures. Default: none. NewAdmissionCaches ignores it.
	Metrics InjectionMetrics
	// Recorder receives the events of a CachedInjector about SidecarSets. Default nil: no events.
	Recorder record.EventRecorder
	// Injection switches what a CachedInjector does otherwise. NewAdmissionCaches ignores it.
	Injection injection.Features
	// MatchExpression says about which pods the API server has to ask a CachedInjector. Default: the function of this name;
	// beside policies that inject it is policies.MatchExpression. NewAdmissionCaches ignores it.
	MatchExpression func([]*v1alpha1.SidecarSet) string
}

// AdmissionCaches is the AdmissionReader that reads informers, and the white list from the
// API server. NewAdmissionCaches makes one. Until its informers are filled its methods wait,
// as long as the request may take.
type AdmissionCaches struct {
	options AdmissionOptions
	sources *controller.Sources
	filling *controller.Filling
	reader  caches.Reader
}

// NewAdmissionCaches returns caches that are not yet running.
func NewAdmissionCaches(o AdmissionOptions) (*AdmissionCaches, error) {
	o.ManagerNamespace = cmp.Or(o.ManagerNamespace, DefaultRevisionNamespace)
	if err := controller.Check("sidecarset").KindClient("Sidecar", "sidecar", o.Sidecar != nil).
		That(o.Kubernetes != nil, "Options.Kubernetes is nil: it needs a clientset, kubernetes.NewForConfig makes one").Err(); err != nil {
		return nil, err
	}
	sources, err := controller.Open("sidecarset", o.reads())
	if err != nil {
		return nil, err
	}
	return &AdmissionCaches{options: o, sources: sources, filling: sources.Filling("sidecarset-admission", o.CacheSyncTimeout), reader: sources.Caches()}, nil
}

func (o *AdmissionOptions) reads() []controller.Read {
	return []controller.Read{
		readSidecarSets(o.Sidecar, &o.SidecarSets), readNamespaces(o.Kubernetes, &o.Namespaces), readRevisions(o.Kubernetes, o.ManagerNamespace, &o.Revisions),
	}
}

// informers returns the informers of SidecarSets, namespaces and revisions, to be shared
// with a Controller.
func (c *AdmissionCaches) informers() (sidecarSets, namespaces, revisions cache.SharedIndexInformer) {
	return c.options.SidecarSets, c.options.Namespaces, c.options.Revisions
}

// Run runs the informers that NewAdmissionCaches made until the context is done, and waits
// for them. What it returns, and when, is as with podwright.Controller. It can be called once.
func (c *AdmissionCaches) Run(ctx context.Context) error { return c.filling.Run(ctx, nil) }

// HasSynced tells whether the caches have been filled.
func (c *AdmissionCaches) HasSynced() bool { return c.filling.HasSynced() }

// filled waits for the informers.
func (c *AdmissionCaches) filled(ctx context.Context) error {
	if !cache.WaitForCacheSync(ctx.Done(), c.sources.Synced()...) {
		return errors.New("the caches are not filled yet; try again")
	}
	return nil
}

// SidecarSets is AdmissionReader.SidecarSets.
func (c *AdmissionCaches) SidecarSets(ctx context.Context) ([]*v1alpha1.SidecarSet, error) {
	if err := c.filled(ctx); err != nil {
		return nil, err
	}
	return caches.All[*v1alpha1.SidecarSet](c.reader, resourceSidecarSets, "")
}

// SidecarSetsFor is AdmissionReader.SidecarSetsFor.
func (c *AdmissionCaches) SidecarSetsFor(ctx context.Context, namespace string, labels map[string]string) ([]*v1alpha1.SidecarSet, error) {
	if err := c.filled(ctx); err != nil {
		return nil, err
	}
	return caches.SidecarSetsFor(c.reader, resourceSidecarSets, namespace, labels)
}

// Namespace is AdmissionReader.Namespace.
func (c *AdmissionCaches) Namespace(ctx context.Context, name string) (*corev1.Namespace, error) {
	if err := c.filled(ctx); err != nil {
		return nil, err
	}
	return apiwriter.Found(caches.Get[*corev1.Namespace](c.reader, resourceNamespaces, "", name))
}

// Revisions is AdmissionReader.Revisions.
func (c *AdmissionCaches) Revisions(ctx context.Context, set string) ([]*appsv1.ControllerRevision, error) {
	if err := c.filled(ctx); err != nil {
		return nil, err
	}
	return caches.Labelled[*appsv1.ControllerRevision](c.reader, resourceRevisions, c.options.ManagerNamespace, bySet, set)
}

// Configuration is AdmissionReader.Configuration.
func (c *AdmissionCaches) Configuration(ctx context.Context) (*corev1.ConfigMap, error) {
	return apiwriter.Found(c.options.Kubernetes.CoreV1().ConfigMaps(c.options.ManagerNamespace).Get(ctx, whitelistConfigMap, metav1.GetOptions{}))
}

// Rules returns the RBAC rules that the caches need, and none beyond, for a ClusterRole;
// NamespaceRules returns the others. Recording events counts if there is a Recorder.
func (c *AdmissionCaches) Rules() []rbacv1.PolicyRule {
	rules := []rbacv1.PolicyRule{
		manifests.Rule(v1alpha1.GroupName, "sidecarsets", "list watch"),
		manifests.Rule("", "namespaces", "list watch"),
	}
	return append(rules, manifests.If(c.options.Recorder != nil, manifests.Events())...)
}

// NamespaceRules returns the RBAC rules that the caches need in one namespace, that of
// the revisions and the white list, for a Role there.
func (c *AdmissionCaches) NamespaceRules() (namespace string, rules []rbacv1.PolicyRule) {
	configuration := manifests.Rule("", "configmaps", "get")
	configuration.ResourceNames = []string{whitelistConfigMap}
	return c.options.ManagerNamespace, []rbacv1.PolicyRule{manifests.Rule("apps", "controllerrevisions", "list watch"), configuration}
}
