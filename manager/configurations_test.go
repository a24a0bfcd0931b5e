// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/internal/testing/patches"
)

// rebuilding is a program and the configuration that it looks at, with the webhooks of which it has a list.
type rebuilding struct {
	builder
	c   admissionv1.MutatingWebhookConfiguration
	own []admissionv1.MutatingWebhook
}

// look rebuilds the configuration, and tells whether that changes anything.
func (r *rebuilding) look() (changed bool, err error) {
	before := r.c.DeepCopy()
	err = rebuild(&r.c.ObjectMeta, &r.c.Webhooks, r.own, r.builder)
	return !apiequality.Semantic.DeepEqual(*before, r.c), err
}

// TestRebuild shows what becomes of configurations in testdata/rebuild.txt. Webhooks are written as merge patches of one.
//
//	webhook          this one
//	program [serves=(path,…)] [url=x] [keep] [inject=x] [condition=(path,expression)]
//	                 what the program serves, and at which paths. Another one writes the CA, by an annotation. A condition on a path
//	rebuild, again   makes the list anew of a new configuration, or of the last one: with metadata, a template, webhooks that stand, and
//	                 those that are the program's own
func TestRebuild(t *testing.T) {
	var one admissionv1.MutatingWebhook
	r := &rebuilding{}
	datadriven.RunTest(t, "testdata/rebuild.txt", func(t *testing.T, d *datadriven.TestData) string {
		switch d.Cmd {
		case "webhook":
			patches.Merge(t, &one, d.Input)
			return ""
		case "program":
			r.builder = builderOf(d)
			return ""
		case "rebuild":
			r = &rebuilding{builder: r.builder}
		}
		return r.rebuilt(t, one, d.Input)
	})
}

func builderOf(d *datadriven.TestData) builder {
	var paths []string
	b := builder{Target: Target{Namespace: "kruise-system", Service: "hooks", CABundle: []byte("ca")}, conditions: map[string]string{}}
	for _, arg := range d.CmdArgs {
		switch arg.Key {
		case "serves":
			paths = arg.Vals
		case "url":
			b.URL = arg.Vals[0]
		case "keep":
			b.KeepCABundles = true
		case "inject":
			b.Annotations = map[string]string{"inject": arg.Vals[0]}
		case "condition":
			b.conditions[arg.Vals[0]] = arg.Vals[1]
		}
	}
	b.serves = func(path string) bool { return slices.Contains(paths, path) }
	return b
}

// rebuilt makes the list anew after changes, and shows the configuration.
func (r *rebuilding) rebuilt(t *testing.T, one admissionv1.MutatingWebhook, changes string) string {
	t.Helper()
	var given struct {
		Metadata                metav1.ObjectMeta
		Template, Standing, Own []json.RawMessage
	}
	if err := yaml.UnmarshalStrict([]byte(changes), &given); err != nil {
		t.Fatal(err)
	}
	webhooks := func(changes []json.RawMessage) (all []admissionv1.MutatingWebhook) {
		for _, patch := range changes {
			webhook := *one.DeepCopy()
			patches.Merge(t, &webhook, string(patch))
			all = append(all, webhook)
		}
		return all
	}
	if r.c.Webhooks == nil {
		r.c.ObjectMeta, r.c.Webhooks = given.Metadata, webhooks(given.Standing)
	}
	if given.Own != nil {
		r.own = webhooks(given.Own)
	}
	if given.Template != nil {
		metav1.SetMetaDataAnnotation(&r.c.ObjectMeta, TemplateAnnotation, patches.JSON(t, webhooks(given.Template)))
	}
	template, own := patches.JSON(t, r.c.Webhooks), patches.JSON(t, r.own)
	if text, found := r.c.Annotations[TemplateAnnotation]; found {
		template = text
	}
	changed, err := r.look()
	if err != nil {
		return fmt.Sprintln("error:", err)
	}
	if again, err := r.look(); err != nil || again {
		t.Errorf("a second look wants another change (%v)", err)
	}
	if patches.JSON(t, r.own) != own {
		t.Error("the program's own list was modified")
	}
	return r.shown(t, one, changed, template)
}

// shown shows webhooks as they differ from the one, and annotations. A template that is as it was before is not shown.
func (r *rebuilding) shown(t *testing.T, one admissionv1.MutatingWebhook, changed bool, template string) string {
	var out strings.Builder
	fmt.Fprintln(&out, map[bool]string{true: "changed", false: "unchanged"}[changed])
	for _, webhook := range r.c.Webhooks {
		name := webhook.Name
		webhook.Name = one.Name
		patch, err := jsonpatch.CreateMergePatch([]byte(patches.JSON(t, one)), []byte(patches.JSON(t, webhook)))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&out, "%s %s\n", name, patch)
	}
	for key, value := range r.c.Annotations {
		if key == TemplateAnnotation && value == template {
			value = "as it was"
		}
		fmt.Fprintf(&out, "%s: %s\n", key, value)
	}
	lines := strings.Split(out.String(), "\n")
	slices.Sort(lines[1+len(r.c.Webhooks) : len(lines)-1])
	return strings.Join(lines, "\n")
}

// PF-5.1: validating webhooks are rebuilt alike, and their template has no field of the others.
func TestRebuildValidating(t *testing.T) {
	target := builder{Target: Target{URL: "https://10.0.0.1:9876"}, serves: func(path string) bool { return path == "/validate-pod" }}
	own := []admissionv1.ValidatingWebhook{
		{Name: "vpod.kb.io", ClientConfig: Target{}.ClientConfig("/validate-pod"), SideEffects: ptr.To(admissionv1.SideEffectClassNone)},
		{Name: "b", ClientConfig: Target{}.ClientConfig("/not-served")},
	}
	for _, labels := range []map[string]string{nil, {managedByLabel: managedBy}} {
		v := &admissionv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Labels: labels}}
		for _, changes := range []bool{true, false} {
			before := v.DeepCopy()
			if err := rebuild(&v.ObjectMeta, &v.Webhooks, own, target); err != nil || apiequality.Semantic.DeepEqual(before, v) == changes {
				t.Errorf("want that validating webhooks change: %t (%v)", changes, err)
			}
			if len(v.Webhooks) != 1 || v.Webhooks[0].SideEffects == nil || *v.Webhooks[0].ClientConfig.URL != target.URL+"/validate-pod" {
				t.Errorf("validating webhooks %+v", v.Webhooks)
			}
		}
		if strings.Contains(v.Annotations[TemplateAnnotation], "reinvocationPolicy") {
			t.Errorf("template %s", v.Annotations[TemplateAnnotation])
		}
	}
}

func FuzzRebuild(f *testing.F) {
	const path = "/mutate-apps-kruise-io-v1alpha1-cloneset"
	f.Add(`[{"name":"mcloneset.kb.io","clientConfig":{"service":{"path":"` + path + `"}}}]`)
	f.Add(`[{"clientConfig":{"url":"https://h` + path + `"},"rules":[{}]}]`)
	f.Add(`null`)
	f.Add(`{`)
	f.Fuzz(func(t *testing.T, template string) {
		r := &rebuilding{builder: builder{Target: Target{Service: "hooks"}, serves: func(p string) bool { return p == path }}}
		r.c.Annotations = map[string]string{TemplateAnnotation: template}
		if _, err := r.look(); err != nil {
			return
		}
		once := r.c.DeepCopy()
		if changed, err := r.look(); err != nil || changed {
			t.Errorf("template %q does not settle (%v):\n%s", template, err, cmp.Diff(*once, r.c))
		}
	})
}
