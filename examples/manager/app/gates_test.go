package app

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/podwright/podwright/examples/manager/features"
	"github.com/podwright/podwright/lifecycle/recreate"
)

// Without agents on the nodes, nobody looks after ContainerRecreateRequests, and
// none is taken.
func TestGateKruiseDaemon(t *testing.T) {
	client, err := kubernetes.NewForConfig(&rest.Config{Host: "http://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	for _, on := range []bool{true, false} {
		gates, err := features.Parse(fmt.Sprintf("KruiseDaemon=%t", on), "")
		if err != nil {
			t.Fatal(err)
		}
		m := &Manager{gates: gates}
		runs := slices.ContainsFunc(m.controllers(), func(c controller) bool { return c.name == "containerrecreaterequest-controller" })
		if runs != on {
			t.Errorf("KruiseDaemon=%t: the controller runs: %t", on, runs)
		}
		code := `"code":403` // else it asks for the pod
		if on {
			code = `"code":500`
		}
		request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, recreate.MutatePath, strings.NewReader(`{"kind":"AdmissionReview",
			"apiVersion":"admission.k8s.io/v1","request":{"uid":"1","operation":"CREATE","namespace":"shop",
			"kind":{"group":"apps.kruise.io","version":"v1alpha1","kind":"ContainerRecreateRequest"},
			"object":{"spec":{"podName":"web-0","containers":[{"name":"main"}]}}}}`))
		request.Header.Set("Content-Type", "application/json")
		answer := httptest.NewRecorder()
		webhookHandlers(client, gates)[recreate.MutatePath].ServeHTTP(answer, request)
		if !strings.Contains(answer.Body.String(), code) {
			t.Errorf("KruiseDaemon=%t: answered %s, want %s", on, answer.Body, code)
		}
	}
}
