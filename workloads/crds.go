// SPDX-License-Identifier: Apache-2.0

package workloads

import (
	"embed"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/podwright/podwright/internal/manifests"
)

//go:embed crds/*.yaml
var crdFiles embed.FS

// CRDs returns the CustomResourceDefinitions (apiextensions.k8s.io/v1) of the
// workload kinds, one object a kind, sorted by name. They are ready to be
// applied to a cluster, in any order. Every call returns new objects, which the
// caller may change.
//
// No definition names a conversion webhook. If clients use a version in which
// objects are not stored, let conversion.SetWebhook add one, or they lose what
// that version lacks.
//
// Objects are stored as v1alpha1, and as v1beta1 of the kind that comes with both. For a cluster that stores v1beta1, as OpenKruise 1.9
// does, let ServeV1beta1 and then StoreV1beta1 of package conversion change the definitions. The one
// asks for the address of the conversion webhook, without which the other version loses fields.
//
// They hold the API server to the rules that a manifest must keep, so that a
// wrong one is refused even if no webhook runs. Like those of OpenKruise they
// have no defaults: webhooks fill them in. See CRDsWithDefaults.
func CRDs() []*unstructured.Unstructured { return manifests.MustReadCRDs(crdFiles) }
