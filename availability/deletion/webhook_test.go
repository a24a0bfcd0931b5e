// SPDX-License-Identifier: Apache-2.0

package deletion_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/podwright/podwright/availability/deletion"
	"github.com/podwright/podwright/internal/testing/conformance"
)

// request asks for the deletion of shop, an object with this JSON.
func request(kind schema.GroupKind, old string) *admissionv1.AdmissionRequest {
	return &admissionv1.AdmissionRequest{
		UID: "r1", Operation: admissionv1.Delete, Name: "shop", OldObject: runtime.RawExtension{Raw: []byte(old)},
		Kind:     metav1.GroupVersionKind{Group: kind.Group, Version: "v1", Kind: kind.Kind},
		Resource: metav1.GroupVersionResource{Group: kind.Group, Version: "v1", Resource: strings.ToLower(kind.Kind) + "s"},
	}
}

// object is the JSON of one with the label, and with more in its metadata and its spec.
func object(protection, meta, spec string) string {
	return fmt.Sprintf(`{"metadata":{"name":"shop",%s"labels":{"policy.kruise.io/delete-protection":%q}},"spec":{%s}}`, meta, protection, spec)
}

// cluster is an API server that lists metadata.
type cluster struct {
	objects int // that are there
	leaving int // how many of them, the first ones, are being deleted
	broken  int // the list that fails, from 1 on
	asked   []string
}

func (c *cluster) List(_ context.Context, r schema.GroupVersionResource, namespace string, o metav1.ListOptions) (*metav1.PartialObjectMetadataList, error) {
	c.asked = append(c.asked, fmt.Sprintf("%s/%s %s in %q, %q, limit %d, from %q", r.Group, r.Version, r.Resource, namespace, o.FieldSelector, o.Limit, o.Continue))
	if c.broken == len(c.asked) {
		return nil, errors.New("no connection")
	}
	from := 0
	if o.Continue != "" {
		_, _ = fmt.Sscan(o.Continue, &from)
	}
	list := &metav1.PartialObjectMetadataList{}
	for i := from; i < c.objects && i < from+int(o.Limit); i++ {
		item := metav1.PartialObjectMetadata{}
		if i < c.leaving {
			item.DeletionTimestamp = &metav1.Time{}
		}
		list.Items = append(list.Items, item)
	}
	if next := from + len(list.Items); next < c.objects {
		list.Continue = fmt.Sprint(next)
	}
	return list, nil
}

const definitionSpec = `"group":"shop.io","names":{"plural":"carts","kind":"Cart","listKind":"CartList"},"scope":"Namespaced","versions":[{"name":"v2","served":true,"storage":false},{"name":"v1","served":true,"storage":true}]`

// Every kind with every value of the label, as requests.
func TestWebhook(t *testing.T) {
	for _, kind := range deletion.Kinds() {
		t.Run(kind.String(), func(t *testing.T) {
			spec, without, below := `"replicas":3`, "", `"replicas":-1`
			waits, free := "403 "+forbidden+"Cascading and replicas 3>0", `"replicas":0`
			children := &cluster{objects: 2}
			if count := counts[kind.Kind]; count != "" {
				spec, free, without, below = definitionSpec, definitionSpec, definitionSpec, definitionSpec
				waits = fmt.Sprintf("403 %sCascading and %s 2>0", forbidden, count)
			}
			if kind.Kind == "Service" || kind.Kind == "Ingress" { // DP-14
				spec, waits = "", ""
			}
			webhook, childless := &deletion.Webhook{List: children.List}, &deletion.Webhook{List: (&cluster{}).List}
			changed := func(change func(*admissionv1.AdmissionRequest)) *admissionv1.AdmissionRequest {
				r := request(kind, object("Always", "", spec))
				change(r)
				return r
			}
			for _, test := range []struct {
				name    string
				webhook *deletion.Webhook
				request *admissionv1.AdmissionRequest
				want    string // code and message; "" is allowed
			}{
				{"no label", webhook, request(kind, `{"metadata":{"name":"shop"},"spec":{`+spec+`}}`), ""},
				{"DP-5: Always", webhook, request(kind, object("Always", "", free)), "403 " + always},
				{"DP-5: Cascading", webhook, request(kind, object("Cascading", "", spec)), waits},
				{"DP-5: Always, without replicas", webhook, request(kind, object("Always", "", without)), "403 " + always},
				{"DP-E8: Cascading, without children", childless, request(kind, object("Cascading", "", free)), ""},
				{"DP-8: Cascading, without replicas", childless, request(kind, object("Cascading", "", without)), ""},
				{"DP-8: Cascading, below 0", childless, request(kind, object("Cascading", "", below)), ""},
				{"DP-E4: lower case", webhook, request(kind, object("always", "", spec)), ""},
				{"DP-1: another value", webhook, request(kind, object("true", "", spec)), ""},
				{"DP-1: an empty value", webhook, request(kind, object("", "", spec)), ""},
				{"DP-4: being deleted", webhook, request(kind, object("Cascading", `"deletionTimestamp":"2026-01-01T00:00:00Z",`, spec)), ""},
				{"DP-E6: Always, being deleted", webhook, request(kind, object("Always", `"deletionTimestamp":"2026-01-01T00:00:00Z",`, spec)), ""},
				{"DP-1: a dry run", webhook, changed(func(r *admissionv1.AdmissionRequest) { r.DryRun = new(true) }), "403 " + always},
				{"DP-1: another version", webhook, changed(func(r *admissionv1.AdmissionRequest) { r.Kind.Version = "v1beta1" }), "403 " + always},
				{"DP-1: an update", webhook, changed(func(r *admissionv1.AdmissionRequest) { r.Operation = admissionv1.Update }), ""},
				{"DP-1: another group", webhook, changed(func(r *admissionv1.AdmissionRequest) { r.Kind.Group = "shop.io" }), ""},
				{"DP-2: a subresource", webhook, changed(func(r *admissionv1.AdmissionRequest) { r.SubResource = "status" }), ""},
				{"DP-2: no old object", webhook, request(kind, ""), ""},
				{"DP-2: no JSON", webhook, request(kind, "{"), "400 oldObject: want a " + kind.Kind + " as JSON: unexpected end of JSON input"},
				{"gate off", &deletion.Webhook{Disabled: true}, changed(func(*admissionv1.AdmissionRequest) {}), ""},
			} {
				if diff := cmp.Diff(test.want, conformance.Verdict(test.webhook.Validate(t.Context(), test.request))); diff != "" {
					t.Errorf("%s (-want +got):\n%s", test.name, diff)
				}
			}
			denied := webhook.Validate(t.Context(), request(kind, object("Always", "", spec)))
			if d := denied.Result.Details; denied.Result.Reason != metav1.StatusReasonForbidden || d == nil || d.Name != "shop" || d.Kind != strings.ToLower(kind.Kind)+"s" {
				t.Errorf("the refusal does not name the object: %+v", denied.Result)
			}
			if kind.Kind == "Namespace" || kind.Kind == "CustomResourceDefinition" {
				return
			}
			if len(children.asked) > 0 {
				t.Errorf("DP-3: asked the API server: %q", children.asked)
			}
		})
	}
}

