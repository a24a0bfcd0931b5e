// SPDX-License-Identifier: Apache-2.0

package sidecarset_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/testing/conformance"
	"github.com/podwright/podwright/sidecar/injection"
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

// readers are what webhooks of scripts know, by their names.
func readers(t *testing.T) map[string]*known {
	sets := []*v1alpha1.SidecarSet{setOf(t, "demo", "{}"), setOf(t, "elsewhere", "{namespaceSelector: {matchLabels: {team: a}}}"),
		setOf(t, "bank", "{selector: {matchLabels: {app: db}}}")}
	list := func(text string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kruise-system", Name: "kruise-configuration"},
			Data: map[string]string{sidecarset.WhitelistKey: text}}
	}
	return map[string]*known{
		"others":     {sets: sets, revisions: []*appsv1.ControllerRevision{firstRevision()}},
		"conflict":   {sets: append([]*v1alpha1.SidecarSet{setOf(t, "other", "{volumes: [{name: v, emptyDir: {}}]}")}, sets...)},
		"list":       {config: list(`{"rules":[{"allowedAnnotationKeyExprs":["^a$"]}]}`)},
		"unreadable": {config: list("rules")},
		"empty":      {err: errors.New("not filled")},
	}
}

// TestAdmission plays what the webhook says, in testdata/admission: see conformance.PlayAdmission. With reader=others and so on it knows what
// readers has. With containers= it has the API server judge containers, and shows what was asked: namespace, dry run, containers, number of volumes.
// It has the features of a release=1.9 if that is named. (SCS-W4, SCI-40, SCI-42)
func TestAdmission(t *testing.T) {
	var server *templates
	conformance.PlayAdmission(t, "testdata/admission", conformance.Admission{
		Kind: "SidecarSet", Resource: "sidecarsets",
		Object: `{metadata: {name: demo, namespace: shop, uid: u1}, spec: {selector: {matchLabels: {app: web}}, containers: [{name: log, image: "busybox:1.0"}]}}`,
		Asked: func() (out string) {
			for _, asked := range server.asked {
				out += "\n    asked " + asked
			}
			return out
		},
		New: func(args map[string][]string) conformance.Served {
			server = &templates{}
			webhook := &sidecarset.Webhook{Injection: injection.FeaturesOf(podwright.Release(strings.Join(args["release"], "")))}
			if known := args["reader"]; known != nil {
				webhook.Reader = readers(t)[known[0]]
			}
			if verdict := args["containers"]; verdict != nil {
				server.err = judgements[verdict[0]]
				webhook.Containers = &sidecarset.ContainerChecker{Client: server, Namespace: "kruise-system"}
			}
			return webhook
		}})
}

// judgements are what the API server says of containers.
var judgements = map[string]error{
	"good":   nil,
	"silent": errors.New("no"),
	"wrong": apierrors.NewInvalid(schema.GroupKind{Kind: "PodTemplate"}, "template-check-", field.ErrorList{
		field.Required(field.NewPath("template", "spec", "containers").Index(0).Child("image"), ""),
		field.Required(field.NewPath("template", "spec", "volumes").Index(0).Child("name"), "why")}),
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

func FuzzWebhook(f *testing.F) {
	with := func(fields string) []byte { // a valid one, with some more fields in its spec
		return []byte(`{"metadata":{"name":"demo","uid":"u1"},"spec":{` + fields + `"selector":{"matchLabels":{"app":"web"}},` +
			`"containers":[{"name":"log","image":"busybox:1.0"}]}}`)
	}
	f.Add(with(""), with(`"updateStrategy":{"partition":"1e9%"},`), uint8(0))
	f.Add(with(`"patchPodMetadata":[{}],"injectionStrategy":{"revision":{}},`), with(""), uint8(1))
	f.Add([]byte(`null`), []byte(`[]`), uint8(2))
	f.Add([]byte(`{"spec":{"selector":{"matchExpressions":[{"key":"a","operator":"Is"}]},"containers":[{"name":"log"}]}}`), []byte(``), uint8(0))
	webhook := &sidecarset.Webhook{Reader: &known{sets: []*v1alpha1.SidecarSet{setOf(f, "other", "{}"), nil}}}
	request := conformance.Requests("v1alpha1", "SidecarSet", "sidecarsets")
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
