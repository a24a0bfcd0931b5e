package registration

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/podwright/podwright/examples/manager/crds"
	"github.com/podwright/podwright/workloads/conversion"
)

// ConvertedName names the CustomResourceDefinition whose objects the manager
// converts between versions.
const ConvertedName = "statefulsets.apps.kruise.io"

// withoutConversion is what a definition means that leads nowhere, or to a server
// that does not answer, and what to do about it.
const withoutConversion = "requests in a version that is not stored lose fields or fail: " +
	"let the manager list, watch and patch customresourcedefinitions, or keep spec.conversion in order yourself"

// Conversion returns the definition with the target as its conversion webhook.
// It returns current itself, which may be nil, where nothing has to change, and
// never modifies it.
func Conversion(current *unstructured.Unstructured, target Target) (*unstructured.Unstructured, error) {
	if current == nil || !target.Serves(conversion.Path) {
		return current, nil
	}
	wanted := current.DeepCopy()
	if err := conversion.SetWebhook(wanted, target.clientConfig(onPath(conversion.Path))); err != nil {
		return nil, err
	}
	// OpenKruise's manager names more review versions. While both run, the two
	// must not undo each other's work.
	path := []string{"spec", "conversion", "webhook", "conversionReviewVersions"}
	versions, _, err := unstructured.NestedStringSlice(current.Object, path...)
	if err == nil && slices.Contains(versions, "v1") {
		err = unstructured.SetNestedStringSlice(wanted.Object, versions, path...)
	}
	if err != nil {
		return nil, fmt.Errorf("CRD %s: %w", current.GetName(), err)
	}
	if apiequality.Semantic.DeepEqual(wanted.Object, current.Object) {
		return current, nil
	}
	return wanted, nil
}

// registerConversion writes spec.conversion of the definition where it differs,
// and nothing else of it. It returns whether it has written.
func (l *Loop) registerConversion(ctx context.Context, target Target) (bool, error) {
	if l.definition == nil {
		return false, nil
	}
	current := cached[*unstructured.Unstructured](l.definition, ConvertedName)
	wanted, err := Conversion(current, target)
	if err != nil || wanted == current {
		return false, err
	}
	klog.FromContext(ctx).Info("Registering the conversion webhook", "crd", ConvertedName)
	spec, _, err := unstructured.NestedMap(wanted.Object, "spec", "conversion")
	if err != nil {
		return false, err
	}
	// Without a resourceVersion there is no conflict with those who write other
	// parts of the definition.
	patch, err := json.Marshal([]map[string]any{{"op": "add", "path": "/spec/conversion", "value": spec}})
	if err != nil {
		return false, err
	}
	options := metav1.PatchOptions{FieldManager: managedBy}
	if _, err := l.Definitions.Resource(crds.Resource).Patch(ctx, ConvertedName, types.JSONPatchType, patch, options); err != nil {
		return false, fmt.Errorf("registering the conversion webhook in the CRD %s: %w; %s", ConvertedName, err, withoutConversion)
	}
	return true, nil
}

// watchDefinition returns an informer of the definition.
func watchDefinition(client dynamic.Interface) cache.SharedIndexInformer {
	example := &unstructured.Unstructured{}
	example.SetGroupVersionKind(crds.Resource.GroupVersion().WithKind("CustomResourceDefinition"))
	return watchOne(client, client.Resource(crds.Resource), ConvertedName, example)
}

// keepConversion is a cache.TransformFunc that keeps of a definition its
// conversion alone, and of other objects everything.
func keepConversion(object any) (any, error) {
	definition, ok := object.(*unstructured.Unstructured)
	if !ok {
		return object, nil
	}
	kept := &unstructured.Unstructured{Object: map[string]any{}}
	kept.SetGroupVersionKind(definition.GroupVersionKind())
	kept.SetName(definition.GetName())
	kept.SetResourceVersion(definition.GetResourceVersion())
	spec, found, err := unstructured.NestedMap(definition.Object, "spec", "conversion")
	if found && err == nil {
		err = unstructured.SetNestedMap(kept.Object, spec, "spec", "conversion")
	}
	return kept, err
}
