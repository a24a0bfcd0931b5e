// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"github.com/podwright/podwright/availability/podunavailablebudget"
	"github.com/podwright/podwright/examples/process/controllers"
	"github.com/podwright/podwright/lifecycle/launchpriority"
	"github.com/podwright/podwright/lifecycle/podreadiness"
	"github.com/podwright/podwright/lifecycle/podwebhook"
	"github.com/podwright/podwright/lifecycle/recreate"
)

// nowhere is an API server that does not answer.
var nowhere = &rest.Config{Host: "http://127.0.0.1:1"}

// without is an API server that says that it serves no kinds of ours, and answers nothing else.
var without = &rest.Config{Host: "http://without", Transport: roundTrip(func(request *http.Request) (*http.Response, error) {
	if strings.Count(request.URL.Path, "/") != 3 { // no question what there is of a group
		return nil, errors.New("it does not answer")
	}
	answer := &http.Response{StatusCode: http.StatusNotFound, Request: request, Header: http.Header{"Content-Type": {"application/json"}}, Body: http.NoBody}
	return answer, nil
})}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

// newManager returns a manager that takes no port of its own.
func newManager(t *testing.T, api *rest.Config, flags ...string) *Manager {
	t.Helper()
	config := mustParse(t, append([]string{"--metrics-addr=0", "--health-probe-addr=0", "--webhook-bind-address=127.0.0.1", "--webhook-port=0"}, flags...)...)
	config.REST = api
	m, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.hooks.Close() })
	return m
}

// serve has a manager serve webhooks, if SidecarSets and what places pods are not served.
func serve(t *testing.T, m *Manager) {
	t.Helper()
	if err := m.serve(without); err != nil {
		t.Fatal(err)
	}
	for _, step := range m.admissions.pods.Steps() {
		go func() { _ = step.Run(t.Context()) }()
	}
	m.admissions.budgets.Missing()
}