// DP-1: other kinds are not protected, those of the same name in other groups neither.
func TestOtherKinds(t *testing.T) {
	for _, kind := range []schema.GroupKind{
		{Group: "apps", Kind: "DaemonSet"}, {Kind: "Pod"}, {Group: "shop.io", Kind: "StatefulSet"}, {Group: "apps", Kind: "CloneSet"}, {Group: "extensions", Kind: "Ingress"}, {},
	} {
		if got := conformance.Verdict((&deletion.Webhook{}).Validate(t.Context(), request(kind, object("Always", "", `"replicas":3`)))); got != "" {
			t.Errorf("%v: %s", kind, got)
		}
	}
}

// What is listed, and what comes of it.
func TestWebhookCounts(t *testing.T) {
	const (
		notFinished = `"status.phase!=Succeeded,status.phase!=Failed"`
		pods        = `/v1 pods in "shop", ` + notFinished + `, limit `
		carts       = `shop.io/v1 carts in "", "", limit `
		anyPods     = forbidden + "Cascading and active pods "
		anyCarts    = forbidden + "Cascading and active CRs "
	)
	version := func(served string, versions string) string {
		_, end, _ := strings.Cut(definitionSpec, `"versions":`)
		return strings.Replace(definitionSpec, end, versions, 1) + served
	}
	for _, test := range []struct {
		name, kind string
		cluster    cluster
		spec, want string
		asked      []string
	}{
		{"DP-6: no pods", "Namespace", cluster{}, "", "", []string{pods + `1, from ""`}},
		{"DP-7: a pod", "Namespace", cluster{objects: 1}, "", "403 " + anyPods + "1>0", []string{pods + `1, from ""`}},
		{"DP-7: pods", "Namespace", cluster{objects: 3}, "", "403 " + anyPods + "3>0", []string{pods + `1, from ""`, pods + `500, from "1"`}},
		{"DP-7: many pods", "Namespace", cluster{objects: 5000}, "", "403 " + anyPods + "501>0", []string{pods + `1, from ""`, pods + `500, from "1"`}},
		{"DP-6: pods that are being deleted", "Namespace", cluster{objects: 600, leaving: 600}, "", "", []string{pods + `1, from ""`, pods + `500, from "1"`, pods + `500, from "501"`}},
		{"DP-6: the last one is not", "Namespace", cluster{objects: 600, leaving: 599}, "", "403 " + anyPods + "1>0", []string{pods + `1, from ""`, pods + `500, from "1"`, pods + `500, from "501"`}},
		{"DP-7: no answer", "Namespace", cluster{broken: 1}, "", "403 forbidden by ResourcesProtectionDeletion for list pods error: no connection", []string{pods + `1, from ""`}},
		{"DP-7: no second answer", "Namespace", cluster{objects: 3, broken: 2}, "", "403 " + anyPods + "1>0", []string{pods + `1, from ""`, pods + `500, from "1"`}},
		{"DP-7: no second answer about what is left", "Namespace", cluster{objects: 3, leaving: 1, broken: 2}, "",
			"403 forbidden by ResourcesProtectionDeletion for list pods error: no connection", []string{pods + `1, from ""`, pods + `500, from "1"`}},

		{"DP-7: no objects", "CustomResourceDefinition", cluster{}, definitionSpec, "", []string{carts + `1, from ""`}},
		{"DP-7: objects", "CustomResourceDefinition", cluster{objects: 2}, definitionSpec, "403 " + anyCarts + "2>0", []string{carts + `1, from ""`, carts + `500, from "1"`}},
		{"DP-7: objects that are being deleted", "CustomResourceDefinition", cluster{objects: 1, leaving: 1}, definitionSpec, "", []string{carts + `1, from ""`}},
		{"DP-7: objects, no answer", "CustomResourceDefinition", cluster{broken: 1}, definitionSpec, "403 failed to list CRs of shop.io/v1, Kind=CartList: no connection", []string{carts + `1, from ""`}},
		{"DP-7: the stored version is not served", "CustomResourceDefinition", cluster{objects: 1},
			version("", `[{"name":"v1","served":false,"storage":true},{"name":"v2","served":true},{"name":"v3","served":true}]`),
			"403 " + anyCarts + "1>0", []string{`shop.io/v2 carts in "", "", limit 1, from ""`}},
		{"DP-7: no version is served", "CustomResourceDefinition", cluster{}, version("", `[{"name":"v1","storage":true}]`),
			"403 failed to list CRs of shop.io/, Kind=CartList: no version of it is served; serve one, or take the label away", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			kind := deletion.Kinds()[slices.IndexFunc(deletion.Kinds(), func(k schema.GroupKind) bool { return k.Kind == test.kind })]
			webhook := &deletion.Webhook{List: test.cluster.List}
			if diff := cmp.Diff(test.want, conformance.Verdict(webhook.Validate(t.Context(), request(kind, object("Cascading", "", test.spec))))); diff != "" {
				t.Errorf("verdict (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.asked, test.cluster.asked); diff != "" {
				t.Errorf("lists (-want +got):\n%s", diff)
			}
		})
	}
}

