// SPDX-License-Identifier: Apache-2.0

package podprobemarker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/manifests"
	"github.com/podwright/podwright/lifecycle/client"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// InjectorOptions says what an Injector works with. Lifecycle is required.
type InjectorOptions struct {
	// Lifecycle reads PodProbeMarkers, which must be served.
	Lifecycle client.Interface
	// Namespace restricts the informer that NewInjector makes itself. Default: all namespaces.
	Namespace string
	// CacheSyncTimeout is how long Run waits until the cache is filled, before it returns an error. Default 2 minutes.
	CacheSyncTimeout time.Duration
	// Markers is an informer that the caller shares and runs. NewInjector adds an index to it, so it must not have been started
	// before. Default: NewInjector makes its own, which Run runs.
	Markers cache.SharedIndexInformer
}

// Injector writes the probes of PodProbeMarkers to the annotations of new pods, for what runs the pods of virtual nodes: there no agent
// does. It is a podwebhook.Step, and Mutate the last step of podwebhook.Webhook: Probes. It reads a cache and writes nothing.
// NewInjector makes one. It may be used by many goroutines. (PPM-1.7)
type Injector struct {
	options InjectorOptions
	filling *controller.Filling
	reader  caches.Reader
}

// NewInjector returns an Injector. An informer that it makes itself is not yet running.
func NewInjector(o InjectorOptions) (*Injector, error) {
	if err := controller.Check("podprobemarker").KindClient("Lifecycle", "lifecycle", o.Lifecycle != nil).Err(); err != nil {
		return nil, err
	}
	sources, err := controller.Open("podprobemarker", []controller.Read{o.read()})
	if err != nil {
		return nil, err
	}
	return &Injector{options: o, filling: sources.Filling(injectorName, o.CacheSyncTimeout), reader: sources.Caches()}, nil
}

func (o *InjectorOptions) read() controller.Read {
	return controller.Read{Resource: resourceMarkers, Object: &v1alpha1.PodProbeMarker{}, Informer: &o.Markers, Indexes: []podwright.Index{caches.ByNamespace},
		MakeInformer: controller.Maker(client.NewPodProbeMarkerInformer, o.Lifecycle, o.Namespace)}
}

// injectorName stands in logs and errors.
const injectorName = "podprobemarker-injector"

// Run runs the informer that NewInjector made until the context is done, and waits for it. What it returns, and when, is as with
// podwright.Controller. It can be called once.
func (i *Injector) Run(ctx context.Context) error { return i.filling.Run(ctx, nil) }

// HasSynced tells whether the cache has been filled.
func (i *Injector) HasSynced() bool { return i.filling.HasSynced() }

// Rules returns the RBAC rules that an Injector needs, and none beyond.
func (i *Injector) Rules() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{manifests.Rule(v1alpha1.GroupName, "podprobemarkers", "list watch")}
}

// Mutate writes the annotations of a pod of a request. It waits until the cache is filled, as long as the context allows. An error
// refuses the pod, with the code 500. (PPM-1.7)
func (i *Injector) Mutate(ctx context.Context, request *admissionv1.AdmissionRequest, pod *corev1.Pod) error {
	if request.Operation != admissionv1.Create {
		return nil
	}
	if err := i.await(ctx); err != nil {
		return apierrors.NewInternalError(err)
	}
	namespace := pod.Namespace
	if namespace == "" {
		namespace = request.Namespace
	}
	markers, err := caches.All[*v1alpha1.PodProbeMarker](i.reader, resourceMarkers, namespace)
	if err == nil {
		err = inject(pod, markers)
	}
	if err != nil {
		return apierrors.NewInternalError(fmt.Errorf("find the probes of the pod: %w", err))
	}
	return nil
}

func (i *Injector) await(ctx context.Context) error {
	if !cache.WaitForCacheSync(ctx.Done(), i.options.Markers.HasSynced) {
		return errors.New("the cache of PodProbeMarkers is not filled yet; try again")
	}
	return nil
}

// MatchExpression returns a CEL expression for a match condition of the webhook of pods. It is true of the new pods of the namespaces
// that have PodProbeMarkers now with a probe that can be handed over; "false" for none. It waits until the cache is filled; an error
// says that the context ended before.
func (i *Injector) MatchExpression(ctx context.Context) (string, error) {
	if err := i.await(ctx); err != nil {
		return "", err
	}
	var namespaces []string
	for _, object := range i.options.Markers.GetStore().List() {
		if namespace := handsOver(object); namespace != "" {
			namespaces = append(namespaces, "'"+namespace+"'")
		}
	}
	if len(namespaces) == 0 {
		return "false", nil
	}
	slices.Sort(namespaces)
	return "request.namespace in [" + strings.Join(slices.Compact(namespaces), ", ") + "]", nil
}

// OnMatchChange has a function called, by a goroutine of the informer, when MatchExpression returns something else, and perhaps when it
// does not.
func (i *Injector) OnMatchChange(changed func()) error {
	return caches.OnChange(i.options.Markers, handsOver, changed)
}

// handsOver is the namespace of a marker with a probe that can be handed over; empty for others.
func handsOver(object any) string {
	m, _ := object.(*v1alpha1.PodProbeMarker)
	if m == nil || !slices.ContainsFunc(m.Spec.Probes, func(p v1alpha1.PodContainerProbe) bool { return canBeHandedOver(&p) }) {
		return ""
	}
	return m.Namespace
}
