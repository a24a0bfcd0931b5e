// SPDX-License-Identifier: Apache-2.0

package rights

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// requests are those of one kind.
type requests struct {
	lock              sync.Mutex
	answered, refused map[string]bool
}

// hear takes note of all answers.
func (r *requests) hear(next http.RoundTripper) http.RoundTripper { return &transport{next, r} }

type transport struct {
	next http.RoundTripper
	*requests
}

func (t *transport) RoundTrip(h *http.Request) (*http.Response, error) {
	answer, err := t.next.RoundTrip(h)
	if err != nil {
		return answer, err
	}
	t.lock.Lock()
	defer t.lock.Unlock()
	switch {
	case answer.StatusCode == http.StatusForbidden:
		t.refused[h.Method+" "+h.URL.Path] = true
	case answer.StatusCode < 300:
		t.answered[what(h)] = true
	}
	return answer, nil
}

var verbs = map[string]string{http.MethodPost: "create", http.MethodPut: "update", http.MethodPatch: "patch", http.MethodDelete: "delete", http.MethodGet: "get"}

// what returns the verb and the resource of a request.
func what(h *http.Request) string {
	parts := strings.Split(strings.Trim(h.URL.Path, "/"), "/")
	group := ""
	if parts[0] == "apis" && len(parts) > 1 {
		if parts = parts[1:]; !strings.HasSuffix(parts[0], "kruise.io") {
			group = "." + parts[0]
		}
	}
	if parts = parts[min(2, len(parts)):]; len(parts) > 2 && parts[0] == "namespaces" {
		parts = parts[2:]
	}
	if len(parts) == 0 {
		return "discovery"
	}
	resource := parts[0] + group
	if len(parts) > 2 {
		resource += "/" + parts[2]
	}
	return verbs[h.Method] + " " + resource
}

// await waits until all has been asked for with success since the step before.
func (r *requests) await(ctx context.Context, asks []string) error {
	var lacks []string
	err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, patience, true, func(context.Context) (bool, error) {
		r.lock.Lock()
		defer r.lock.Unlock()
		lacks = slices.DeleteFunc(slices.Clone(asks), func(ask string) bool { return r.answered[ask] })
		return len(lacks) == 0, nil
	})
	r.lock.Lock()
	defer r.lock.Unlock()
	if err == nil {
		clear(r.answered)
		return nil
	}
	return fmt.Errorf("not asked for: %s; asked for: %s", strings.Join(lacks, ", "), strings.Join(slices.Sorted(maps.Keys(r.answered)), ", "))
}

const patience = 5 * time.Minute

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
