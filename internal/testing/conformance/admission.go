// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// Admission describes the webhook of a kind to scripts. [PlayAdmission] plays them.
type Admission struct {
	Kind, Resource string
	// Group is that of the kind, by default apps.kruise.io; that of pods is "core".
	Group string
	// Versions are those of the kind; a script is about the first one unless it names others.
	Versions []string
	// Object is a valid object, in YAML. By default it is a workload with Selector and Template.
	Object string
	// New makes a webhook for the arguments of a command, by their keys.
	New func(args map[string][]string) Served
	// Asked shows what the last webhook has asked others. It may be nil.
	Asked func() string
	// Short writes out objects that the scripts of a kind have a short form for. It may be nil.
	Short func(object string) string
	// shown makes answers the same for all kinds. It may be nil.
	shown func(answer string) string
}

// PlayAdmission plays what webhooks say of objects, in the files of a folder. To accept a change of behaviour, run the test with -rewrite and read
// the difference. A line is an object: the fields that it has in its spec, beside those of a valid one, in YAML. The field metadata is merged into
// its metadata, and template into its template, by JSON merge patch; status is its status. The user jane writes it. Behind <= stands what is stored. Behind # stands what the
// line shows. "raw" is followed by bytes that are no JSON.
//
//	create, update, delete    what is said of it, and warnings
//	default                   the patch of what is created, or changed
//	served                    at which paths, and what the webhook has to read, without lines
//
// Arguments are versions, of which each is to say the same, and options=(a,b): fields of the webhook, or of its Features, that are true. Others are
// kind=, group=, subresource= and operation= of the request, and those of the kind.
func PlayAdmission(t *testing.T, folder string, k Admission) {
	datadriven.Walk(t, folder, func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var out strings.Builder
			if d.Cmd == "served" {
				return k.served(t, d)
			}
			for line := range strings.Lines(d.Input) {
				line, name, named := strings.Cut(strings.TrimSpace(line), " # ")
				if !named {
					name = line
				}
				fmt.Fprintf(&out, "%s:%s\n", name, k.said(t, d, line))
			}
			return out.String()
		})
	})
}

// PlayWorkload plays, for a kind with claim templates, what the webhooks of all such kinds say. It is about selectors, templates, claim templates
// and the label of deletion protection. Its valid object has all defaults but those of the template. InPlaceOnly is the field of the update strategy, below
// updateStrategy, that says that pods are only updated in place. In the scripts stand KIND and FIELD for the kind and this field.
func PlayWorkload(t *testing.T, k Admission, inPlaceOnly string) {
	strategy := "InPlaceOnly"
	for _, name := range slices.Backward(strings.Split(inPlaceOnly, ".")) {
		strategy = "{" + name + ": " + strategy + "}"
	}
	k.Short = strings.NewReplacer("updateStrategy: InPlaceOnly", "updateStrategy: "+strategy).Replace
	k.shown = strings.NewReplacer(k.Kind, "KIND", "updateStrategy."+inPlaceOnly, "updateStrategy.FIELD").Replace
	PlayAdmission(t, "../../internal/testing/conformance/testdata/workloads", k)
}

// said is what the webhook says of a line.
func (k *Admission) said(t *testing.T, d *datadriven.TestData, line string) (said string) {
	t.Helper()
	versions, webhooks := k.arguments(t, d)
	for i, version := range versions {
		r := k.request(t, d, version, line)
		text := answered(k.ask(t, webhooks(), d.Cmd == "default", r))
		if k.shown != nil {
			text = k.shown(text)
		}
		if k.Asked != nil {
			text += k.Asked()
		}
		if i > 0 && text != said {
			t.Errorf("%s: %s: %s says\n%s\nand %s\n%s", d.Pos, line, versions[0], said, version, text)
		}
		said = text
	}
	return said
}

// arguments are the versions that a command names, and what makes its webhooks.
func (k *Admission) arguments(t *testing.T, d *datadriven.TestData) (versions []string, webhooks func() Served) {
	args := map[string][]string{}
	for _, arg := range d.CmdArgs {
		if args[arg.Key] = arg.Vals; arg.Vals == nil {
			versions = append(versions, arg.Key)
		}
	}
	if versions == nil {
		versions = append(slices.Clip(k.Versions), "v1alpha1")[:1]
	}
	return versions, func() Served {
		webhook := k.New(args)
		switchOn(t, webhook, args["options"])
		return webhook
	}
}

// ask asks a webhook for defaults or for a verdict, as the API server does if it could send the request.
func (k *Admission) ask(t *testing.T, webhook Served, defaults bool, r *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	t.Helper()
	verb := "/validate-"
	if defaults {
		verb = "/mutate-"
	}
	review := &admissionv1.AdmissionReview{TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"}, Request: r}
	body, unsendable := json.Marshal(review)
	for path, handler := range webhook.Handlers() {
		if !strings.HasPrefix(path, verb) || !strings.HasSuffix(path, "-"+strings.ToLower(k.Kind)) || unsendable != nil {
			continue
		}
		answer, post := httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, bytes.NewReader(body))
		post.Header.Set("Content-Type", "application/json")
		handler.ServeHTTP(answer, post)
		if err := json.Unmarshal(answer.Body.Bytes(), review); err != nil || review.Response == nil || review.Response.UID != r.UID {
			t.Fatalf("%s: error %v, answer %s", path, err, answer.Body)
		}
		return review.Response
	}
	if defaulting, is := webhook.(defaulter); is && defaults {
		return defaulting.Default(t.Context(), r)
	}
	if validating, is := webhook.(validator); is && !defaults {
		return validating.Validate(t.Context(), r)
	}
	t.Fatal("the webhook does not answer that")
	return nil
}

