package registration

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/lifecycle/launchpriority"
	"github.com/podwright/podwright/lifecycle/podreadiness"
)

const (
	mutatePath   = "/mutate-apps-kruise-io-v1alpha1-cloneset"
	validatePath = "/validate-apps-kruise-io-v1alpha1-cloneset"
)

// byService and byURL serve the CloneSet webhooks.
var (
	byService = Target{Namespace: "kruise-system", Service: "hooks", CABundle: []byte("ca"), Serves: serves(mutatePath, validatePath)}
	byURL     = Target{URL: "https://10.0.0.1:9876", CABundle: []byte("ca"), Serves: serves(mutatePath, validatePath)}
)

// withPods serves the pod webhook; never is a condition that is never met.
var (
	withPods    = Target{Namespace: "kruise-system", Service: "hooks", CABundle: []byte("ca"), Serves: serves("/mutate-pod")}
	withAllPods = Target{Namespace: "kruise-system", Service: "hooks", CABundle: []byte("ca"), Serves: serves("/mutate-pod"), AllPods: true}
	never       = admissionv1.MatchCondition{Name: "never", Expression: "false"}
)

func conditions(conditions ...admissionv1.MatchCondition) func(*admissionv1.MutatingWebhook) {
	return func(w *admissionv1.MutatingWebhook) { w.MatchConditions = conditions }
}

func serves(paths ...string) func(string) bool {
	return func(path string) bool { return slices.Contains(paths, path) }
}

// webhook is one as the API server stores it.
func webhook(name, path string) admissionv1.MutatingWebhook {
	return admissionv1.MutatingWebhook{
		Name: name,
		ClientConfig: admissionv1.WebhookClientConfig{
			Service:  &admissionv1.ServiceReference{Namespace: "kruise-system", Name: "hooks", Path: &path, Port: ptr.To[int32](443)},
			CABundle: []byte("ca"),
		},
		Rules: []admissionv1.RuleWithOperations{{Rule: admissionv1.Rule{
			APIGroups: []string{"apps.kruise.io"}, APIVersions: []string{"v1alpha1"}, Resources: []string{"clonesets"}, Scope: ptr.To(admissionv1.AllScopes),
		}}},
		FailurePolicy: ptr.To(admissionv1.Fail), MatchPolicy: ptr.To(admissionv1.Equivalent),
		NamespaceSelector: &metav1.LabelSelector{}, ObjectSelector: &metav1.LabelSelector{},
		TimeoutSeconds: ptr.To[int32](10), ReinvocationPolicy: ptr.To(admissionv1.NeverReinvocationPolicy),
	}
}

// change returns a webhook after a change.
func change(w admissionv1.MutatingWebhook, changes ...func(*admissionv1.MutatingWebhook)) admissionv1.MutatingWebhook {
	w = *w.DeepCopy()
	for _, change := range changes {
		change(&w)
	}
	return w
}

func noCA(w *admissionv1.MutatingWebhook)      { w.ClientConfig.CABundle = nil }
func timeout30(w *admissionv1.MutatingWebhook) { w.TimeoutSeconds = ptr.To[int32](30) }
func port8443(w *admissionv1.MutatingWebhook)  { w.ClientConfig.Service.Port = ptr.To[int32](8443) }
func elsewhere(w *admissionv1.MutatingWebhook) { w.ClientConfig.Service.Namespace = "elsewhere" }
func atURL(w *admissionv1.MutatingWebhook) {
	w.ClientConfig.URL = ptr.To("https://10.0.0.1:9876" + *w.ClientConfig.Service.Path)
	w.ClientConfig.Service = nil
}

func bare(w *admissionv1.MutatingWebhook) {
	w.ClientConfig.CABundle, w.ClientConfig.Service.Port, w.Rules[0].Scope = nil, nil, nil
	w.FailurePolicy, w.MatchPolicy, w.NamespaceSelector, w.ObjectSelector = nil, nil, nil, nil
	w.TimeoutSeconds, w.ReinvocationPolicy = nil, nil
}

