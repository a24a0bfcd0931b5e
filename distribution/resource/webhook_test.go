// SPDX-License-Identifier: Apache-2.0

package resource

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// What may be created. (RD-16)
func TestValidate(t *testing.T) {
	const both = `{includedNamespaces: {list: [{name: a}, {name: a}, {name: b}]}, excludedNamespaces: {list: [{name: b}, {name: a}]}}`
	for _, test := range []struct {
		name, resource, targets string
		want                    []string
	}{
		{"right", secretYAML, all, nil},
		{"a ConfigMap", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}", "{}", nil},
		{"RD-16: nothing", "", both, []string{"spec.resource: empty resource is not allowed"}},
		{"RD-16: another kind", "{apiVersion: v1, kind: Pod, metadata: {name: a}}", both, []string{"spec.resource: unknown or unsupported resource GroupKind, only support [Secret ConfigMap]"}},
		{"RD-16: another group", "{apiVersion: example.com/v1, kind: Secret, metadata: {name: a}}", all, []string{"spec.resource: unknown or unsupported resource GroupKind, only support [Secret ConfigMap]"}},
		{"RD-16: no manifest", "[]", all, []string{"spec.resource: it is no manifest: json: cannot unmarshal array into Go value of type v1.TypeMeta"}},
		{"RD-16: data of another type", "{apiVersion: v1, kind: Secret, metadata: {name: a}, data: 1}", all, []string{"spec.resource: it is no Secret: json: cannot unmarshal number into Go struct field Secret.data of type map[string][]uint8"}},
		{"RD-16: no name", "{apiVersion: v1, kind: Secret}", all, []string{"spec.resource.metadata.name: it names the copies"}},
		{"RD-16: a name that is none", "{apiVersion: v1, kind: Secret, metadata: {name: A}}", all, []string{"spec.resource.metadata.name: a lowercase RFC 1123 subdomain"}},
		{"RD-16: included and excluded", secretYAML, both, []string{"spec.targets: ambiguous targets because namespace [a b] is in both IncludedNamespaces.List and ExcludedNamesapces.List"}},
		{"RD-16: names that are none", secretYAML, `{includedNamespaces: {list: [{name: a.b}]}, excludedNamespaces: {list: [{}]}}`,
			[]string{"spec.targets.includedNamespaces.list[0].name: must not contain dots", "spec.targets.excludedNamespaces.list[0].name: a lowercase RFC 1123 label"}},
		{"RD-16: a selector that cannot be read", secretYAML, "namespaceLabelSelector: {matchExpressions: [{key: a, operator: Like}]}",
			[]string{"spec.targets.namespaceLabelSelector.matchExpressions[0].operator: not a valid selector operator"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := newDistribution(t, test.resource, test.targets)
			if test.resource == "" {
				d.Spec.Resource.Raw = nil
			}
			var got []string
			for i, err := range ValidateCreate(d) {
				line := err.Field + ": " + err.Detail
				if i < len(test.want) && strings.HasPrefix(line, test.want[i]) {
					line = test.want[i]
				}
				got = append(got, line)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("errors (-want +got):\n%s", diff)
			}
		})
	}
}

// What may change. (RD-16)
func TestValidateUpdate(t *testing.T) {
	old := newDistribution(t, secretYAML, all)
	for name, test := range map[string]struct {
		resource, targets, want string
	}{
		"RD-16: the data":     {strings.Replace(secretYAML, "dmFsdWU=", "", 1), "{}", ""},
		"RD-16: the name":     {strings.Replace(secretYAML, "pull", "other", 1), all, "resource apiVersion, kind, and name are immutable: it is Secret pull"},
		"RD-16: the kind":     {"{apiVersion: v1, kind: ConfigMap, metadata: {name: pull}}", all, "resource apiVersion, kind, and name are immutable: it is Secret pull"},
		"RD-16: to nonsense":  {"[]", all, "it is no manifest"},
		"RD-16: the selector": {secretYAML, "namespaceLabelSelector: {matchExpressions: [{key: a, operator: Like}]}", "not a valid selector operator"},
	} {
		errs := ValidateUpdate(newDistribution(t, test.resource, test.targets), old)
		if (test.want == "") != (len(errs) == 0) || test.want != "" && !strings.Contains(errs.ToAggregate().Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, errs, test.want)
		}
	}
	broken := newDistribution(t, "[]", all)
	if errs := ValidateUpdate(broken.DeepCopy(), broken); len(errs) > 0 {
		t.Errorf("the same spec: %v", errs)
	}
	if errs := ValidateUpdate(old, broken); len(errs) > 0 {
		t.Errorf("what was broken is mended: %v", errs)
	}
}

// The resource is created by a dry run. (RD-16)
func TestDryRun(t *testing.T) {
	server := fakecluster.New(nil, more...)
	w := &Webhook{Kubernetes: fixture.Connect(t, server, "manager", kubernetes.NewForConfig), Namespace: "kruise-system"}
	d := newDistribution(t, secretYAML, all)
	validate := func(d, old *v1alpha1.ResourceDistribution) *admissionv1.AdmissionResponse {
		request := &admissionv1.AdmissionRequest{UID: "u", Kind: metav1.GroupVersionKind{Group: "apps.kruise.io", Version: "v1alpha1", Kind: Kind}, Operation: admissionv1.Create, Object: raw(t, d)}
		if old != nil {
			request.Operation, request.OldObject = admissionv1.Update, raw(t, old)
		}
		return w.Validate(t.Context(), request)
	}
	if answer := validate(d, nil); !answer.Allowed {
		t.Error(answer.Result)
	}
	requests := server.Requests("manager")
	if len(requests) != 1 || requests[0].String() != "create secrets" || !requests[0].DryRun {
		t.Errorf("requests %+v", requests)
	}
	if secrets, err := w.Kubernetes.CoreV1().Secrets("").List(t.Context(), metav1.ListOptions{}); err != nil || len(secrets.Items) > 0 {
		t.Errorf("the dry run has left %v, %v", secrets, err)
	}
	server.FailBefore(func(fakecluster.Request) error { return fixture.ErrQuota })
	if answer := validate(d, nil); answer.Allowed || answer.Result.Code != 422 || !strings.Contains(answer.Result.Message, "failed to dry-run to validate spec.resource, error: ") {
		t.Errorf("%+v", answer.Result)
	}
	targets := d.DeepCopy()
	targets.Spec.Targets.AllNamespaces = false
	if answer := validate(targets, d); !answer.Allowed {
		t.Errorf("of the targets alone: %+v", answer.Result)
	}
	if len(w.Rules()) != 2 || len((&Webhook{}).Rules()) != 0 {
		t.Error("RBAC rules")
	}
}

func raw(t *testing.T, object any) runtime.RawExtension {
	t.Helper()
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return runtime.RawExtension{Raw: text}
}
