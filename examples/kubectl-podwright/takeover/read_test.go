// SPDX-License-Identifier: Apache-2.0

package takeover

import (
	"context"
	"errors"
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

// What could not be read is said in a hundred sentences at most, and one that counts the rest. (KC-28)
func TestUnreadIsLimited(t *testing.T) {
	for _, test := range []struct {
		namespaces int
		last       string
		sentences  int
	}{{2, "the Jobs: 1", 2}, {100, "the Jobs: 99", 100}, {101, "1 more", 101}, {250, "150 more", 101}} {
		read := &reading{Cluster: &Cluster{}}
		for i := range test.namespaces {
			read.unread("the Jobs", errors.New(strconv.Itoa(i)))
		}
		read.countUnread()
		if got := read.Unread; len(got) != test.sentences || got[len(got)-1] != test.last {
			t.Errorf("of %d: %d sentences, the last %q, want %d and %q", test.namespaces, len(got), got[len(got)-1], test.sentences, test.last)
		}
	}
}