// Without a list nothing that has to be counted goes.
func TestWebhookWithoutList(t *testing.T) {
	const why = "the webhook was given nothing that lists; take the label away"
	for _, kind := range deletion.Kinds()[:2] {
		got := conformance.Verdict((&deletion.Webhook{}).Validate(t.Context(), request(kind, object("Cascading", "", definitionSpec))))
		if !strings.HasPrefix(got, "403 ") || !strings.HasSuffix(got, ": "+why) {
			t.Errorf("%s: %s", kind.Kind, got)
		}
	}
}

// DP-9: what may be listed.
func TestRules(t *testing.T) {
	list := (&cluster{}).List
	verb := func(group, resource string) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{Verbs: []string{"list"}, APIGroups: []string{group}, Resources: []string{resource}}
	}
	carts := []schema.GroupResource{{Group: "shop.io", Resource: "carts"}, {Group: "bank.io", Resource: "*"}}
	for name, test := range map[string]struct {
		webhook deletion.Webhook
		want    []rbacv1.PolicyRule
	}{
		"nothing to list with":       {deletion.Webhook{Resources: carts}, nil},
		"disabled":                   {deletion.Webhook{Disabled: true, List: list, Resources: carts}, nil},
		"DP-9: pods":                 {deletion.Webhook{List: list}, []rbacv1.PolicyRule{verb("", "pods")}},
		"DP-9: and custom resources": {deletion.Webhook{List: list, Resources: carts}, []rbacv1.PolicyRule{verb("", "pods"), verb("shop.io", "carts"), verb("bank.io", "*")}},
	} {
		if diff := cmp.Diff(test.want, test.webhook.Rules()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// Whatever it is asked, the webhook answers, and refuses only with 400 or 403.
func FuzzWebhook(f *testing.F) {
	for i := range deletion.Kinds() {
		for _, old := range []string{"", "{", "null", `{"spec":null}`, object("Always", "", `"replicas":3`), object("Cascading", "", definitionSpec), object("Cascading", "", `"replicas":"3"`)} {
			f.Add(uint8(i), old)
		}
	}
	f.Fuzz(func(t *testing.T, i uint8, old string) {
		kinds := deletion.Kinds()
		webhook := &deletion.Webhook{List: (&cluster{objects: 2}).List}
		response := webhook.Validate(t.Context(), request(kinds[int(i)%len(kinds)], old))
		if response == nil || !response.Allowed && response.Result.Code != 400 && response.Result.Code != 403 {
			t.Fatalf("answer %+v", response)
		}
		if len(old) > 0 && !json.Valid([]byte(old)) && (response.Allowed || response.Result.Code != 400) {
			t.Errorf("no JSON is answered with %+v", response)
		}
	})
}
