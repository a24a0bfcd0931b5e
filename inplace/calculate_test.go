// SPDX-License-Identifier: Apache-2.0

package inplace_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace"
	"github.com/podwright/podwright/internal/testing/patches"
)

// TestCalculate shows what stands against the updates in testdata/calculate.txt, or what they are. That is images, what containers are to have of
// metadata that their environment refers to, and the patch of the rest. The lines before "to" make the old template of the base, and those after
// it the new one, by strategic merge patches. Without that line the old one is the base. Arguments are env=none for NoEnvFromMetadata, same=key for
// SameAnnotation, and the values from and to of the annotation claims of both revisions.
func TestCalculate(t *testing.T) {
	datadriven.RunTest(t, "testdata/calculate.txt", func(t *testing.T, d *datadriven.TestData) string {
		from, to, both := strings.Cut(d.Input+"\n", "to\n")
		if !both {
			from, to = "", d.Input
		}
		before, after := rev(t, "demo-old", templateWith(t, from)), rev(t, "demo-new", templateWith(t, to))
		var o inplace.CalculateOptions
		for _, arg := range d.CmdArgs {
			switch arg.Key {
			case "env":
				o.NoEnvFromMetadata = true
			case "same":
				o.SameAnnotation = arg.Vals[0]
			case "from":
				before.Annotations = map[string]string{"claims": strings.Join(arg.Vals, "")}
			case "to":
				after.Annotations = map[string]string{"claims": strings.Join(arg.Vals, "")}
			}
		}
		u, obstacles, err := inplace.Calculate(before, after, o)
		if err != nil || (u == nil) != (len(obstacles) > 0) || u != nil && (u.Revision != "demo-new" || u.EnvFromMetadata != (len(u.RefMetadata) > 0)) {
			t.Errorf("%s: update %+v, error %v", d.Pos, u, err)
		}
		var out strings.Builder
		for _, o := range obstacles {
			fmt.Fprintln(&out, o)
		}
		if u == nil {
			return out.String()
		}
		for _, c := range slices.Sorted(maps.Keys(u.Images)) {
			fmt.Fprintf(&out, "image of %s: %s\n", c, u.Images[c])
		}
		for _, c := range slices.Sorted(maps.Keys(u.RefMetadata)) {
			fmt.Fprintf(&out, "%s refers to labels %v, annotations %v\n", c, u.RefMetadata[c].Labels, u.RefMetadata[c].Annotations)
		}
		if u.MetadataPatch != nil {
			fmt.Fprintf(&out, "patch %s\n", u.MetadataPatch)
		}
		if out.Len() == 0 {
			fmt.Fprintln(&out, "nothing")
		}
		return out.String()
	})
}

// TestCompare shows what Compare says of two templates, in testdata/compare.txt, which are written as in testdata/calculate.txt. With resize the
// cpu and memory of running containers may change; without it nothing but what changes nothing is possible.
func TestCompare(t *testing.T) {
	datadriven.RunTest(t, "testdata/compare.txt", func(t *testing.T, d *datadriven.TestData) string {
		first, second, _ := strings.Cut("\n"+d.Input+"\n", "\nto\n")
		from, to := templateWith(t, first), templateWith(t, second)
		before, after := from.DeepCopy(), to.DeepCopy()
		resize := inplace.CalculateOptions{Resize: d.HasArg("resize")}
		v, err := inplace.Compare(from, to, resize)
		if err != nil || v.InPlace() != (len(v.Obstacles) == 0) {
			t.Errorf("%s: in place %t with obstacles %v, error %v", d.Pos, v.InPlace(), v.Obstacles, err)
		}
		if diff := cmp.Diff([]any{before, after}, []any{from, to}); diff != "" {
			t.Errorf("%s: the templates have changed (-want +got):\n%s", d.Pos, diff)
		}
		without, err := inplace.Compare(from, to, inplace.CalculateOptions{})
		same := v.String() == "nothing changes in the pod"
		if resize.Resize && (err != nil || without.InPlace() != same || same && len(without.Update.Resources) > 0) {
			t.Errorf("%s: IP-35: without the option: in place %t, error %v", d.Pos, without.InPlace(), err)
		}
		return v.String()
	})
	for _, pair := range [][2]*corev1.PodTemplateSpec{{nil, template()}, {template(), nil}} {
		if _, err := inplace.Compare(pair[0], pair[1], inplace.CalculateOptions{}); err == nil {
			t.Error("a nil template is no error")
		}
	}
}

// templateWith is the base template after a strategic merge patch.
func templateWith(t *testing.T, patch string) *corev1.PodTemplateSpec {
	t.Helper()
	base := template()
	if strings.TrimSpace(patch) != "" {
		patches.Strategic(t, base, patch)
	}
	return base
}

func TestCalculateInputs(t *testing.T) {
	good, bad := rev(t, "good", template()), raw("bad", []byte("{"))
	u, obstacles, err := inplace.Calculate(nil, good, inplace.CalculateOptions{})
	if u != nil || len(obstacles) != 1 || err != nil || !strings.Contains(obstacles[0].String(), "does not exist any more") {
		t.Errorf("IP-1: no revision of the pod: %v, %v, %v", u, obstacles, err)
	}
	if _, _, err := inplace.Calculate(good, nil, inplace.CalculateOptions{}); err == nil {
		t.Error("a nil target is no error")
	}
	for _, pair := range [][2]*appsv1.ControllerRevision{{good, bad}, {bad, good}} {
		if _, _, err := inplace.Calculate(pair[0], pair[1], inplace.CalculateOptions{}); err == nil || !strings.Contains(err.Error(), "ControllerRevision default/bad") {
			t.Errorf("the error does not name the unreadable revision: %v", err)
		}
	}
}

// Data of 1.4 and of other encoders has no spurious differences.
func TestCalculateAcrossEncoders(t *testing.T) {
	to := rev(t, "b", &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "i:2"}}}})
	for name, template := range map[string]string{
		"IP-2: creationTimestamp and resources written": `"$patch":"replace","metadata":{"creationTimestamp":null},
			"spec":{"containers":[{"name":"main","image":"i:1","resources":{}}]}`,
		"IP-2: neither of them":    `"metadata":{},"spec":{"containers":[{"name":"main","image":"i:1"}]}`,
		"IP-6: no metadata at all": `"spec":{"containers":[{"name":"main","image":"i:1","resources":{}}]}`,
	} {
		u, obstacles, err := inplace.Calculate(raw("a", []byte(`{"spec":{"template":{`+template+`}}}`)), to, inplace.CalculateOptions{})
		if diff := cmp.Diff(&inplace.Update{Revision: "b", Images: map[string]string{"main": "i:2"}}, u); diff != "" || err != nil {
			t.Errorf("%s: error %v, obstacles %v (-want +got):\n%s", name, err, obstacles, diff)
		}
	}
}
