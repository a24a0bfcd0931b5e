// SPDX-License-Identifier: Apache-2.0

package resource

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/caches"
)

// Reader reads caches. What it returns is shared with the cache: a Reconciler
// never changes it. Its methods are called by several goroutines. New makes one
// over informers; another lets a Reconciler run on the caches of another framework.
type Reader interface {
	podwright.Caches
	// Distribution returns a ResourceDistribution, or an error for which
	// apierrors.IsNotFound holds.
	Distribution(name string) (*v1alpha1.ResourceDistribution, error)
	// Namespaces returns all namespaces, in any order.
	Namespaces() ([]*corev1.Namespace, error)
	// Copies returns the Secrets and ConfigMaps that a ResourceDistribution of that name
	// controls, in any order; CopyOf makes them.
	Copies(distribution string) ([]*Copy, error)
}

// SourceReader is what a Reader is too if Options.Sources is true.
type SourceReader interface {
	// Source returns a Secret or a ConfigMap, as the kind says, that has the label
	// v1alpha1.ResourceSourceLabel, or an error for which apierrors.IsNotFound holds.
	Source(kind, namespace, name string) (Object, error)
}

// informerReader reads informers that New has indexed.
type informerReader struct{ caches.Reader }

func newInformerReader(c caches.Reader) Reader { return informerReader{c} }

func (r informerReader) Distribution(name string) (*v1alpha1.ResourceDistribution, error) {
	return caches.Get[*v1alpha1.ResourceDistribution](r.Reader, resourceDistributions, "", name)
}

func (r informerReader) Namespaces() ([]*corev1.Namespace, error) {
	return caches.List[*corev1.Namespace](r.Reader, resourceNamespaces, "", labels.Everything())
}

func (r informerReader) Copies(distribution string) (copies []*Copy, err error) {
	for _, resource := range []podwright.Resource{resourceSecrets, resourceConfigMaps} {
		objects, err := r.Reader[resource].ByIndex(byDistribution, distribution)
		if err != nil {
			return nil, fmt.Errorf("read the %s of ResourceDistribution %s: %w", resource, distribution, err)
		}
		for _, object := range objects {
			copies = append(copies, CopyOf(object))
		}
	}
	return copies, nil
}

// byDistribution is the name of the index from ResourceDistributions to what they control.
const byDistribution = "podwright.resourceDistribution"

// index adds an index to an informer of Secrets or ConfigMaps.
func index(informer cache.SharedIndexInformer) error {
	_, err := caches.EnsureIndex(informer, byDistribution, func(object any) ([]string, error) {
		if of, ok := object.(metav1.Object); ok && ownerOf(of) != "" {
			return []string{ownerOf(of)}, nil
		}
		return nil, nil
	})
	return err
}
