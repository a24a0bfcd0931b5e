// SPDX-License-Identifier: Apache-2.0

package sidecarset_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	admissionv1 "k8s.io/api/admission/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/podwright/podwright/internal/testing/conformance"
	"github.com/podwright/podwright/sidecar/sidecarset"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// known is an AdmissionReader of what it holds; with an error it knows nothing.
type known struct {
	sets       []*v1alpha1.SidecarSet
	namespaces []*corev1.Namespace
	revisions  []*appsv1.ControllerRevision
	config     *corev1.ConfigMap
	err        error
}

func (k *known) SidecarSets(context.Context) ([]*v1alpha1.SidecarSet, error) { return k.sets, k.err }
func (k *known) SidecarSetsFor(context.Context, string, map[string]string) ([]*v1alpha1.SidecarSet, error) {
	return k.sets, k.err
}
func (k *known) Namespace(_ context.Context, name string) (*corev1.Namespace, error) {
	at := slices.IndexFunc(k.namespaces, func(n *corev1.Namespace) bool { return n.Name == name })
	if at < 0 {
		return nil, k.err
	}
	return k.namespaces[at], k.err
}
func (k *known) Revisions(context.Context, string) ([]*appsv1.ControllerRevision, error) {
	return k.revisions, k.err
}
func (k *known) Configuration(context.Context) (*corev1.ConfigMap, error) { return k.config, k.err }

// setWith is the JSON of a valid SidecarSet with some more fields in its spec.
func setWith(fields string) string {
	if fields != "" {
		fields += ","
	}
	return `{"metadata":{"name":"demo","uid":"u1"},"spec":{` + fields + `"selector":{"matchLabels":{"app":"web"}},"containers":[{"name":"log","image":"busybox:1.0"}]}}`
}

func request(op admissionv1.Operation, object, old string) *admissionv1.AdmissionRequest {
	return &admissionv1.AdmissionRequest{
		UID: "r1", Operation: op, Name: "demo",
		Kind:     metav1.GroupVersionKind{Group: "apps.kruise.io", Version: "v1alpha1", Kind: "SidecarSet"},
		Resource: metav1.GroupVersionResource{Group: "apps.kruise.io", Version: "v1alpha1", Resource: "sidecarsets"},
		Object:   runtime.RawExtension{Raw: []byte(object)}, OldObject: runtime.RawExtension{Raw: []byte(old)},
	}
}

// The hashes are those of the worked example, whatever the user says they are.
func TestWebhookDefault(t *testing.T) {
	const hashes = `{"kruise.io/sidecarset-hash":"v584b24czd84bc2449cvxxvc5z44587xz782bwxz2v799cz2cfbxbw62z94fw9dv",` +
		`"kruise.io/sidecarset-hash-without-image":"4424wfff8b57d47vb7684zc4bb5478vxwwdcz7dd2xdwbf4d4446424d4w29cwd5"}`
	forged := strings.Replace(setWith(""), `"name":"demo"`, `"name":"demo","annotations":{"a":"b","kruise.io/sidecarset-hash":"forged"}`, 1)
	for _, test := range []struct{ name, object, old, want string }{
		{"SCS-W1: create", setWith(""), "", hashes},
		{"SCS-W1: update", setWith(""), setWith(""), hashes},
		{"SCS-W1: hashes that users give", forged, "", `{"a":"b",` + hashes[1:]},
	} {
		t.Run(test.name, func(t *testing.T) {
			operation := admissionv1.Create
			if test.old != "" {
				operation = admissionv1.Update
			}
			got := applied(t, &sidecarset.Webhook{}, request(operation, test.object, test.old))
			var want map[string]string
			if err := json.Unmarshal([]byte(test.want), &want); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got.Annotations); diff != "" {
				t.Errorf("annotations (-want +got):\n%s", diff)
			}
			if got.Spec.RevisionHistoryLimit == nil || *got.Spec.RevisionHistoryLimit != 10 || got.Spec.Containers[0].PodInjectPolicy != "BeforeAppContainer" {
				t.Errorf("SCS-W1: no defaults in %+v", got.Spec)
			}
		})
	}
}

