// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/sidecar/injection/policy"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func ExampleCompile() {
	set := &v1alpha1.SidecarSet{ObjectMeta: metav1.ObjectMeta{Name: "log"}, Spec: v1alpha1.SidecarSetSpec{
		Selector:   &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
		Containers: []v1alpha1.SidecarContainer{{Container: corev1.Container{Name: "log", Image: "log:1"}}},
	}}
	compiled, err := policy.Compile(policy.Input{SidecarSet: set, Revision: "log-5d8f", Created: time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(compiled.Policy.Name, metav1.FormatLabelSelector(compiled.Policy.Spec.MatchConstraints.ObjectSelector))
	for _, v := range compiled.Policy.Spec.Variables {
		if v.Name == "addedBefore" {
			fmt.Println(v.Expression)
		}
	}
	// Output:
	// sidecarset-log app=web
	// ["log"].filter(x, !(x in variables.names) && !(x in variables.leftOut))
}

func setOf(t *testing.T, spec string) *v1alpha1.SidecarSet {
	t.Helper()
	set := &v1alpha1.SidecarSet{ObjectMeta: metav1.ObjectMeta{Name: "log", UID: "1"}}
	if err := yaml.UnmarshalStrict([]byte("spec: "+spec), set); err != nil {
		t.Fatalf("%v\n%s", err, spec)
	}
	return set
}

// What is not compiled, and why. (SCP-2, SCP-8)
func TestCompileNot(t *testing.T) {
	const some = "selector: {matchLabels: {app: web}}, "
	long := strings.Repeat("x", 100_000)
	for _, test := range []struct{ name, spec, skipped, err string }{
		{"paused", "{" + some + "injectionStrategy: {paused: true}}", "spec.injectionStrategy.paused is true", ""},
		{"no selector", "{}", "spec.selector is empty", ""},
		{"no requirement", "{selector: {}}", "spec.selector is empty", ""},
		{"unreadable selector", "{selector: {matchExpressions: [{key: a, operator: x}]}}", `spec.selector cannot be read: "x" is not a valid label selector operator`, ""},
		{"no requirement of the namespace", "{" + some + "namespaceSelector: {}}", "spec.namespaceSelector is empty", ""},
		{"JSON to merge", "{" + some + "patchPodMetadata: [{patchPolicy: Retain}, {annotations: {a: b}, patchPolicy: MergePatchJson}]}", "",
			"SidecarSet log: spec.patchPodMetadata[1]: a policy cannot merge JSON; use Retain or Overwrite, or have a webhook inject"},
		{"lots, which no policy draws (SCS-31)", "{" + some + "injectionStrategy: {revision: {revisionName: demo-1, policy: Partial}}}", "",
			"SidecarSet log: spec.injectionStrategy.revision.policy is Partial, and no policy can choose pods by lot; have a webhook inject"},
		{"a name twice", "{" + some + "initContainers: [{name: a-1}], containers: [{name: a, upgradeStrategy: {upgradeType: HotUpgrade}}]}", "",
			`SidecarSet log: two of its containers have the name "a-1"; rename one`},
		{"a large number", "{" + some + "containers: [{name: a, securityContext: {runAsUser: 9007199254740992}}]}", "",
			"SidecarSet log: container a: the number 9007199254740992 is none that a policy can write: want a whole one of at most 53 bits"},
		{"a long expression", "{" + some + "containers: [{name: a, image: " + long + "}]}", "",
			"SidecarSet log: the expression container0 has 100259 characters, more than the 100000 that a policy may have in one"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := policy.Compile(policy.Input{SidecarSet: setOf(t, test.spec), Created: noon})
			if test.err != "" {
				if err == nil || err.Error() != test.err {
					t.Errorf("error %v, want %s", err, test.err)
				}
				return
			}
			if diff := cmp.Diff(&policy.Compiled{Skipped: test.skipped}, got); err != nil || diff != "" {
				t.Errorf("error %v, compiled:\n%s", err, diff)
			}
		})
	}
	names := func(prefix string, n int) string {
		all := make([]string, n)
		for i := range all {
			all[i] = fmt.Sprint(prefix, i)
		}
		return strings.Join(all, ", ")
	}
	for _, test := range []struct{ spec, err string }{
		{"{" + some + "containers: [{name: a, transferEnv: [{sourceContainerName: b, envNames: [" + names("V", 201) + "]}]}]}",
			"SidecarSet log: container a: transferEnv names 201 variables, more than the 200 that a policy can copy at the cost that an API server allows"},
		{"{" + some + "containers: [" + strings.ReplaceAll(strings.ReplaceAll(names("{name: c", 65), ",", "},"), "c64", "c64}") + "]}",
			"SidecarSet log: it has 65 containers, a hot one counted twice: a policy can inject 64 at most, by what an API server lets it cost"},
	} {
		if _, err := policy.Compile(policy.Input{SidecarSet: setOf(t, test.spec), Created: noon}); err == nil || err.Error() != test.err {
			t.Errorf("error %v, want %s", err, test.err)
		}
	}
	var many []string
	for i := range 12 {
		many = append(many, fmt.Sprintf("{name: c%d, image: %s}", i, long[:99_000]))
	}
	if _, err := policy.Compile(policy.Input{SidecarSet: setOf(t, "{"+some+"containers: ["+strings.Join(many, ", ")+"]}"), Created: noon}); err == nil || !strings.Contains(err.Error(), "more than the 1048576 that can be stored") {
		t.Errorf("error %v of a large SidecarSet", err)
	}
	for _, in := range []policy.Input{{Created: noon}, {SidecarSet: setOf(t, "{}")}} {
		if _, err := policy.Compile(in); err == nil {
			t.Errorf("no error of %v", in)
		}
	}
}

