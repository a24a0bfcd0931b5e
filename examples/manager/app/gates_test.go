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
	"github.com/podwright/podwright/lifecycle/podwebhook"
	"github.com/podwright/podwright/lifecycle/recreate"
)

// admit sends a request to create an object to a webhook, and returns the answer.
func admit(t *testing.T, webhook http.Handler, kind, object string) string {
	t.Helper()
	request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(`{"kind":"AdmissionReview",
		"apiVersion":"admission.k8s.io/v1","request":{"uid":"1","operation":"CREATE","namespace":"shop","kind":`+kind+`,"object":`+object+`}}`))
	request.Header.Set("Content-Type", "application/json")
	answer := httptest.NewRecorder()
	webhook.ServeHTTP(answer, request)
	return answer.Body.String()
}

// Pods of workloads of the group get the readiness gate, and with the feature gate
// all pods do; the API server is told to ask about them, and only then.
func TestGateKruisePodReadinessGate(t *testing.T) {
	const (
		gate  = `"patchType":"JSONPatch"`
		pod   = `{"version":"v1","kind":"Pod"}`
		alone = `{"metadata":{"name":"a"},"spec":{"containers":[{"name":"main"}]}}`
		owned = `{"metadata":{"name":"a","ownerReferences":[{"apiVersion":"apps.kruise.io/v1alpha1","kind":"BroadcastJob","name":"j","uid":"j","controller":true}]},"spec":{}}`
	)
	for _, test := range []struct {
		gates                    string
		served, all, alone, some bool
	}{
		{"", true, false, false, true},
		{"KruisePodReadinessGate=true", true, true, true, true},
		{"KruisePodReadinessGate=true,PodWebhook=false", false, false, false, false},
	} {
		gates, err := features.Parse(test.gates, "")
		if err != nil {
			t.Fatal(err)
		}
		if len(gates.WithoutEffect) > 0 {
			t.Errorf("%s: without effect: %v", test.gates, gates.WithoutEffect)
		}
		handlers := webhookHandlers(kubernetes.NewForConfigOrDie(&rest.Config{Host: "http://127.0.0.1:1"}), gates)
		webhook, served := handlers[podwebhook.MutatePath]
		if served != test.served {
			t.Errorf("%s: served %t", test.gates, served)
		}
		if target := mustListen(t).target(&Config{Webhook: Webhook{Host: "10.0.0.1"}}, gates, handlers); target.AllPods != test.all {
			t.Errorf("%s: asked about all pods: %t", test.gates, target.AllPods)
		}
		if !served {
			continue
		}
		for object, want := range map[string]bool{alone: test.alone, owned: test.some} {
			if answer := admit(t, webhook, pod, object); strings.Contains(answer, gate) != want || !strings.Contains(answer, `"allowed":true`) {
				t.Errorf("%s: %s is answered with %s", test.gates, object, answer)
			}
		}
	}
}

// mustListen returns a server that is not yet running.
func mustListen(t *testing.T) *webhookServer {
	t.Helper()
	server, err := newWebhookServer(Webhook{BindAddress: "127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Listener.Close() })
	return server
}

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
		answer := admit(t, webhookHandlers(client, gates)[recreate.MutatePath], `{"group":"apps.kruise.io","version":"v1alpha1","kind":"ContainerRecreateRequest"}`,
			`{"spec":{"podName":"web-0","containers":[{"name":"main"}]}}`)
		if !strings.Contains(answer, code) {
			t.Errorf("KruiseDaemon=%t: answered %s, want %s", on, answer, code)
		}
	}
}