// All webhooks that a manager registers are served, and all that it serves are registered.
func TestWebhooks(t *testing.T) {
	m := newManager(t, nowhere)
	serve(t, m)
	mutating, validating := m.served.Webhooks()
	served := maps.Clone(m.handlers())
	var got []string
	list := func(name string, client admissionv1.WebhookClientConfig, rule admissionv1.RuleWithOperations) {
		got = append(got, fmt.Sprint(name, " ", *client.Service.Path, " ", rule.Operations, rule.Resources, rule.APIGroups, rule.APIVersions))
		if m.handlers()[*client.Service.Path] == nil {
			t.Errorf("%s is registered, and not served", name)
		}
		delete(served, *client.Service.Path)
		delete(served, strings.Replace(*client.Service.Path, "-v1alpha1-", "-", 1)) // as OpenKruise 1.9 registers it
	}
	for _, w := range mutating {
		list(w.Name, w.ClientConfig, w.Rules[0])
	}
	for _, w := range validating {
		list(w.Name, w.ClientConfig, w.Rules[0])
	}
	want := []string{
		"mcloneset.kb.io /mutate-apps-kruise-io-v1alpha1-cloneset [CREATE UPDATE] [clonesets] [apps.kruise.io] [v1alpha1]",
		"mstatefulset.kb.io /mutate-apps-kruise-io-statefulset [CREATE UPDATE] [statefulsets] [apps.kruise.io] [v1alpha1 v1beta1]",
		"mdaemonset.kb.io /mutate-apps-kruise-io-v1alpha1-daemonset [CREATE UPDATE] [daemonsets] [apps.kruise.io] [v1alpha1]",
		"mbroadcastjob.kb.io /mutate-apps-kruise-io-v1alpha1-broadcastjob [CREATE UPDATE] [broadcastjobs] [apps.kruise.io] [v1alpha1]",
		"madvancedcronjob.kb.io /mutate-apps-kruise-io-v1alpha1-advancedcronjob [CREATE UPDATE] [advancedcronjobs] [apps.kruise.io] [v1alpha1]",
		"muniteddeployment.kb.io /mutate-apps-kruise-io-v1alpha1-uniteddeployment [CREATE UPDATE] [uniteddeployments] [apps.kruise.io] [v1alpha1]",
		"mimagepulljob.kb.io /mutate-apps-kruise-io-v1alpha1-imagepulljob [CREATE UPDATE] [imagepulljobs] [apps.kruise.io] [v1alpha1]",
		"mimagelistpulljob.kb.io /mutate-apps-kruise-io-v1alpha1-imagelistpulljob [CREATE UPDATE] [imagelistpulljobs] [apps.kruise.io] [v1alpha1]",
		"mnodeimage.kb.io /mutate-apps-kruise-io-v1alpha1-nodeimage [CREATE UPDATE] [nodeimages] [apps.kruise.io] [v1alpha1]",
		"mpod.kb.io /mutate-pod [CREATE] [pods] [] [v1]",
		"mcontainerrecreaterequest.kb.io /mutate-apps-kruise-io-v1alpha1-containerrecreaterequest [CREATE UPDATE] [containerrecreaterequests] [apps.kruise.io] [v1alpha1]",
		"msidecarset.kb.io /mutate-apps-kruise-io-v1alpha1-sidecarset [CREATE UPDATE] [sidecarsets] [apps.kruise.io] [v1alpha1]",
		"vcloneset.kb.io /validate-apps-kruise-io-v1alpha1-cloneset [CREATE UPDATE DELETE] [clonesets] [apps.kruise.io] [v1alpha1]",
		"vstatefulset.kb.io /validate-apps-kruise-io-statefulset [CREATE UPDATE DELETE] [statefulsets] [apps.kruise.io] [v1alpha1 v1beta1]",
		"vdaemonset.kb.io /validate-apps-kruise-io-v1alpha1-daemonset [CREATE UPDATE] [daemonsets] [apps.kruise.io] [v1alpha1]",
		"vbroadcastjob.kb.io /validate-apps-kruise-io-v1alpha1-broadcastjob [CREATE UPDATE] [broadcastjobs] [apps.kruise.io] [v1alpha1]",
		"vadvancedcronjob.kb.io /validate-apps-kruise-io-v1alpha1-advancedcronjob [CREATE UPDATE] [advancedcronjobs] [apps.kruise.io] [v1alpha1]",
		"vuniteddeployment.kb.io /validate-apps-kruise-io-v1alpha1-uniteddeployment [CREATE UPDATE DELETE] [uniteddeployments] [apps.kruise.io] [v1alpha1]",
		"vimagepulljob.kb.io /validate-apps-kruise-io-v1alpha1-imagepulljob [CREATE UPDATE] [imagepulljobs] [apps.kruise.io] [v1alpha1]",
		"vimagelistpulljob.kb.io /validate-apps-kruise-io-v1alpha1-imagelistpulljob [CREATE UPDATE] [imagelistpulljobs] [apps.kruise.io] [v1alpha1]",
		"vnodeimage.kb.io /validate-apps-kruise-io-v1alpha1-nodeimage [CREATE UPDATE] [nodeimages] [apps.kruise.io] [v1alpha1]",
		"vresourcedistribution.kb.io /validate-apps-kruise-io-v1alpha1-resourcedistribution [CREATE UPDATE] [resourcedistributions] [apps.kruise.io] [v1alpha1]",
		"vworkloadspread.kb.io /validate-apps-kruise-io-v1alpha1-workloadspread [CREATE UPDATE] [workloadspreads] [apps.kruise.io] [v1alpha1]",
		"vpersistentpodstate.kb.io /validate-apps-kruise-io-persistentpodstate [CREATE UPDATE] [persistentpodstates] [apps.kruise.io] [v1alpha1]",
		"vpodprobemarker.kb.io /validate-apps-kruise-io-podprobemarker [CREATE UPDATE] [podprobemarkers] [apps.kruise.io] [v1alpha1]",
		"vsidecarset.kb.io /validate-apps-kruise-io-v1alpha1-sidecarset [CREATE UPDATE] [sidecarsets] [apps.kruise.io] [v1alpha1]",
		"vpodunavailablebudget.kb.io /validate-policy-kruise-io-podunavailablebudget [CREATE UPDATE] [podunavailablebudgets] [policy.kruise.io] [v1alpha1]",
		"vpod.kb.io /validate-pod [UPDATE DELETE] [pods] [] [v1]",
		"vpodeviction.kb.io /validate-pod [CREATE] [pods/eviction] [] [v1]",
		"vnamespace.kb.io /validate-namespace [DELETE] [namespaces] [] [v1]",
		"vcustomresourcedefinition.kb.io /validate-customresourcedefinition [DELETE] [customresourcedefinitions] [apiextensions.k8s.io] [v1 v1beta1]",
		"vbuiltindeployment.kb.io /validate-apps-deployment [DELETE] [deployments] [apps] [v1]",
		"vbuiltinreplicaset.kb.io /validate-apps-replicaset [DELETE] [replicasets] [apps] [v1]",
		"vbuiltinstatefulset.kb.io /validate-apps-statefulset [DELETE] [statefulsets] [apps] [v1]",
		"vservice.kb.io /validate-service [DELETE] [services] [] [v1]",
		"vingress.kb.io /validate-ingress [DELETE] [ingresses] [networking.k8s.io] [v1 v1beta1]",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("PF-5.1: webhooks (-want +got):\n%s", diff)
	}
	conversions := []string{"/convert", "/convert-distribution", "/convert-sidecar"} // which CRDs name
	if diff := cmp.Diff(conversions, slices.Sorted(maps.Keys(served))); diff != "" {
		t.Errorf("served, and not registered (-want +got):\n%s", diff)
	}
	for _, w := range validating {
		selectors := len(w.ObjectSelector.MatchExpressions)
		if deletions := slices.Equal(w.Rules[0].Operations, []admissionv1.OperationType{admissionv1.Delete}); deletions != (selectors == 1) {
			t.Errorf("PF-5.1: %s has %d selectors of labels", w.Name, selectors)
		}
	}
	pods := mutating[slices.IndexFunc(mutating, func(w admissionv1.MutatingWebhook) bool { return w.Name == "mpod.kb.io" })]
	if s := pods.NamespaceSelector; s == nil || len(s.MatchExpressions) != 1 || s.MatchExpressions[0].Key != "control-plane" || s.MatchExpressions[0].Operator != "DoesNotExist" {
		t.Errorf("PF-5.1: the namespaces of pods: %v", s)
	}
}

