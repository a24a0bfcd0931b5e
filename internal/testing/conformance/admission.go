// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// Admission describes the webhook of a kind of workload to scripts. [PlayAdmission] plays them.
type Admission struct {
	Kind, Resource string
	// Versions are those of the kind; a script is about the first one unless it names others.
	Versions []string
	// Spec is the JSON of the spec of a valid workload. By default it is Selector and Template.
	Spec string
	// New makes a webhook for the arguments of a command, by their keys.
	New func(args map[string][]string) AdmissionHandler
	// Asked shows what the last webhook has asked others. It may be nil.
	Asked func() string
	// Short writes out workloads that the scripts of a kind have a short form for. It may be nil.
	Short func(workload string) string
}

// PlayAdmission plays what webhooks say of workloads, in the files of a folder. To accept a change of behaviour, run the test with -rewrite and read
// the difference. A line is a workload: the fields that it has in its spec, beside those of a valid one, in YAML. The field metadata is merged into
// its metadata, and template into its template, by JSON merge patch. Behind <= stands what is stored. Behind # stands what the line shows. "raw" is
// followed by bytes that are no JSON.
//
//	create, update, delete    what is said of it, and warnings
//	default                   the patch of what is created, or changed
//
// Arguments are versions, of which each is to say the same, and options=(a,b): fields of the webhook, or of its Features, that are true. Others are
// kind=, group=, subresource= and operation= of the request, and those of the kind.
func PlayAdmission(t *testing.T, folder string, k Admission) {
	datadriven.Walk(t, folder, func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var out strings.Builder
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

// said is what the webhook says of a line.
func (k *Admission) said(t *testing.T, d *datadriven.TestData, line string) (said string) {
	t.Helper()
	var versions []string
	args := map[string][]string{}
	for _, arg := range d.CmdArgs {
		if args[arg.Key] = arg.Vals; arg.Vals == nil {
			versions = append(versions, arg.Key)
		}
	}
	if versions == nil {
		versions = k.Versions[:1]
	}
	for i, version := range versions {
		r := k.request(t, d, version, line)
		webhook := k.New(args)
		switchOn(t, webhook, args["options"])
		text := ""
		if d.Cmd == "default" {
			text = answered(webhook.Default(t.Context(), r))
		} else {
			text = answered(webhook.Validate(t.Context(), r))
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

// switchOn sets fields of a webhook to true.
func switchOn(t *testing.T, webhook AdmissionHandler, options []string) {
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
	group, kind := "apps.kruise.io", k.Kind
	r := &admissionv1.AdmissionRequest{UID: "r1", Operation: admissionv1.Create, Namespace: "shop", Name: "demo",
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

// object is the JSON of a workload.
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
	spec := map[string]json.RawMessage{}
	must(yaml.Unmarshal([]byte(text), &spec))
	merged := func(base, field string) json.RawMessage {
		patch := spec[field]
		if delete(spec, field); patch == nil {
			return json.RawMessage(base)
		}
		data, err := jsonpatch.MergePatch([]byte(base), patch)
		must(err)
		return data
	}
	all := map[string]json.RawMessage{}
	must(json.Unmarshal([]byte(cmp.Or(k.Spec, `{"selector":`+Selector+`,"template":`+Template("", "", "")+`}`)), &all))
	meta := merged(`{"name":"demo","namespace":"shop","uid":"u1"}`, "metadata")
	if all["template"] != nil {
		all["template"] = merged(string(all["template"]), "template")
	}
	maps.Copy(all, spec)
	data, err := json.Marshal(map[string]any{"apiVersion": "apps.kruise.io/" + version, "kind": k.Kind, "metadata": meta, "spec": all})
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