// applied is the object of a request after the patch that Default answers.
func applied(t *testing.T, webhook *sidecarset.Webhook, r *admissionv1.AdmissionRequest) *v1alpha1.SidecarSet {
	t.Helper()
	response := webhook.Default(t.Context(), r)
	if !response.Allowed {
		t.Fatalf("refused: %v", response.Result)
	}
	patch, err := jsonpatch.DecodePatch(response.Patch)
	if err != nil {
		t.Fatal(err)
	}
	object, err := patch.Apply(r.Object.Raw)
	if err != nil {
		t.Fatal(err)
	}
	set := &v1alpha1.SidecarSet{}
	if err := json.Unmarshal(object, set); err != nil {
		t.Fatal(err)
	}
	return set
}

func TestWebhookValidate(t *testing.T) {
	const revision = `"injectionStrategy":{"revision":{"revisionName":"%s"}}`
	const invalid = `500 SidecarSet.apps.kruise.io "demo" is invalid: `
	const patched = `"patchPodMetadata":[{"annotations":{"a":"b"}}]`
	other := setOf(t, "other", "{volumes: [{name: v, emptyDir: {}}]}")
	reader := &known{
		sets: []*v1alpha1.SidecarSet{setOf(t, "demo", "{}"), setOf(t, "elsewhere", "{namespaceSelector: {matchLabels: {team: a}}}"), setOf(t, "bank", "{selector: {matchLabels: {app: db}}}")},
		revisions: []*appsv1.ControllerRevision{{ObjectMeta: metav1.ObjectMeta{Name: "demo-1", Labels: map[string]string{v1alpha1.SidecarSetNameLabel: "demo"}},
			Data: runtime.RawExtension{Raw: []byte(`{"spec":{"containers":[{"name":"log"}]}}`)}}},
	}
	conflicting := &known{sets: append([]*v1alpha1.SidecarSet{other}, reader.sets...)}
	for _, test := range []struct {
		name   string
		reader *known
		cases  []conformance.Judged
	}{
		{"by itself", nil, []conformance.Judged{
			{"SCS-W2: the least", setWith(""), "", ""},
			{"SCS-W2: nothing to select", `{"metadata":{"name":"demo"},"spec":{"selector":{},"containers":[{"name":"log"}]}}`, "", invalid + `spec.selector: Invalid value: "{}": must not be empty: it would select everything`},
			{"SCS-W2: all that is wrong", strings.Replace(setWith(`"namespace":"a","namespaceSelector":{}`), `"demo"`, `"a.b"`, 1), "", invalid +
				`[metadata.name: Invalid value: "a.b": must be at most 63 letters, digits and dashes: it is the value of a label, ` +
				`spec.namespaceSelector: Forbidden: namespace and namespaceSelector exclude each other; remove one]`},
			{"SCS-W2: another container", strings.Replace(setWith(""), `"log"`, `"log2"`, 1), setWith(""), invalid +
				`spec.containers[0].name: Invalid value: "log2": container log2 is not found: containers can be removed, but neither added nor renamed; create another SidecarSet`},
			{"SCS-W2: what stays is not judged again", strings.Replace(setWith(`"namespaceSelector":{}`), `"uid"`, `"finalizers":[],"uid"`, 1), setWith(`"namespaceSelector":{}`), ""},
			{"SCS-W2: no list of annotations", setWith(patched), "", invalid +
				`spec.patchPodMetadata: Forbidden: no rule of SidecarSet_PatchPodMetadata_WhiteList in ConfigMap kruise-configuration allows this SidecarSet to patch annotations`},
			{"no JSON", "{", "", "400 object: want a SidecarSet as JSON: unexpected end of JSON input"},
		}},
		{"beside others", reader, []conformance.Judged{
			{"SCS-W3: none that conflicts", setWith(`"namespace":"shop"`), "", ""},
			{"SCS-W3: a revision that exists", setWith(`"namespace":"shop",` + fmt.Sprintf(revision, "demo-1")), "", ""},
			{"SCS-W3: a revision that does not", setWith(`"namespace":"shop",` + fmt.Sprintf(revision, "demo-2")), "", invalid +
				`spec.injectionStrategy.revision: Invalid value: "demo-2": there is no revision "demo-2" of the SidecarSet; correct revisionName`},
			{"SCS-W3: a custom version that does not", setWith(`"namespace":"shop","injectionStrategy":{"revision":{"customVersion":"v1"}}`), "", invalid +
				`spec.injectionStrategy.revision: Invalid value: "v1": the SidecarSet has no revision with the label apps.kruise.io/sidecarset-custom-version=v1; correct customVersion`},
		}},
		{"with a conflict", conflicting, []conformance.Judged{
			{"SCS-W3: both names", setWith(`"namespace":"shop"`), "", invalid + `spec.containers[0].name: Invalid value: "log": container log already exist in other`},
			{"SCS-W3: a change of another thing", strings.Replace(setWith(`"namespace":"shop"`), `"uid"`, `"annotations":{"a":"b"},"uid"`, 1), setWith(`"namespace":"shop"`), ""},
			{"SCS-W3: a change of labels, which the white list asks for", strings.Replace(setWith(`"namespace":"shop"`), `"uid"`, `"labels":{"a":"b"},"uid"`, 1), setWith(`"namespace":"shop"`),
				invalid + `spec.containers[0].name: Invalid value: "log": container log already exist in other`},
		}},
		{"with a list of annotations", &known{config: &corev1.ConfigMap{Data: map[string]string{sidecarset.WhitelistKey: `{"rules":[{"allowedAnnotationKeyExprs":["^a$"]}]}`}}}, []conformance.Judged{
			{"SCS-W2: that allows", setWith(patched), "", ""},
			{"SCS-W2: that does not", setWith(strings.Replace(patched, `"a"`, `"c"`, 1)), "", invalid +
				`spec.patchPodMetadata[0].annotations[c]: Forbidden: no rule of SidecarSet_PatchPodMetadata_WhiteList in ConfigMap kruise-configuration allows it`},
		}},
		{"with a list that cannot be read", &known{config: &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kruise-system", Name: "kruise-configuration"}, Data: map[string]string{sidecarset.WhitelistKey: "rules"}}}, []conformance.Judged{
			{"SCS-W2: nothing to patch", setWith(""), "", ""},
			{"SCS-W2: something", setWith(patched), "", "500 ConfigMap kruise-system/kruise-configuration: data[SidecarSet_PatchPodMetadata_WhiteList] is no white list: invalid character 'r' looking for beginning of value"},
		}},
		{"with caches that are not filled", &known{err: errors.New("not filled")}, []conformance.Judged{
			{"SCS-W3: nobody knows the others", setWith(""), "", "500 read the other SidecarSets: not filled"},
			{"SCS-W3: nothing changes", setWith(""), setWith(""), ""},
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			webhook := &sidecarset.Webhook{}
			if test.reader != nil {
				webhook.Reader = test.reader
			}
			conformance.CheckVerdicts(t, webhook, request, test.cases)
		})
	}
	allowed := &sidecarset.Webhook{PatchPodMetadataAllowed: true}
	conformance.CheckVerdicts(t, allowed, request, []conformance.Judged{{"SCS-W2: by default", setWith(patched), "", ""}})
}