// By default deletions and evictions of pods are judged, of those that name a budget; updates only with their gate. Without
// either no webhook is asked about pods, and budgets are still refused. (PF-1)
func TestGatesOfPodUnavailableBudgets(t *testing.T) {
	const deletions, updates = "PodUnavailableBudgetDeleteGate", "PodUnavailableBudgetUpdateGate"
	for gates, want := range map[string]struct{ pods, updates, controller bool }{
		"":                   {true, false, true},
		updates + "=true":    {true, true, true},
		deletions + "=false": {false, false, false},
		"PodWebhook=false":   {false, false, false},
		deletions + "=false," + updates + "=true": {true, true, true},
	} {
		m := newManager(t, nowhere, "--feature-gates="+gates)
		serve(t, m)
		conditions, err := m.served.Conditions(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		condition := conditions[podunavailablebudget.ValidatePodPath]
		if condition != "false" || m.admissions.budgets.Updates != want.updates {
			t.Errorf("PF-1: %s: the condition is %s, updates are judged: %t", gates, condition, m.admissions.budgets.Updates)
		}
		if served := m.handlers()[podunavailablebudget.ValidatePodPath] != nil; served != want.pods || m.handlers()[podunavailablebudget.ValidatePath] == nil {
			t.Errorf("PF-1: %s: asked about pods: %t", gates, served)
		}
		runs := slices.ContainsFunc(m.controllers(nil), func(c controllers.Controller) bool { return c.Resource == podUnavailableBudgetsResource })
		if runs != want.controller {
			t.Errorf("PF-1: %s: the controller runs: %t", gates, runs)
		}
	}
}

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

// Pods of workloads of the group get the readiness gate. With the feature gate all pods get it. Without the gate the API
// server does not ask about all pods. Pods of the manager's own namespace never wait for a manager that gives a gate to
// all.
func TestGateKruisePodReadinessGate(t *testing.T) {
	const (
		gate  = `"patchType":"JSONPatch"`
		pod   = `{"version":"v1","kind":"Pod"}`
		alone = `{"metadata":{"name":"a"},"spec":{"containers":[{"name":"main"}]}}`
		owned = `{"metadata":{"name":"a","ownerReferences":[{"apiVersion":"apps.kruise.io/v1alpha1","kind":"BroadcastJob","name":"j","uid":"j","controller":true}]},"spec":{}}`
	)
	some := "(" + launchpriority.MatchExpression + ") || (" + podreadiness.MatchExpression + ")"
	for _, test := range []struct {
		gates                    string
		served, all, alone, some bool
	}{
		{"", true, false, false, true},
		{"KruisePodReadinessGate=true", true, true, true, true},
		{"KruisePodReadinessGate=true,PodWebhook=false", false, false, false, false},
	} {
		m := newManager(t, nowhere, "--feature-gates="+test.gates)
		serve(t, m)
		webhook, served := m.handlers()[podwebhook.MutatePath]
		if served != test.served {
			t.Errorf("%s: served %t", test.gates, served)
		}
		conditions, err := m.served.Conditions(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		rest, found := strings.CutPrefix(conditions[podwebhook.MutatePath], some)
		if all := strings.HasPrefix(rest, " || request.namespace != 'kruise-system' && ("+podreadiness.MatchExpressionAll); !found || all != test.all {
			t.Errorf("%s: asked about all pods: %t", test.gates, all)
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

// Until the webhook knows whether SidecarSets and the kinds that place pods are served, it refuses pods that one of those might
// be about. If they are not served, it leaves pods alone.
func TestKindsOfThePodWebhookUnknown(t *testing.T) {
	m := newManager(t, nowhere)
	if err := m.serve(without); err != nil {
		t.Fatal(err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	steps := m.admissions.pods.Steps()
	if len(steps) != 3 {
		t.Fatalf("%d steps", len(steps))
	}
	for i, step := range steps {
		if err := step.Mutate(over, nil, nil); err == nil || !strings.Contains(err.Error(), "not known yet") {
			t.Errorf("step %d: error %v", i, err)
		}
	}
	if _, err := m.served.Conditions(over); err == nil {
		t.Error("it is said what to be asked about")
	}
	go func() { _ = m.served.RunWebhooks(t.Context()) }()
	for i, step := range steps {
		if err := step.Mutate(t.Context(), nil, nil); err != nil {
			t.Errorf("step %d without its CRD: error %v", i, err)
		}
	}
	soon, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := m.served.Conditions(soon); err != nil {
		t.Errorf("without the CRDs: error %v", err)
	}
}

// Without the gate neither a webhook nor a controller asks WorkloadSpreads, or waits for them.
func TestGateWorkloadSpread(t *testing.T) {
	m := newManager(t, nowhere, "--feature-gates=WorkloadSpread=false")
	serve(t, m)
	if m.admissions.pods.Spread != nil || len(m.admissions.pods.Steps()) != 2 {
		t.Errorf("%d steps", len(m.admissions.pods.Steps()))
	}
	caches, err := m.newCaches(nowhere)
	if err != nil {
		t.Fatal(err)
	}
	pod := &corev1.Pod{}
	if got, err := caches.spreads.PlacePod(t.Context(), pod); got != pod || err != nil {
		t.Errorf("error %v", err)
	}
}

// What becomes of pods while no webhook answers is the user's choice.
func TestPodFailurePolicy(t *testing.T) {
	for policy, flags := range map[admissionv1.FailurePolicyType][]string{admissionv1.Fail: nil, admissionv1.Ignore: {"--pod-webhook-failure-policy=Ignore"}} {
		m := newManager(t, nowhere, flags...)
		serve(t, m)
		mutating, _ := m.served.Webhooks()
		for _, w := range mutating {
			want := admissionv1.Fail
			if w.Name == "mpod.kb.io" {
				want = policy
			}
			if *w.FailurePolicy != want {
				t.Errorf("%v: %s has %s", flags, w.Name, *w.FailurePolicy)
			}
		}
	}
	if _, _, err := parse(noEnv, "--pod-webhook-failure-policy=Allow"); err == nil || !strings.Contains(err.Error(), `--pod-webhook-failure-policy=Allow: want "Fail" or "Ignore"`) {
		t.Errorf("error %v", err)
	}
}

// Without agents on the nodes, no controller manages ContainerRecreateRequests, and none is taken.
func TestGateKruiseDaemon(t *testing.T) {
	for on, code := range map[bool]string{true: `"code":500` /* it asks for the pod */, false: `"code":403`} {
		m := newManager(t, nowhere, fmt.Sprintf("--feature-gates=KruiseDaemon=%t", on))
		runs := slices.ContainsFunc(m.controllers(nil), func(c controllers.Controller) bool { return c.Name == "containerrecreaterequest-controller" })
		if runs != on {
			t.Errorf("KruiseDaemon=%t: the controller runs: %t", on, runs)
		}
		serve(t, m)
		answer := admit(t, m.handlers()[recreate.MutatePath],
			`{"group":"apps.kruise.io","version":"v1alpha1","kind":"ContainerRecreateRequest"}`, `{"spec":{"podName":"web-0","containers":[{"name":"main"}]}}`)
		if !strings.Contains(answer, code) {
			t.Errorf("KruiseDaemon=%t: answered %s, want %s", on, answer, code)
		}
	}
}

func TestStartFailsWithTheReason(t *testing.T) {
	refuses := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/version" {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"gitVersion":"v1.37.1"}`))
			return
		}
		http.Error(w, "not for you", http.StatusForbidden)
	}))
	defer refuses.Close()
	for name, c := range map[string]struct {
		api  *rest.Config
		want []string
	}{
		"PF-4: no API server":             {nowhere, []string{"the API server http://127.0.0.1:1 does not answer"}},
		"PF-4: registration must succeed": {&rest.Config{Host: refuses.URL}, []string{"not in order after"}},
	} {
		t.Run(name, func(t *testing.T) {
			m := newManager(t, c.api)
			m.patience = time.Second
			err := m.Run(t.Context())
			for _, want := range c.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("Run gives %v, want %q", err, want)
				}
			}
			if _, err := net.Dial("tcp", m.hooks.Address()); err == nil {
				t.Error("the webhook server still listens after Run")
			}
		})
	}
}

func TestNewRefuses(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for want, change := range map[string]func(*Config){
		"--own-namespace=":                    func(c *Config) { c.OwnNamespace = "" },
		"listen tcp " + taken.Addr().String(): func(c *Config) { c.Webhook.BindAddress, c.Webhook.Port = "127.0.0.1", taken.Addr().(*net.TCPAddr).Port },
	} {
		config := mustParse(t)
		change(&config)
		if _, err := New(config); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("New gives %v, want %q", err, want)
		}
	}
}
