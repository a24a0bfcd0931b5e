// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	distribution "github.com/podwright/podwright/distribution/conversion"
	"github.com/podwright/podwright/manager"
	sidecar "github.com/podwright/podwright/sidecar/conversion"
	workloads "github.com/podwright/podwright/workloads/conversion"
)

// ConvertedName is the CustomResourceDefinition whose objects are always converted between versions.
const ConvertedName = "statefulsets.apps.kruise.io"

// managedBy is the field manager of what is written.
const managedBy = "podwright-manager"

// edit changes a definition to have the API server ask a webhook.
type edit func(*unstructured.Unstructured, admissionv1.WebhookClientConfig) error

// area has kinds that get v1beta1 if the server is to serve it, or if a cluster stores it.
type area struct {
	// path is that of their conversion.
	path string
	// serve adds v1beta1 to a definition, and store has objects stored in it.
	serve edit
	store func(*unstructured.Unstructured) error
	// names are those of the definitions.
	names []string
}

var onDemand = []area{
	{workloads.Path, workloads.ServeV1beta1, workloads.StoreV1beta1, []string{"daemonsets.apps.kruise.io", "broadcastjobs.apps.kruise.io", "advancedcronjobs.apps.kruise.io"}},
	{sidecar.Path, sidecar.ServeV1beta1, sidecar.StoreV1beta1, []string{"sidecarsets.apps.kruise.io"}},
	{distribution.Path, distribution.ServeV1beta1, distribution.StoreV1beta1, []string{"imagepulljobs.apps.kruise.io", "imagelistpulljobs.apps.kruise.io", "nodeimages.apps.kruise.io"}},
}

// Conversions are the handlers that convert objects between versions, by path. They answer about all kinds, also if
// v1beta1 is not to be served: a definition may have it from before.
func Conversions() map[string]http.Handler {
	return map[string]http.Handler{workloads.Path: workloads.Handler(), sidecar.Path: sidecar.Handler(), distribution.Path: distribution.Handler()}
}

// namesOnDemand are those of all definitions that get v1beta1 on demand.
func namesOnDemand() (names []string) {
	for _, area := range onDemand {
		names = append(names, area.names...)
	}
	return names
}

// convert makes the target the conversion webhook of a definition, by an edit, on a path.
func convert(definition *unstructured.Unstructured, target manager.Target, path string, edit edit) error {
	// OpenKruise's manager names more review versions. While both run, the two must not undo each other's work.
	field := []string{"spec", "conversion", "webhook", "conversionReviewVersions"}
	versions, _, err := unstructured.NestedStringSlice(definition.Object, field...)
	bundle, _, _ := unstructured.NestedString(definition.Object, caBundleOf...)
	err = cmp.Or(err, edit(definition, target.ClientConfig(path)))
	if err == nil && target.KeepCABundles {
		err = keepCABundle(definition, bundle)
	}
	if converts(definition) && len(target.Annotations) > 0 {
		annotations := definition.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		maps.Copy(annotations, target.Annotations)
		definition.SetAnnotations(annotations)
	}
	if err == nil && slices.Contains(versions, "v1") {
		err = unstructured.SetNestedStringSlice(definition.Object, versions, field...)
	}
	if err != nil {
		return fmt.Errorf("CRD %s: %w", definition.GetName(), err)
	}
	return nil
}

// caBundleOf is the path to the authorities whose certificates the API server accepts from the webhook of a definition.
var caBundleOf = []string{"spec", "conversion", "webhook", "clientConfig", "caBundle"}

// converts tells whether a webhook converts the objects of a definition.
func converts(definition *unstructured.Unstructured) bool {
	strategy, _, _ := unstructured.NestedString(definition.Object, "spec", "conversion", "strategy")
	return strategy == "Webhook"
}

// keepCABundle gives a definition whose webhook was changed the caBundle that it had.
func keepCABundle(definition *unstructured.Unstructured, bundle string) error {
	if bundle == "" || !converts(definition) {
		return nil
	}
	return unstructured.SetNestedField(definition.Object, bundle, caBundleOf...)
}

// plain says when definitions were read that stored nothing as v1beta1. The zero value knows of none.
type plain struct{ read sync.Map }

func (p *plain) is(name string) { p.read.Store(name, time.Now()) }

// just tells whether a definition was read so within a minute.
func (p *plain) just(name string) bool {
	at, found := p.read.Load(name)
	return found && time.Since(at.(time.Time)) < resync
}

// registerConversion writes what is to be other in the definitions whose objects are converted, and nothing else of them. It
// returns whether it has written. Those that store v1beta1 are converted whether or not it is to be served. (PF-5.3)
func (s *Server) registerConversion(ctx context.Context, target manager.Target) (bool, error) {
	always := func(*unstructured.Unstructured) bool { return true }
	wanted := func(crd *unstructured.Unstructured) bool {
		is := s.ServeV1beta1 || storedIn(crd).v1beta1()
		if !is {
			s.plain.is(crd.GetName())
		}
		return is
	}
	reader := client.Reader(s.client)
	if !s.Register { // which is not watched then
		reader = s.live
	}
	written, err := s.registerIn(ctx, reader, ConvertedName, target, workloads.Path, workloads.SetWebhook, always)
	errs := []error{err}
	for _, area := range onDemand {
		for _, name := range area.names { // the cache has one definition alone, and few are read once a minute
			if ctx.Err() != nil {
				return written, errors.Join(append(errs, ctx.Err())...)
			}
			if !s.ServeV1beta1 && s.plain.just(name) { // there are several looks at the start
				continue
			}
			again, err := s.registerIn(ctx, s.live, name, target, area.path, area.serve, wanted)
			written, errs = written || again, append(errs, err)
		}
	}
	return written, errors.Join(errs...)
}

func (s *Server) registerIn(ctx context.Context, reader client.Reader, name string, target manager.Target, path string, edit edit, wanted func(*unstructured.Unstructured) bool) (bool, error) {
	if s.Handlers[path] == nil {
		return false, nil
	}
	crd := definition(name)
	limited, cancel := context.WithTimeout(ctx, limit/5) // Get waits until the definition may be read
	defer cancel()
	delete(s.converted, name)
	if err := reader.Get(limited, client.ObjectKeyFromObject(crd), crd); err != nil {
		return false, client.IgnoreNotFound(err)
	}
	if !wanted(crd) {
		return false, nil
	}
	if s.External {
		s.converted[name] = crd
	}
	if !s.Register {
		return false, nil
	}
	before := crd.DeepCopy()
	if err := convert(crd, target, path, edit); err != nil || apiequality.Semantic.DeepEqual(before, crd) {
		return false, err
	}
	// Without a resourceVersion there is no conflict with those who write other parts of the definition. Versions are a list,
	// which is written as a whole.
	patch := client.MergeFrom(before)
	if !apiequality.Semantic.DeepEqual(versions(before), versions(crd)) {
		patch = client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	}
	if err := s.client.Patch(ctx, crd, patch, client.FieldOwner(managedBy)); err != nil {
		return false, fmt.Errorf("registering the conversion webhook in the CRD %s: %w", name, err)
	}
	klog.FromContext(ctx).Info("Registered the conversion webhook", "crd", name)
	return true, nil
}
