// SPDX-License-Identifier: Apache-2.0

package podprobemarker

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/internal/testing/patches"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

func parse(t *testing.T, spec string) *v1alpha1.PodProbeMarker {
	t.Helper()
	m := &v1alpha1.PodProbeMarker{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "games"}}
	if err := yaml.UnmarshalStrict([]byte(spec), &m.Spec); err != nil {
		t.Fatal(err)
	}
	return m
}

// long are letters that come so often: x*4096.
var long = regexp.MustCompile(`([x<])\*(\d+)`)

// lengthened is a text with all its letters.
func lengthened(t *testing.T, text string) string {
	return long.ReplaceAllStringFunc(text, func(all string) string { return strings.Repeat(all[:1], patches.Number(t, all[2:])) })
}

// PPM-1.2 to PPM-1.6: what admission refuses.
func TestValidate(t *testing.T) {
	datadriven.RunTest(t, "testdata/validate.txt", func(t *testing.T, d *datadriven.TestData) string {
		var lines []string
		for _, err := range ValidateCreate(parse(t, lengthened(t, d.Input))) {
			lines = append(lines, err.Error()+"\n")
		}
		if strings.Contains(d.Input, "a b: c") {
			slices.Sort(lines) // labels come in any order
		}
		return strings.Join(lines, "")
	})
}
