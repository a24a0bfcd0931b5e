// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"fmt"
	"regexp"
	"strconv"
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

// TestCompile shows in testdata/compiled.txt what is compiled of SidecarSets, or why nothing is. A line has a spec. LONG stands
// for a text that is all but too long for an expression there, and <a@*3> for a0, a1, a2. The pods that are asked about are shown
// with all defaults of the API server: what is stored is compared with what is wanted. To accept a change of behaviour, run the
// test with -rewrite and read the difference. (SCP-2, SCP-8 to SCP-10)
func TestCompile(t *testing.T) {
	datadriven.RunTest(t, "testdata/compiled.txt", func(t *testing.T, d *datadriven.TestData) string {
		return patches.EachLine(d.Input, func(spec string) string {
			set := setOf(t, strings.ReplaceAll(repeated.ReplaceAllStringFunc(spec, repeat), "LONG", long))
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

// long is all but too long for an expression.
var long = strings.Repeat("x", 99_000)

var repeated = regexp.MustCompile(`<(.*)\*(\d+)>`)

// repeat writes a list out.
func repeat(text string) string {
	of := repeated.FindStringSubmatch(text)
	n, _ := strconv.Atoi(of[2]) // digits it has
	all := make([]string, n)
	for i := range all {
		all[i] = strings.ReplaceAll(of[1], "@", fmt.Sprint(i))
	}
	return strings.Join(all, ", ")
}

// Without a SidecarSet, or the time of its revision, nothing is compiled.
func TestCompileNothing(t *testing.T) {
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