// templates has the API server answer dry runs of templates.
type templates struct {
	typedcorev1.PodTemplateInterface
	namespace string
	asked     []string
	err       error
}

func (p *templates) PodTemplates(namespace string) typedcorev1.PodTemplateInterface {
	p.namespace = namespace
	return p
}

func (p *templates) Create(_ context.Context, template *corev1.PodTemplate, options metav1.CreateOptions) (*corev1.PodTemplate, error) {
	var names []string
	for _, c := range slices.Concat(template.Template.Spec.InitContainers, template.Template.Spec.Containers) {
		names = append(names, c.Name)
	}
	p.asked = append(p.asked, fmt.Sprint(p.namespace, options.DryRun, names, len(template.Template.Spec.Volumes)))
	return nil, p.err
}

// SCS-W4: the API server judges containers that are new or change, and SidecarSets are let
// through if it cannot.
func TestWebhookContainers(t *testing.T) {
	const all = "kruise-system[All] [init log the-app-of-the-pod] 1"
	full := setWith(`"initContainers":[{"name":"init"}],"volumes":[{"name":"v","emptyDir":{}}]`)
	verdict := apierrors.NewInvalid(schema.GroupKind{Kind: "PodTemplate"}, "template-check-", field.ErrorList{
		field.Required(field.NewPath("template", "spec", "containers").Index(0).Child("image"), ""),
		field.Required(field.NewPath("template", "spec", "volumes").Index(0).Child("name"), "why")})
	for _, test := range []struct {
		name, object, old string
		err               error
		asked             []string
		want              string
		warning           string
	}{
		{name: "create", object: full, asked: []string{all}},
		{name: "wrong", object: full, err: verdict, asked: []string{all},
			want: `500 SidecarSet.apps.kruise.io "demo" is invalid: [spec.containers[0].image: Required value, spec.volumes[0].name: Required value: why]`},
		{name: "no verdict", object: full, err: errors.New("no"), asked: []string{all},
			warning: "the containers were checked only in part, because the API server gave no verdict on them: the request failed"},
		{name: "wrong in another way", object: setWith(`"namespaceSelector":{}`), want: `500 SidecarSet.apps.kruise.io "demo" is invalid: spec.namespaceSelector: Invalid value: "{}": must not be empty: it would select everything`},
		{name: "another image", object: strings.Replace(full, "1.0", "2.0", 1), old: full, asked: []string{all}},
		{name: "another strategy", object: strings.Replace(full, `"volumes"`, `"updateStrategy":{"paused":true},"volumes"`, 1), old: full},
	} {
		t.Run(test.name, func(t *testing.T) {
			server := &templates{err: test.err}
			webhook := &sidecarset.Webhook{Containers: &sidecarset.ContainerChecker{Client: server, Namespace: "kruise-system"}}
			operation := admissionv1.Update
			if test.old == "" {
				operation = admissionv1.Create
			}
			response := webhook.Validate(t.Context(), request(operation, test.object, test.old))
			if diff := cmp.Diff(test.want, conformance.Verdict(response)); diff != "" {
				t.Errorf("verdict (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.asked, server.asked); diff != "" {
				t.Errorf("asked (-want +got):\n%s", diff)
			}
			if got := strings.Join(response.Warnings, " "); got != test.warning {
				t.Errorf("warning %q, want %q", got, test.warning)
			}
		})
	}
	if rules := (&sidecarset.Webhook{}).Rules(); rules != nil {
		t.Errorf("without Containers it needs %v", rules)
	}
}

func FuzzWebhook(f *testing.F) {
	f.Add([]byte(setWith("")), []byte(setWith(`"updateStrategy":{"partition":"1e9%"}`)), uint8(0))
	f.Add([]byte(setWith(`"patchPodMetadata":[{}],"injectionStrategy":{"revision":{}}`)), []byte(setWith("")), uint8(1))
	f.Add([]byte(`null`), []byte(`[]`), uint8(2))
	f.Add([]byte(`{"spec":{"selector":{"matchExpressions":[{"key":"a","operator":"Is"}]},"containers":[{"name":"log"}]}}`), []byte(``), uint8(0))
	webhook := &sidecarset.Webhook{Reader: &known{sets: []*v1alpha1.SidecarSet{setOf(f, "other", "{}"), nil}}}
	f.Fuzz(func(t *testing.T, object, old []byte, operation uint8) {
		r := request(conformance.Operations[int(operation)%len(conformance.Operations)], string(object), string(old))
		conformance.CheckAnswers(t, webhook, r, 400, 500)
	})
}

func ExampleWebhook() {
	webhook := &sidecarset.Webhook{}
	mux := http.NewServeMux()
	for path, handler := range webhook.Handlers() {
		mux.Handle(path, handler)
	}
	fmt.Println(slices.Sorted(maps.Keys(webhook.Handlers())))
	// Output: [/mutate-apps-kruise-io-v1alpha1-sidecarset /validate-apps-kruise-io-v1alpha1-sidecarset]
}
