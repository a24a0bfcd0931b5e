// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

const (
	mutatePath   = "/mutate-apps-kruise-io-v1alpha1-cloneset"
	validatePath = "/validate-apps-kruise-io-v1alpha1-cloneset"
)

// byService and byURL serve the CloneSet webhooks.
var (
	service   = Target{Namespace: "kruise-system", Service: "hooks", CABundle: []byte("ca")}
	byService = builder{Target: service, serves: serves(mutatePath, validatePath)}
	byURL     = builder{Target: Target{URL: "https://10.0.0.1:9876", CABundle: []byte("ca")}, serves: serves(mutatePath, validatePath)}
)

// withPods serves the pod webhook; never is a condition that is never met.
var (
	withPods    = builder{service, serves("/mutate-pod"), map[string]string{"/mutate-pod": "some"}}
	keeping     = builder{Target{Namespace: "kruise-system", Service: "hooks", CABundle: []byte("ca"), KeepCABundles: true}, serves(mutatePath, validatePath, "/mutate-pod"), nil}
	withAllPods = builder{service, serves("/mutate-pod"), map[string]string{"/mutate-pod": "all"}}
	some        = admissionv1.MatchCondition{Name: "would-be-changed", Expression: "some"}
	all         = admissionv1.MatchCondition{Name: "would-be-changed", Expression: "all"}
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

func noCA(w *admissionv1.MutatingWebhook)     { w.ClientConfig.CABundle = nil }
func injected(w *admissionv1.MutatingWebhook) { w.ClientConfig.CABundle = []byte("of another program") }
func ofBoth(w *admissionv1.MutatingWebhook) {
	w.ClientConfig.Service.Path = ptr.To("/mutate-apps-kruise-io-cloneset")
	w.Rules[0].APIVersions = []string{"v1alpha1", "v1beta1"}
}
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

// rebuilt rebuilds a configuration, and tells whether that changes anything.
func rebuilt(c *admissionv1.MutatingWebhookConfiguration, own []admissionv1.MutatingWebhook, target builder) (changed bool, err error) {
	before := c.DeepCopy()
	err = rebuild(&c.ObjectMeta, &c.Webhooks, own, target)
	return !apiequality.Semantic.DeepEqual(before, c), err
}

func TestRebuild(t *testing.T) {
	cloneSet, pod := webhook("mcloneset.kb.io", mutatePath), webhook("mpod.kb.io", "/mutate-pod")
	type hooks = []admissionv1.MutatingWebhook
	cases := map[string]struct {
		target    builder
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
		"PF-5.4: another program writes caBundles: that which stands stays": {
			target: keeping, template: asJSON(t, cloneSet), standing: hooks{change(cloneSet, injected, timeout30)}, want: hooks{change(cloneSet, injected)},
		},
		"PF-5.4: and there may be none": {
			target: keeping, template: asJSON(t, cloneSet), standing: hooks{change(cloneSet, noCA)}, want: hooks{change(cloneSet, noCA)}, unchanged: true,
		},
		"PF-5.4: a new entry has that of its neighbours": {
			target: keeping, template: asJSON(t, cloneSet, pod), standing: hooks{change(pod, injected)}, want: hooks{change(cloneSet, injected), change(pod, injected)},
		},
		"PF-5.4: a list that was emptied has none": {
			target: keeping, template: asJSON(t, cloneSet), want: hooks{change(cloneSet, noCA)},
		},
		"PF-5: a new CA is set": {
			target: byService, template: asJSON(t, cloneSet), standing: hooks{change(cloneSet, noCA)}, want: hooks{cloneSet},
		},
		"PF-5.1: an entry of 1.9, for both versions, asks in the one that is read": {
			target: byService, template: asJSON(t, change(cloneSet, ofBoth, port8443)), standing: hooks{change(cloneSet, ofBoth, port8443)}, want: hooks{change(cloneSet, port8443)},
		},
		"PF-5.1: likewise, by URL": {
			target: byURL, template: asJSON(t, change(cloneSet, ofBoth)), want: hooks{change(cloneSet, atURL)},
		},
		"PF-5.1: an entry of 1.9 that no handler is for goes": {
			target: withPods, template: asJSON(t, change(cloneSet, ofBoth), change(pod, noCA)), want: hooks{change(pod, conditions(some))},
		},
		"PF-5: with a webhook host the Service becomes a URL": {
			target: byURL, template: asJSON(t, cloneSet), standing: hooks{cloneSet}, want: hooks{change(cloneSet, atURL)},
		},
		"PF-5: a template with URLs becomes the Service": {
			target: byService, template: asJSON(t, change(cloneSet, atURL)), standing: hooks{change(cloneSet, atURL)}, want: hooks{cloneSet},
		},
		"pods that the webhook leaves as they are do not need it": {
			target: withPods, template: asJSON(t, change(pod, noCA)), standing: hooks{pod}, want: hooks{change(pod, conditions(some))},
		},
		"with the gate for all pods, all need it": {
			target: withAllPods, template: asJSON(t, change(pod, noCA)), standing: hooks{change(pod, conditions(some))},
			want: hooks{change(pod, conditions(all))},
		},
		"conditions of the template stay": {
			target: withPods, template: asJSON(t, change(pod, conditions(never))), standing: hooks{pod}, want: hooks{change(pod, conditions(never))},
		},
		"a gate that is off leaves no entry": {
			target: builder{Target{Namespace: "n", Service: "s"}, serves(), nil}, template: asJSON(t, cloneSet), standing: hooks{cloneSet},
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
			changed, err := rebuilt(current, nil, c.target)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, current.Webhooks); diff != "" {
				t.Errorf("webhooks (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(wantTemplate, current.Annotations[TemplateAnnotation]); diff != "" {
				t.Errorf("template (-want +got):\n%s", diff)
			}
			if changed == c.unchanged {
				t.Errorf("changed: %v, want %v", changed, !c.unchanged)
			}
			if again, err := rebuilt(current, nil, c.target); err != nil || again {
				t.Errorf("a second look wants another change (%v)", err)
			}
		})
	}
}

