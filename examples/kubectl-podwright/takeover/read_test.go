// SPDX-License-Identifier: Apache-2.0

package takeover

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

// paged is an API server with some Jobs, of which it gives two at once.
type paged struct {
	dynamic.NamespaceableResourceInterface
	jobs  int
	asked []string
}

func (p *paged) Resource(schema.GroupVersionResource) dynamic.NamespaceableResourceInterface {
	return p
}
func (p *paged) Namespace(string) dynamic.ResourceInterface { return p }

func (p *paged) List(_ context.Context, options metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	p.asked = append(p.asked, fmt.Sprintf("%d from %q", options.Limit, options.Continue))
	from, _ := strconv.Atoi(options.Continue)
	list := &unstructured.UnstructuredList{}
	for i := from; i < min(from+2, p.jobs); i++ {
		list.Items = append(list.Items, unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": fmt.Sprint(i)}}})
	}
	if from+2 < p.jobs {
		list.SetContinue(fmt.Sprint(from + 2))
	}
	return list, nil
}

// Lists are read page by page, up to the limit. (KC-28)
func TestPages(t *testing.T) {
	jobs := schema.GroupVersionKind{Group: "batch", Version: "v1", Kind: "Job"}
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{jobs.GroupVersion()})
	mapper.Add(jobs, meta.RESTScopeNamespace)
	beyond := func(limit int) []string {
		return []string{fmt.Sprintf("more than %d Jobs: raise --limit, or name fewer --namespaces", limit)}
	}
	for _, test := range []struct {
		jobs, limit, want, pages int
		unread                   []string
	}{
		{0, 3, 0, 1, nil}, {2, 3, 2, 1, nil}, {3, 3, 3, 2, nil}, {5, 9, 5, 3, nil}, {4, 3, 3, 2, beyond(3)}, {9, 3, 3, 2, beyond(3)}, {9, 4, 4, 2, beyond(4)}, {4, 4, 4, 2, nil},
	} {
		server := &paged{jobs: test.jobs}
		read := &reading{Reader: &Reader{Dynamic: server, Mapper: mapper, Limit: test.limit}, ctx: t.Context(), Cluster: &Cluster{}}
		got := read.list(jobs.GroupKind(), "", metav1.ListOptions{})
		if len(got) != test.want || len(server.asked) != test.pages || cmp.Diff(test.unread, read.Unread) != "" {
			t.Errorf("%d of %d Jobs in pages %q, unread %q; want %d in %d pages, unread %q", len(got), test.jobs, server.asked, read.Unread, test.want, test.pages, test.unread)
		}
		if !slices.Contains(server.asked, `500 from ""`) {
			t.Errorf("it asks for %q", server.asked)
		}
	}
}
