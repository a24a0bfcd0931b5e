// SPDX-License-Identifier: Apache-2.0

package typedclient

import (
	"context"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// selectors records the selectors of requests.
type selectors []string

func (s *selectors) List(_ context.Context, opts metav1.ListOptions) (*metav1.PartialObjectMetadataList, error) {
	*s = append(*s, opts.FieldSelector)
	return &metav1.PartialObjectMetadataList{}, nil
}

func (s *selectors) Watch(_ context.Context, opts metav1.ListOptions) (watch.Interface, error) {
	*s = append(*s, opts.FieldSelector)
	return watch.NewEmptyWatch(), nil
}

func byName(any) ([]string, error) { return nil, nil }

func TestInformersShareNoIndexers(t *testing.T) {
	for name, indexers := range map[string]cache.Indexers{
		"nil": nil, "none": {}, "some": {cache.NamespaceIndex: cache.MetaNamespaceIndexFunc},
	} {
		t.Run(name, func(t *testing.T) {
			given := len(indexers)
			for range 2 {
				informer := NewInformer(&selectors{}, nil, &metav1.PartialObjectMetadata{}, 0, indexers)
				if err := informer.AddIndexers(cache.Indexers{"own": byName}); err != nil {
					t.Error(err)
				}
				if got := len(informer.GetIndexer().GetIndexers()); got != given+1 {
					t.Errorf("%d indexes, want %d", got, given+1)
				}
			}
			if len(indexers) != given {
				t.Errorf("the caller's indexers have become %d", len(indexers))
			}
		})
	}
}

func TestSelect(t *testing.T) {
	var asked selectors
	for _, filter := range []func(*metav1.ListOptions){nil, func(o *metav1.ListOptions) { o.FieldSelector = "a=b" }} {
		s := Select[*metav1.PartialObjectMetadataList](&asked, filter)
		if _, err := s.List(t.Context(), metav1.ListOptions{}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Watch(t.Context(), metav1.ListOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if len(asked) != 4 || asked[0]+asked[1] != "" || asked[2]+asked[3] != "a=ba=b" {
		t.Errorf("requests with selectors %q", asked)
	}
}