// A configuration of our own is rebuilt from our list, without a template: the next version could not add to it.
func TestOwnList(t *testing.T) {
	rules := []admissionv1.RuleWithOperations{{Operations: []admissionv1.OperationType{admissionv1.Create}}}
	own := []admissionv1.MutatingWebhook{{Name: "a", ClientConfig: Target{}.ClientConfig(mutatePath), Rules: rules}, {Name: "b", ClientConfig: Target{}.ClientConfig("/not-served")}}
	c := &admissionv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{managedByLabel: managedBy}}}
	if changed, err := rebuilt(c, own, byURL); err != nil || !changed {
		t.Fatalf("changed %t, error %v", changed, err)
	}
	if len(c.Webhooks) != 1 || c.Webhooks[0].Name != "a" || *c.Webhooks[0].ClientConfig.URL != byURL.URL+mutatePath || c.Webhooks[0].ReinvocationPolicy == nil {
		t.Errorf("PF-5.1: webhooks %+v", c.Webhooks)
	}
	if _, found := c.Annotations[TemplateAnnotation]; found {
		t.Error("a configuration of our own has a template")
	}
	if again, err := rebuilt(c, own, byURL); err != nil || again {
		t.Errorf("a second look wants another change (%v)", err)
	}
	v := &admissionv1.ValidatingWebhookConfiguration{ObjectMeta: c.ObjectMeta}
	ownValidating := []admissionv1.ValidatingWebhook{{Name: "a", ClientConfig: Target{}.ClientConfig(mutatePath), Rules: rules}, {Name: "b", ClientConfig: Target{}.ClientConfig("/not-served")}}
	for _, changes := range []bool{true, false} {
		before := v.DeepCopy()
		if err := rebuild(&v.ObjectMeta, &v.Webhooks, ownValidating, byURL); err != nil || apiequality.Semantic.DeepEqual(before, v) == changes {
			t.Errorf("want that validating webhooks change: %t (%v)", changes, err)
		}
		if len(v.Webhooks) != 1 || v.Webhooks[0].Name != "a" || *v.Webhooks[0].ClientConfig.URL != byURL.URL+mutatePath {
			t.Errorf("PF-5.1: validating webhooks %+v", v.Webhooks)
		}
	}
	if own[0].ClientConfig.URL != nil || own[0].Rules[0].Scope != nil {
		t.Error("the own list was modified")
	}
}

func TestBrokenTemplate(t *testing.T) {
	broken := metav1.ObjectMeta{Annotations: map[string]string{TemplateAnnotation: "{"}}
	_, err := rebuilt(&admissionv1.MutatingWebhookConfiguration{ObjectMeta: broken}, nil, byURL)
	if err == nil || !strings.Contains(err.Error(), `annotation "template"`) {
		t.Errorf("the error does not name the annotation: %v", err)
	}
}