// Which pods are asked about, with all defaults of the API server, so that what is stored can
// be compared with what is wanted. (SCP-2, SCP-9, SCP-10)
func TestCompileConstraints(t *testing.T) {
	set := setOf(t, "{selector: {matchLabels: {app: web}}, namespace: shop, namespaceSelector: {matchLabels: {team: a}}, containers: [{name: a}]}")
	got, err := policy.Compile(policy.Input{SidecarSet: set, Revision: "log-1", Created: noon})
	if err != nil {
		t.Fatal(err)
	}
	want := &admissionregistrationv1.MatchResources{
		ObjectSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
		NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"team": "a"}, MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: "kubernetes.io/metadata.name", Operator: metav1.LabelSelectorOpIn, Values: []string{"shop"}}, {Key: "control-plane", Operator: metav1.LabelSelectorOpDoesNotExist}}},
		MatchPolicy: new(admissionregistrationv1.Equivalent),
		ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{RuleWithOperations: admissionregistrationv1.RuleWithOperations{
			Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
			Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}, Scope: new(admissionregistrationv1.AllScopes)},
		}}},
	}
	if diff := cmp.Diff(want, got.Policy.Spec.MatchConstraints); diff != "" {
		t.Error(diff)
	}
	if p := got.Policy; *p.Spec.FailurePolicy != admissionregistrationv1.Fail || p.Spec.ReinvocationPolicy != admissionregistrationv1.NeverReinvocationPolicy ||
		p.Annotations[policy.RevisionAnnotation] != "log-1" || !metav1.IsControlledBy(p, set) {
		t.Errorf("the policy is %v %s %v %v", *p.Spec.FailurePolicy, p.Spec.ReinvocationPolicy, p.Annotations, p.OwnerReferences)
	}
	if b := got.Binding; b.Name != got.Policy.Name || b.Spec.PolicyName != got.Policy.Name || !metav1.IsControlledBy(b, set) {
		t.Errorf("the binding is %v", b)
	}
	ignored, err := policy.Compile(policy.Input{SidecarSet: set, Created: noon, FailurePolicy: admissionregistrationv1.Ignore})
	if err != nil || *ignored.Policy.Spec.FailurePolicy != admissionregistrationv1.Ignore {
		t.Errorf("error %v, failurePolicy %v", err, *ignored.Policy.Spec.FailurePolicy)
	}
}

func TestName(t *testing.T) {
	long, other := policy.Name(strings.Repeat("a", 253)), policy.Name(strings.Repeat("a", 252)+"b")
	if policy.Name("log") != "sidecarset-log" || len(long) > 253 || len(other) > 253 || long == other {
		t.Errorf("names %s, %s and %s", policy.Name("log"), long, other)
	}
}