func asJSON(t *testing.T, list ...admissionv1.MutatingWebhook) string {
	t.Helper()
	text, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestMutating(t *testing.T) {
	cloneSet, pod := webhook("mcloneset.kb.io", mutatePath), webhook("mpod.kb.io", "/mutate-pod")
	type hooks = []admissionv1.MutatingWebhook
	cases := map[string]struct {
		target    Target
		template  string // "": no annotation yet
		standing  hooks
		want      hooks
		unchanged bool
	}{
		"PF-5: first contact drops paths without a handler": {
			target: byService, standing: hooks{change(cloneSet, noCA), pod}, want: hooks{cloneSet},
		},
		"PF-5: the list is rebuilt from the template": {
			target: byService, template: asJSON(t, change(cloneSet, noCA), pod), standing: hooks{pod}, want: hooks{cloneSet},
		},
		"PF-5: nothing changes where the list stands": {
			target: byService, template: asJSON(t, change(cloneSet, noCA), pod), standing: hooks{cloneSet}, want: hooks{cloneSet}, unchanged: true,
		},
		"PF-5: API defaults that the template omits are no difference": {
			target: byService, template: asJSON(t, change(cloneSet, bare)), standing: hooks{cloneSet}, want: hooks{cloneSet}, unchanged: true,
		},
		"PF-5: a hand edit is reverted": {
			target: byService, template: asJSON(t, cloneSet), standing: hooks{change(cloneSet, timeout30)}, want: hooks{cloneSet},
		},
		"PF-5: an edit of the annotation counts": {
			target: byService, template: asJSON(t, change(cloneSet, timeout30)), standing: hooks{cloneSet}, want: hooks{change(cloneSet, timeout30)},
		},
		"PF-5: an emptied list is rebuilt": {
			target: byService, template: asJSON(t, cloneSet), want: hooks{cloneSet},
		},
		"PF-5: namespace and name of the Service are set, its port stays": {
			target: byService, template: asJSON(t, change(cloneSet, elsewhere, port8443)), standing: hooks{cloneSet}, want: hooks{change(cloneSet, port8443)},
		},
		"PF-5: a new CA is set": {
			target: byService, template: asJSON(t, cloneSet), standing: hooks{change(cloneSet, noCA)}, want: hooks{cloneSet},
		},
		"PF-5: with a webhook host the Service becomes a URL": {
			target: byURL, template: asJSON(t, cloneSet), standing: hooks{cloneSet}, want: hooks{change(cloneSet, atURL)},
		},
		"PF-5: a template with URLs becomes the Service": {
			target: byService, template: asJSON(t, change(cloneSet, atURL)), standing: hooks{change(cloneSet, atURL)}, want: hooks{cloneSet},
		},
		"pods that the webhook leaves as they are do not need it": {
			target: withPods, template: asJSON(t, change(pod, noCA)), standing: hooks{pod}, want: hooks{change(pod, conditions(podConditions(withPods)...))},
		},
		"with the gate for all pods, all need it": {
			target: withAllPods, template: asJSON(t, change(pod, noCA)), standing: hooks{change(pod, conditions(podConditions(withPods)...))},
			want: hooks{change(pod, conditions(podConditions(withAllPods)...))},
		},
		"conditions of the template stay": {
			target: withPods, template: asJSON(t, change(pod, conditions(never))), standing: hooks{pod}, want: hooks{change(pod, conditions(never))},
		},
		"a gate that is off leaves no entry": {
			target: Target{Namespace: "n", Service: "s", Serves: serves()}, template: asJSON(t, cloneSet), standing: hooks{cloneSet},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			current := &admissionv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: MutatingName}, Webhooks: c.standing}
			wantTemplate := asJSON(t, c.standing...)
			if c.template != "" {
				wantTemplate = c.template
				current.Annotations = map[string]string{TemplateAnnotation: c.template}
			}
			before := current.DeepCopy()
			got, err := Mutating(current, c.target)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got.Webhooks); diff != "" {
				t.Errorf("webhooks (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(wantTemplate, got.Annotations[TemplateAnnotation]); diff != "" {
				t.Errorf("template (-want +got):\n%s", diff)
			}
			if (got == current) != c.unchanged {
				t.Errorf("unchanged: %v, want %v", got == current, c.unchanged)
			}
			if diff := cmp.Diff(before, current); diff != "" {
				t.Errorf("the object of the cache was modified:\n%s", diff)
			}
			again, err := Mutating(got, c.target)
			if err != nil || again != got {
				t.Errorf("a second look wants another change (%v):\n%s", err, cmp.Diff(got, again))
			}
		})
	}
}

// Pods of the manager's own namespace never wait for a manager that gives a gate to all.
func TestConditionsOfAllPods(t *testing.T) {
	some, all := podConditions(withPods)[0].Expression, podConditions(withAllPods)[0].Expression
	if rest, found := strings.CutPrefix(all, some); !found || !strings.HasPrefix(rest, ` || request.namespace != 'kruise-system' && (`) {
		t.Errorf("for all pods: %s", all)
	}
	for _, expression := range []string{launchpriority.MatchExpression, podreadiness.MatchExpression} {
		if !strings.Contains(some, "("+expression+")") {
			t.Errorf("%s: lacks %s", some, expression)
		}
	}
}

func TestOwnConfigurations(t *testing.T) {
	mutating, err := Mutating(nil, byURL)
	if err != nil {
		t.Fatal(err)
	}
	validating, err := Validating(nil, byURL)
	if err != nil {
		t.Fatal(err)
	}
	if mutating.Name != "kruise-mutating-webhook-configuration" || validating.Name != "kruise-validating-webhook-configuration" {
		t.Errorf("names %s and %s", mutating.Name, validating.Name)
	}
	got := map[string]string{}
	for _, w := range mutating.Webhooks {
		got[w.Name] = *w.ClientConfig.URL
	}
	for _, w := range validating.Webhooks {
		got[w.Name] = *w.ClientConfig.URL
	}
	want := map[string]string{
		"mcloneset.kb.io": "https://10.0.0.1:9876" + mutatePath,
		"vcloneset.kb.io": "https://10.0.0.1:9876" + validatePath,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("PF-5.1: what we serve (-want +got):\n%s", diff)
	}
	if _, found := mutating.Annotations[TemplateAnnotation]; found {
		t.Error("a configuration of our own has a template: the next version could not add to it")
	}
	if again, err := Mutating(mutating, byURL); err != nil || again != mutating {
		t.Errorf("a second look at our own wants a change (%v):\n%s", err, cmp.Diff(mutating, again))
	}
	if again, err := Validating(validating, byURL); err != nil || again != validating {
		t.Errorf("a second look at our own wants a change (%v):\n%s", err, cmp.Diff(validating, again))
	}
}

