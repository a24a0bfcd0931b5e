// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/internal/testing/patches"
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
	set := patches.Object[v1alpha1.SidecarSet](t, "spec: "+spec)
	set.ObjectMeta = metav1.ObjectMeta{Name: "log", UID: "1"}
	return set
}

// TestCompile shows in testdata/compiled.txt what is compiled of SidecarSets, or why nothing is. A line has a spec, in which LONG stands
// for a long text. The pods that are asked about are shown with all defaults of the API server: what is stored is compared with what is
// wanted. To accept a change of behaviour, run the test with -rewrite and read the difference. (SCP-2, SCP-8 to SCP-10)
func TestCompile(t *testing.T) {
	datadriven.RunTest(t, "testdata/compiled.txt", func(t *testing.T, d *datadriven.TestData) string {
		return patches.EachLine(d.Input, func(spec string) string {
			set := setOf(t, strings.ReplaceAll(spec, "LONG", long))
			in := policy.Input{SidecarSet: set, Revision: "log-1", Created: noon}
			if d.HasArg("ignore") {
				in.FailurePolicy = admissionregistrationv1.Ignore
			}
			got, err := policy.Compile(in)
			switch {
			case err != nil:
				return err.Error()
			case got.Skipped != "":
				if diff := cmp.Diff(&policy.Compiled{Skipped: got.Skipped}, got); diff != "" {
					t.Errorf("%s: compiled nevertheless:\n%s", spec, diff)
				}
				return "skipped, " + got.Skipped
			}
			p, b := got.Policy, got.Binding
			asked, err := yaml.Marshal(p.Spec.MatchConstraints)
			if err != nil {
				t.Fatal(err)
			}
			return fmt.Sprintf("%s of %v, failure policy %s, reinvocation %s, controlled %t\n%sbinding %s of %s, controlled %t\n",
				p.Name, p.Annotations[policy.RevisionAnnotation], *p.Spec.FailurePolicy, p.Spec.ReinvocationPolicy, metav1.IsControlledBy(p, set),
				asked, b.Name, b.Spec.PolicyName, metav1.IsControlledBy(b, set))
		})
	})
}

// long is a text that fits into no expression.
var long = strings.Repeat("x", 100_000)

// What is too large for a policy. (SCP-8)
func TestCompileLarge(t *testing.T) {
	const some = "selector: {matchLabels: {app: web}}, "
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

func TestName(t *testing.T) {
	long, other := policy.Name(strings.Repeat("a", 253)), policy.Name(strings.Repeat("a", 252)+"b")
	if policy.Name("log") != "sidecarset-log" || len(long) > 253 || len(other) > 253 || long == other {
		t.Errorf("names %s, %s and %s", policy.Name("log"), long, other)
	}
}
