// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/podwright/podwright/examples/process/controllers"
)

// The flag says how long controllers wait until their caches are filled. (CT-16)
func TestCacheSyncTimeoutOfControllers(t *testing.T) {
	config := mustParse(t, "--controller-cache-sync-timeout=7m")
	p := (&Manager{config: config}).parts(&controllers.Own{}, nil)
	if got := p.options(3).CacheSyncTimeout; got != 7*time.Minute {
		t.Errorf("controllers wait %v, want 7m", got)
	}
}

// So does what serves webhooks. Here the API server serves the kinds, and lists nothing. (CT-16)
func TestCacheSyncTimeoutOfWebhooks(t *testing.T) {
	served := metav1.APIResourceList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "APIResourceList"}, GroupVersion: workloadSpreadsResource.GroupVersion().String()}
	for _, name := range []string{workloadSpreadsResource.Resource, persistentPodStatesResource.Resource, sidecarSetsResource.Resource} {
		served.APIResources = append(served.APIResources, metav1.APIResource{Name: name, Namespaced: true, Verbs: metav1.Verbs{"list", "watch"}})
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		if strings.Count(request.URL.Path, "/") != 3 {
			http.Error(w, "no lists today", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(served); err != nil {
			t.Error(err)
		}
	}))
	defer server.Close()
	config := mustParse(t, "--controller-cache-sync-timeout=50ms")
	gates, err := config.Features.Parse()
	if err != nil {
		t.Fatal(err)
	}
	a, err := (&Manager{config: config, gates: gates}).newAdmissions(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	for name, run := range map[string]func(context.Context) error{
		"workloadspreads": a.pods.Spread.Run, "sidecarsets": a.pods.Sidecars.Run, "persistentpodstates": a.pods.PersistentPodState.Run,
		"podunavailablebudgets": a.budgets.Run,
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // of two, by default
			defer cancel()
			if err := run(ctx); err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("error %v, want one that names %s", err, name)
			}
		})
	}
}
