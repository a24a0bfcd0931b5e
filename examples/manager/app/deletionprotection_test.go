// SPDX-License-Identifier: Apache-2.0

package app

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/podwright/podwright/availability/deletion"
	"github.com/podwright/podwright/workloads/cloneset"
)

// If the gate is closed, the webhooks answer and allow every deletion. (PF-1)
func TestGateResourcesDeletionProtection(t *testing.T) {
	for gates, want := range map[string]string{
		"": `"allowed":false`, "ResourcesDeletionProtection=false": `"allowed":true`, "PodWebhook=false": `"allowed":true`,
	} {
		m := newManager(t, nowhere, "--feature-gates="+gates)
		serve(t, m)
		for path, kind := range map[string]string{
			deletion.NamespacePath:  `{"version":"v1","kind":"Namespace"}`,
			deletion.ServicePath:    `{"version":"v1","kind":"Service"}`,
			deletion.IngressPath:    `{"group":"networking.k8s.io","version":"v1beta1","kind":"Ingress"}`,
			deletion.DeploymentPath: `{"group":"apps","version":"v1","kind":"Deployment"}`,
			cloneset.ValidatePath:   `{"group":"apps.kruise.io","version":"v1alpha1","kind":"CloneSet"}`,
		} {
			request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(`{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1",
				"request":{"uid":"1","operation":"DELETE","name":"a","kind":`+kind+`,"oldObject":{"metadata":{"labels":{"policy.kruise.io/delete-protection":"Always"}}}}}`))
			request.Header.Set("Content-Type", "application/json")
			answer := httptest.NewRecorder()
			m.handlers()[path].ServeHTTP(answer, request)
			if !strings.Contains(answer.Body.String(), want) {
				t.Errorf("gates %q, %s: answer %s, want %s", gates, path, answer.Body, want)
			}
		}
	}
}