func FuzzRebuild(f *testing.F) {
	f.Add(`[{"name":"mcloneset.kb.io","clientConfig":{"service":{"path":"/mutate-apps-kruise-io-v1alpha1-cloneset"}}}]`)
	f.Add(`[{"clientConfig":{"url":"https://h/mutate-apps-kruise-io-v1alpha1-cloneset"},"rules":[{}]}]`)
	f.Add(`null`)
	f.Add(`{`)
	f.Fuzz(func(t *testing.T, template string) {
		current := &admissionv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{
			Annotations: map[string]string{TemplateAnnotation: template},
		}}
		if _, err := rebuilt(current, nil, byService); err != nil {
			return
		}
		once := current.DeepCopy()
		if changed, err := rebuilt(current, nil, byService); err != nil || changed {
			t.Errorf("template %q does not settle (%v):\n%s", template, err, cmp.Diff(once, current))
		}
	})
}

// PF-5.4: annotations for a program that writes caBundles come beside those that are there.
func TestRebuildAnnotates(t *testing.T) {
	target := keeping
	target.Annotations = map[string]string{"inject": "a/b"}
	c := &admissionv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{
		Labels: map[string]string{managedByLabel: managedBy}, Annotations: map[string]string{"inject": "old", "mine": "stays"},
	}}
	for _, want := range []bool{true, false} {
		if changed, err := rebuilt(c, nil, target); err != nil || changed != want {
			t.Errorf("changed: %t, want %t, error %v", changed, want, err)
		}
	}
	if diff := cmp.Diff(map[string]string{"inject": "a/b", "mine": "stays"}, c.Annotations); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
}

// PF-5: a template of another program, or of a release before, gets the webhooks that it lacks, each once.
func TestTemplateIsOffered(t *testing.T) {
	pod, cloneSet, list := webhook("mpod.kb.io", "/mutate-pod"), webhook("mcloneset.kb.io", mutatePath), webhook("mlater.kb.io", "/mutate-apps-kruise-io-v1alpha1-later")
	names := func(list []admissionv1.MutatingWebhook) (names []string) {
		for i := range list {
			names = append(names, list[i].Name)
		}
		return names
	}
	target := builder{Target: service, serves: func(string) bool { return true }}
	own := []admissionv1.MutatingWebhook{cloneSet, pod}
	c := &admissionv1.MutatingWebhookConfiguration{Webhooks: []admissionv1.MutatingWebhook{change(cloneSet, ofBoth, func(w *admissionv1.MutatingWebhook) { w.Name = "mcloneset-v1beta1.kb.io" })}}
	look := func(step string, changes bool, want ...string) {
		t.Helper()
		changed, err := rebuilt(c, own, target)
		if diff := cmp.Diff(want, names(c.Webhooks)); err != nil || changed != changes || diff != "" {
			t.Errorf("PF-5: %s: changed %t, error %v, webhooks (-want +got):\n%s", step, changed, err, diff)
		}
	}
	look("first contact: one stands under another name and path, one is lacking", true, "mcloneset-v1beta1.kb.io", "mpod.kb.io")
	look("nothing more is added", false, "mcloneset-v1beta1.kb.io", "mpod.kb.io")
	own = append(own, list)
	look("a release that has one more", true, "mcloneset-v1beta1.kb.io", "mpod.kb.io", "mlater.kb.io")
	c.Annotations[TemplateAnnotation] = asJSON(t, pod)
	look("a user takes two away", true, "mpod.kb.io")
	look("they stay away", false, "mpod.kb.io")
	own = own[1:]
	look("one is served no more", false, "mpod.kb.io")
	if got := c.Annotations[offeredAnnotation]; got != "mcloneset.kb.io mlater.kb.io mpod.kb.io" {
		t.Errorf("PF-5: offered are %q", got)
	}
	v := &admissionv1.ValidatingWebhookConfiguration{}
	validating := []admissionv1.ValidatingWebhook{{Name: "vpod.kb.io", ClientConfig: service.ClientConfig("/validate-pod"), SideEffects: ptr.To(admissionv1.SideEffectClassNone)}}
	if err := rebuild(&v.ObjectMeta, &v.Webhooks, validating, target); err != nil || len(v.Webhooks) != 1 || v.Webhooks[0].SideEffects == nil || strings.Contains(v.Annotations[TemplateAnnotation], "reinvocationPolicy") {
		t.Errorf("PF-5: validating webhooks %+v, error %v, template %s", v.Webhooks, err, v.Annotations[TemplateAnnotation])
	}
}