// served shows the paths and the rights of a webhook.
func (k *Admission) served(t *testing.T, d *datadriven.TestData) string {
	_, webhooks := k.arguments(t, d)
	webhook := webhooks()
	var out strings.Builder
	for _, path := range slices.Sorted(maps.Keys(webhook.Handlers())) {
		fmt.Fprintln(&out, path)
	}
	if ruled, is := webhook.(interface{ Rules() []rbacv1.PolicyRule }); is {
		for _, rule := range ruled.Rules() {
			fmt.Fprintf(&out, "may %s %s of %q\n", strings.Join(rule.Verbs, ", "), strings.Join(rule.Resources, ", "), rule.APIGroups)
		}
	}
	return out.String()
}

// switchOn sets fields of a webhook to true.
func switchOn(t *testing.T, webhook Served, options []string) {
	t.Helper()
	of := reflect.ValueOf(webhook).Elem()
	for _, name := range options {
		switch features := of.FieldByName("Features"); {
		case of.FieldByName(name).IsValid():
			of.FieldByName(name).SetBool(true)
		case features.IsValid() && features.FieldByName(name).IsValid():
			features.FieldByName(name).SetBool(true)
		default:
			t.Fatalf("no option %s", name)
		}
	}
}

// request is that of a line.
func (k *Admission) request(t *testing.T, d *datadriven.TestData, version, line string) *admissionv1.AdmissionRequest {
	t.Helper()
	object, old, stored := strings.Cut(line, " <=")
	group, kind := strings.TrimSuffix(cmp.Or(k.Group, "apps.kruise.io"), "core"), k.Kind
	meta := k.valid(t).Metadata
	r := &admissionv1.AdmissionRequest{UID: "r1", Operation: admissionv1.Create, Namespace: meta.Namespace, Name: meta.Name,
		UserInfo: authenticationv1.UserInfo{Username: "jane"},
		Resource: metav1.GroupVersionResource{Group: group, Version: version, Resource: k.Resource}}
	switch r.Object.Raw = k.object(t, version, object); {
	case d.Cmd == "delete":
		r.Operation, r.Object.Raw, r.OldObject.Raw = admissionv1.Delete, nil, r.Object.Raw
	case stored:
		r.Operation, r.OldObject = admissionv1.Update, runtime.RawExtension{Raw: k.object(t, version, strings.TrimSpace(old))}
	}
	for _, arg := range d.CmdArgs {
		value := strings.Join(arg.Vals, ",")
		switch arg.Key {
		case "kind":
			kind = value
		case "group":
			group = value
		case "subresource":
			r.SubResource = value
		case "operation":
			r.Operation = admissionv1.Operation(value)
		}
	}
	r.Kind = metav1.GroupVersionKind{Group: group, Version: version, Kind: kind}
	return r
}

// valid is the object that lines change.
func (k *Admission) valid(t *testing.T) (valid struct {
	Metadata metav1.ObjectMeta
	Meta     json.RawMessage
	Spec     map[string]json.RawMessage
}) {
	t.Helper()
	const workload = `{"metadata":{"name":"demo","namespace":"shop","uid":"u1"},"spec":{"selector":` + Selector + `,"template":`
	parts := map[string]json.RawMessage{}
	err := yaml.Unmarshal([]byte(cmp.Or(k.Object, workload+Template("", "", "")+`}}`)), &parts)
	valid.Meta, valid.Spec = parts["metadata"], map[string]json.RawMessage{}
	if err = errors.Join(err, json.Unmarshal(valid.Meta, &valid.Metadata)); parts["spec"] != nil {
		err = errors.Join(err, json.Unmarshal(parts["spec"], &valid.Spec))
	}
	if err != nil {
		t.Fatal(err)
	}
	return valid
}

// object is the JSON of an object.
func (k *Admission) object(t *testing.T, version, text string) []byte {
	t.Helper()
	if raw, is := strings.CutPrefix(text, "raw"); is {
		return []byte(strings.TrimSpace(raw))
	}
	must := func(err error) {
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	if k.Short != nil {
		text = k.Short(text)
	}
	fields, valid := map[string]json.RawMessage{}, k.valid(t)
	must(yaml.Unmarshal([]byte(text), &fields))
	merged := func(base json.RawMessage, field string) json.RawMessage {
		patch := fields[field]
		if delete(fields, field); patch == nil {
			return base
		}
		data, err := jsonpatch.MergePatch(base, patch)
		must(err)
		return data
	}
	group := strings.TrimPrefix(cmp.Or(k.Group, "apps.kruise.io")+"/", "core/")
	all := map[string]any{"apiVersion": group + version, "kind": k.Kind, "metadata": merged(valid.Meta, "metadata"), "spec": valid.Spec}
	if template := valid.Spec["template"]; template != nil && string(fields["template"]) != "null" {
		valid.Spec["template"] = merged(template, "template")
	}
	if status := fields["status"]; status != nil {
		all["status"] = status
		delete(fields, "status")
	}
	maps.Copy(valid.Spec, fields)
	data, err := json.Marshal(all)
	must(err)
	return data
}

// answered shows an answer: a patch, or what is wrong, and warnings.
func answered(r *admissionv1.AdmissionResponse) string {
	text := " allowed"
	switch {
	case !r.Allowed && r.Result.Code == http.StatusUnprocessableEntity:
		text = fmt.Sprintf(" %d", r.Result.Code)
		for _, cause := range r.Result.Details.Causes {
			text += fmt.Sprintf("\n    %s: %s", cause.Field, cause.Message)
		}
	case !r.Allowed:
		text = fmt.Sprintf(" %d %s", r.Result.Code, r.Result.Message)
	case len(r.Patch) > 0:
		text = "\n    " + string(r.Patch)
	}
	for _, warning := range r.Warnings {
		text += "\n    warning: " + warning
	}
	return text
}