// All webhooks of our own configurations, as they stand when everything is served.
func TestBuiltin(t *testing.T) {
	everything := byURL
	everything.Serves = func(string) bool { return true }
	mutating, err := Mutating(nil, everything)
	if err != nil {
		t.Fatal(err)
	}
	validating, err := Validating(nil, everything)
	if err != nil {
		t.Fatal(err)
	}
	describe := func(name string, client admissionv1.WebhookClientConfig, rules []admissionv1.RuleWithOperations) string {
		rule := rules[0]
		return fmt.Sprint(name, " ", strings.TrimPrefix(*client.URL, everything.URL), " ", rule.Operations, rule.Resources, rule.APIGroups, rule.APIVersions)
	}
	var got []string
	for _, w := range mutating.Webhooks {
		got = append(got, describe(w.Name, w.ClientConfig, w.Rules))
	}
	for _, w := range validating.Webhooks {
		got = append(got, describe(w.Name, w.ClientConfig, w.Rules))
	}
	want := []string{
		"mpod.kb.io /mutate-pod [CREATE] [pods] [] [v1]",
		"mcloneset.kb.io /mutate-apps-kruise-io-v1alpha1-cloneset [CREATE UPDATE] [clonesets] [apps.kruise.io] [v1alpha1]",
		"mstatefulset.kb.io /mutate-apps-kruise-io-statefulset [CREATE UPDATE] [statefulsets] [apps.kruise.io] [v1alpha1 v1beta1]",
		"mimagepulljob.kb.io /mutate-apps-kruise-io-v1alpha1-imagepulljob [CREATE UPDATE] [imagepulljobs] [apps.kruise.io] [v1alpha1]",
		"mnodeimage.kb.io /mutate-apps-kruise-io-v1alpha1-nodeimage [CREATE UPDATE] [nodeimages] [apps.kruise.io] [v1alpha1]",
		"mcontainerrecreaterequest.kb.io /mutate-apps-kruise-io-v1alpha1-containerrecreaterequest [CREATE UPDATE] [containerrecreaterequests] [apps.kruise.io] [v1alpha1]",
		"vcloneset.kb.io /validate-apps-kruise-io-v1alpha1-cloneset [CREATE UPDATE DELETE] [clonesets] [apps.kruise.io] [v1alpha1]",
		"vstatefulset.kb.io /validate-apps-kruise-io-statefulset [CREATE UPDATE DELETE] [statefulsets] [apps.kruise.io] [v1alpha1 v1beta1]",
		"vimagepulljob.kb.io /validate-apps-kruise-io-v1alpha1-imagepulljob [CREATE UPDATE] [imagepulljobs] [apps.kruise.io] [v1alpha1]",
		"vnodeimage.kb.io /validate-apps-kruise-io-v1alpha1-nodeimage [CREATE UPDATE] [nodeimages] [apps.kruise.io] [v1alpha1]",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("PF-5.1: the webhooks (-want +got):\n%s", diff)
	}
}

func TestBrokenTemplate(t *testing.T) {
	broken := metav1.ObjectMeta{Annotations: map[string]string{TemplateAnnotation: "{"}}
	_, errMutating := Mutating(&admissionv1.MutatingWebhookConfiguration{ObjectMeta: broken}, byURL)
	_, errValidating := Validating(&admissionv1.ValidatingWebhookConfiguration{ObjectMeta: broken}, byURL)
	for _, err := range []error{errMutating, errValidating} {
		if err == nil || !strings.Contains(err.Error(), `annotation "template"`) || !strings.Contains(err.Error(), "-webhook-configuration") {
			t.Errorf("the error does not name the object and its annotation: %v", err)
		}
	}
}

func FuzzMutating(f *testing.F) {
	f.Add(`[{"name":"mcloneset.kb.io","clientConfig":{"service":{"path":"/mutate-apps-kruise-io-v1alpha1-cloneset"}}}]`)
	f.Add(`[{"clientConfig":{"url":"https://h/mutate-apps-kruise-io-v1alpha1-cloneset"},"rules":[{}]}]`)
	f.Add(`null`)
	f.Add(`{`)
	f.Fuzz(func(t *testing.T, template string) {
		current := &admissionv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{
			Annotations: map[string]string{TemplateAnnotation: template},
		}}
		once, err := Mutating(current, byService)
		if err != nil {
			return
		}
		twice, err := Mutating(once, byService)
		if err != nil || twice != once {
			t.Errorf("template %q does not settle (%v):\n%s", template, err, cmp.Diff(once, twice))
		}
	})
}
